"""What was taken back can be done again, though other changes were made and taken back since."""

import random
import tracemalloc

import pytest

from stet.review.proposal import Hunk
from stet.review.tracking.tracked_document import RECENTLY_SETTLED
from stet.review.tracking.tracked_span import FEW_RECORDS, ChangeRecord
from stet.text.change import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness

CHANGES = {
    "a line put in there": (2, 2, "z\n"),
    "two lines put in there": (2, 2, "z\ny\n"),
    "the line before taken out": (1, 2, ""),
    "a line put in behind": (3, 3, "z\n"),
    "the line behind taken out": (3, 4, ""),
}


def a_conflict_behind_an_accepted_line() -> ReviewHarness:
    page = ReviewHarness("a\nb\nc\nd\ne\n")
    page.propose("a\nb\nC\nd\ne\n", "t1")
    [line] = page.propose("a\nb\nN\nc\nd\ne\n", "t2")
    page.type(2, 0, 2, 1, "mine")
    page.accept(line.id)
    return page


def conflict(page: ReviewHarness) -> Hunk:
    [hunk] = [hunk for hunk in page.hunks if hunk.state == "conflict"]
    return hunk


def change(page: ReviewHarness, first: int, end: int, text: str) -> TextChange:
    """Change whole lines; what takes that back."""
    place = Range(Position(first, 0), Position(end, 0))
    old = page.buffer.text_in(place)
    page.follow(done := page.buffer.apply(TextChange(place, text)))
    return TextChange(Range(place.start, done.new_end), old)


@pytest.mark.parametrize("n_others", [1, 2, 5])
@pytest.mark.parametrize("other", CHANGES.values(), ids=CHANGES)
def test_a_line_that_comes_back_is_not_the_conflicts_behind_others_made_and_undone(
    other: tuple[int, int, str], n_others: int
) -> None:
    page = a_conflict_behind_an_accepted_line()
    page.type(2, 0, 2, 1, "other")
    before = conflict(page)
    back = change(page, 2, 3, "")
    for _ in range(n_others):
        page.apply(change(page, *other))
    page.apply(back)
    assert conflict(page) == before


def test_changes_within_one_another_are_taken_back_in_turn() -> None:
    page = a_conflict_behind_an_accepted_line()
    page.type(2, 0, 2, 1, "other")
    before: list[Hunk] = []
    undone: list[TextChange] = []
    for number, one in enumerate([(2, 3, ""), (2, 2, "y\n"), (2, 3, ""), (2, 2, "x\nz\n")]):
        before.append(conflict(page))
        undone.append(change(page, *one))
        page.apply(change(page, 2, 2, f"{number}\n"))
    while undone:
        page.apply(undone.pop())
        assert conflict(page) == before.pop()


def n_folds(folds: tuple[ChangeRecord, ...]) -> int:
    return sum(1 + n_folds(fold.redo_records) for fold in folds)


def test_what_is_remembered_has_a_bound_however_much_is_done_and_taken_back() -> None:
    page = a_conflict_behind_an_accepted_line()
    dice, most = random.Random(7), 0
    undone: list[TextChange] = []
    track = page.ledger._store.tracked(page.uri)
    assert track is not None
    anchor = track.anchor(conflict(page).id)
    assert anchor is not None
    for number in range(600):
        if undone and dice.random() < 0.5:
            page.apply(undone.pop())
        else:
            at = conflict(page).range.start.line
            undone.append(change(page, at, at, f"{number}\n" * dice.choice([1, 2])))
        most = max(
            most,
            *(n_folds(fold.redo_records) for fold in anchor.undo_records),
            n_folds(anchor._redo_records),
        )
    assert 8 < most <= 130


def test_changes_within_a_long_hunk_are_remembered_without_its_text() -> None:
    long = "".join(f"line {n}\n" for n in range(10_000))
    page = ReviewHarness(long)
    [hunk] = page.propose("".join(f"Line {n}\n" for n in range(10_000)))
    tracemalloc.start()
    page.type(1, 0, 1, 0, "z\n")
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(60):
        page.type(2, 0, 2, 0, "z\n")
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 5 * len(long)
    for _ in range(61):
        page.type(1, 0, 2, 0, "")
    assert page.ledger.hunk(hunk.id) == hunk


def test_a_hunk_decided_long_ago_remembers_little_until_it_waits_again() -> None:
    old, new = (
        "".join(f"{word} {n}\n\n" for n in range(RECENTLY_SETTLED + 1)) for word in ("a", "b")
    )
    page = ReviewHarness(old)
    first, *others = page.propose(new)
    for hunk in (first, *others):
        page.ledger.reject(hunk.id)
    track = page.ledger._store.tracked(page.uri)
    assert track is not None
    anchor = track.anchor(first.id)
    assert anchor is not None
    undone = [change(page, 0, 1, "a\nb\n"), *(change(page, 1, 1, "z\n") for _ in range(20))]
    assert len(anchor.undo_records) == FEW_RECORDS + 1
    for one in undone[: -1 - FEW_RECORDS : -1]:
        page.apply(one)
    assert len(anchor.undo_records) == 1
    assert page.ledger.restore(first.id).range.line_after == len(undone) - FEW_RECORDS + 1
    _ = [change(page, 1, 1, "z\n") for _ in range(20)]
    assert len(anchor.undo_records) == 21
