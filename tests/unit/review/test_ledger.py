"""From a proposal to the user's decision: hunks, and the text that accepting them gives."""

import pytest

from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.review.tracking import tracked_document as track
from stet.text.position import Position, Range
from tests.support.review_harness import URI, ReviewHarness

OLD = "a\nb\nc\nd\ne\n"
NEW = "A\nb\nc\nnew\nd\n"


def test_an_edit_becomes_a_hunk_for_every_stretch_of_lines() -> None:
    page = ReviewHarness(OLD)
    made = page.propose(NEW)
    first = Hunk(
        id="h1",
        proposal="p1",
        turn="t1",
        chat="",
        uri=URI,
        kind=HunkKind.REPLACE,
        state=HunkState.PENDING,
        range=Range(Position(0, 0), Position(1, 0)),
        old="a\n",
        new="A\n",
        base="a\n",
        proposed="A\n",
        summary="s",
        group="p1@h1",
        author="m",
        changed=1,
    )
    assert [(h.kind, h.range.start.line, h.old, h.new) for h in made] == [
        ("replace", 0, "a\n", "A\n"),
        ("add", 3, "", "new\n"),
        ("delete", 4, "e\n", ""),
    ]
    assert made[0] == first
    assert page.hunks == made


def test_an_edit_that_changes_nothing_leaves_no_trace() -> None:
    page = ReviewHarness(OLD)
    assert page.propose(OLD) == ()
    assert (page.hunks, page.ledger.proposals("t1")) == ((), ())


def test_accepting_all_gives_the_proposed_text_and_rejecting_all_leaves_the_users() -> None:
    page = ReviewHarness(OLD)
    page.propose(NEW)
    page.accept()
    assert (page.text, set(page.states)) == (NEW, {"accepted"})
    page = ReviewHarness(OLD)
    for hunk in page.propose(NEW):
        page.ledger.reject(hunk.id, "not now")
    assert page.text == OLD
    assert {(hunk.state, hunk.reason) for hunk in page.hunks} == {("rejected", "not now")}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_hunks_accepted_one_by_one_in_any_order_give_the_proposed_text(
    order: tuple[int, ...],
) -> None:
    page = ReviewHarness(OLD)
    made = page.propose(NEW)
    for number in order:
        page.accept(made[number].id)
    assert page.text == NEW
    assert [page.document.text_in(hunk.range) for hunk in page.hunks] == ["A\n", "new\n", ""]


def test_hunks_of_neighbouring_lines_each_know_their_own_text_when_accepted_together() -> None:
    page = ReviewHarness("a\nb\nc\n")
    page.propose("a\nB\nc\n")
    page.propose("A1\nA2\nb\nc\n")
    page.propose("a\nnew\nb\nc\n")
    page.accept()
    assert page.text == "A1\nA2\nnew\nB\nc\n"
    assert [page.document.text_in(h.range) for h in page.hunks] == ["A1\nA2\n", "new\n", "B\n"]


def test_a_hunk_between_accepted_neighbours_stays_between_them() -> None:
    page = ReviewHarness("a\nb\nc\n")
    (first,) = page.propose("A\nb\nc\n")
    (second,) = page.propose("a\nB\nc\n")
    page.propose("a\nnew\nb\nc\n")
    page.accept(first.id, second.id)
    page.accept()
    assert page.text == "A\nnew\nB\nc\n"


def test_insertions_that_end_at_one_point_keep_their_order_one_by_one() -> None:
    page = ReviewHarness("a\nb\nc\n")
    first, second = page.propose("a\n1\nb\n2\nc\n")
    page.type(1, 0, 2, 0, "")
    page.accept(first.id)
    page.accept(second.id)
    assert page.text == "a\n1\n2\nc\n"


def test_last_position_of_a_hunk_is_dropped_once_it_is_not_tracked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(track, "MAX_SETTLED", 2)
    page = ReviewHarness(OLD)
    for number in range(5):
        (hunk,) = page.propose(f"{page.text}{number}\n")
        page.ledger.reject(hunk.id, "")
        page.type(0, 0, 0, 0, "x\n")
        assert page.hunks[-1].range.start.line == 6 + number  # seen elsewhere than it is kept
    assert len(page.hunks) == 5
    assert len(page.ledger._store._views) == 2
