"""What was undone can be redone, though other changes were made and undone since."""

import random
import tracemalloc

import pytest

from stet.review.proposal import Hunk
from stet.review.tracking.tracked_document import RECENTLY_SETTLED
from stet.review.tracking.tracked_span import FEW_RECORDS, ChangeRecord
from stet.text.edit import TextChange
from stet.text.position import Position, Range
from tests.support.review_harness import ReviewHarness
from tests.support.review_pictures import PicturedReview, check_picture, render_review

pytestmark = pytest.mark.slow


CHANGES = {
    "a line put in there": (2, 2, "z\n"),
    "two lines put in there": (2, 2, "z\ny\n"),
    "the line before deleted": (1, 2, ""),
    "a line put in after": (3, 3, "z\n"),
    "the line after deleted": (3, 4, ""),
}
OVERWRITTEN_ABOVE_CONFLICT = """
          a
          b
        @@ h2
        * other
        @@ h1
        ~ c
        ! mine
        + C
          d
          e
        """
DELETED_ABOVE_CONFLICT = """
          a
          b
        @@ h2
        + N
        @@ h1
        ~ c
        ! mine
        + C
          d
          e
        """


def overwritten_above_conflict() -> PicturedReview:
    """An accepted line that the user has typed over, above a conflict."""
    accepted = OVERWRITTEN_ABOVE_CONFLICT.replace("* other", "* $0N$0")
    page = PicturedReview(accepted)
    page.take("other", accepted)
    check_picture(page, OVERWRITTEN_ABOVE_CONFLICT)
    return page


def conflict_of(page: ReviewHarness) -> Hunk:
    [hunk] = [hunk for hunk in page.hunks if hunk.state == "conflict"]
    return hunk


def change(page: ReviewHarness, first: int, end: int, text: str) -> TextChange:
    """Change whole lines; gives what undoes the change."""
    place = Range(Position(first, 0), Position(end, 0))
    old = page.buffer.text_in(place)
    page.follow(done := page.buffer.apply(TextChange(place, text)))
    return TextChange(Range(place.start, done.new_end), old)


@pytest.mark.parametrize("n_others", [1, 2, 5])
@pytest.mark.parametrize("other", CHANGES.values(), ids=CHANGES)
def test_change_record_of_a_line_that_comes_back_outlives_other_changes_that_are_undone(
    other: tuple[int, int, str], n_others: int
) -> None:
    page = overwritten_above_conflict()
    before = conflict_of(page)
    back = change(page, 2, 3, "")
    check_picture(page, DELETED_ABOVE_CONFLICT)
    for _ in range(n_others):
        page.apply(change(page, *other))
    page.apply(back)
    check_picture(page, OVERWRITTEN_ABOVE_CONFLICT)
    assert conflict_of(page) == before


def test_change_records_within_one_another_are_undone_in_turn() -> None:
    page = overwritten_above_conflict()
    before: list[tuple[str, Hunk]] = []
    undone: list[TextChange] = []
    for number, one in enumerate([(2, 3, ""), (2, 2, "y\n"), (2, 3, ""), (2, 2, "x\nz\n")]):
        before.append((render_review(page), conflict_of(page)))
        undone.append(change(page, *one))
        page.apply(change(page, 2, 2, f"{number}\n"))
    check_picture(
        page,
        """
          a
          b
        @@ h2
        + N
        @@ h1
        ~ c
        ! x
        ! z
        ! mine
        + C
          d
          e
        """,
    )
    while undone:
        page.apply(undone.pop())
        assert (render_review(page), conflict_of(page)) == before.pop()
    check_picture(page, OVERWRITTEN_ABOVE_CONFLICT)


def n_records(records: tuple[ChangeRecord, ...]) -> int:
    return sum(1 + n_records(record.redo_records) for record in records)


def test_change_records_have_a_bound_however_much_is_done_and_undone() -> None:
    page = overwritten_above_conflict()
    dice, most = random.Random(7), 0
    undone: list[TextChange] = []
    track = page.ledger._store.tracked(page.uri)
    assert track is not None
    anchor = track.anchor(conflict_of(page).id)
    assert anchor is not None
    for number in range(600):
        if undone and dice.random() < 0.5:
            page.apply(undone.pop())
        else:
            at = conflict_of(page).range.start.line
            undone.append(change(page, at, at, f"{number}\n" * dice.choice([1, 2])))
        most = max(
            most,
            *(n_records(record.redo_records) for record in anchor.undo_records),
            n_records(anchor.redo_records),
        )
    assert 8 < most <= 130


def test_change_records_of_a_long_hunk_do_not_hold_its_text() -> None:
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


def test_change_records_of_a_hunk_decided_long_ago_are_few_until_it_is_restored() -> None:
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
