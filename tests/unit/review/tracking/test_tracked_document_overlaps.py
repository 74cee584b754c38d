"""Anchors that would overlap are put in order: a change is looked up among them by bisection."""

from hypothesis import given
from hypothesis import strategies as st

from stet.review.proposal import HunkState
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.tracked_document import is_crowded, resolve_overlaps
from tests.support.review_harness import ReviewHarness

LINES = ("one\n", "two\n", "three\n", "")


def in_conflict(hunk: str, first: int, end: int) -> Anchor:
    return Anchor(hunk, LINES, (first, end), "once\n", "new\n", is_lost=True)


def insertion(hunk: str, at: int) -> Anchor:
    return Anchor(hunk, LINES, (at, at), "", "new\n")


def test_overlaps_of_an_insertion_with_the_hunk_above_put_it_after_that_hunk() -> None:
    above, below = in_conflict("h1", 0, 2), insertion("h2", 1)
    assert is_crowded([above, below], above)
    assert is_crowded([above, below], below)
    resolve_overlaps([above, below], LINES)
    assert (above.span[:2], below.span[:2]) == ((0, 2), (2, 2))
    assert not is_crowded([above, below], below)


def test_overlaps_at_the_end_put_an_insertion_before_an_empty_last_line() -> None:
    above, below = in_conflict("h1", 1, 4), insertion("h2", 4)
    resolve_overlaps([above, below], LINES)
    assert (above.span[:2], below.span[:2]) == ((1, 3), (3, 3))


places = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted)


@given(st.lists(st.tuples(places, st.booleans()), max_size=5))
def test_overlaps_that_are_resolved_leave_the_anchors_in_order(
    drawn: list[tuple[list[int], bool]],
) -> None:
    live = [
        insertion(f"h{nth}", place[0]) if gap else in_conflict(f"h{nth}", *place)
        for nth, (place, gap) in enumerate(drawn)
    ]
    resolve_overlaps(live, LINES)
    bounds = [line for anchor in live for line in anchor.span[:2]]
    assert bounds == sorted(bounds)
    assert max(bounds, default=0) <= len(LINES)


def test_a_conflict_ends_when_the_line_between_is_taken_out_by_another_hunk() -> None:
    page = ReviewHarness("a1\nb1\nc1\nd1\n")
    (torn,) = page.propose("A1\nB1\nc1\nd1\n", turn="t1")
    (between,) = page.propose("a1\nb1\nd1\n", turn="t2")
    page.replace("a1\nc1\nb1\nd1\n")
    assert page.ledger.hunk(torn.id).state is HunkState.CONFLICT
    page.accept(between.id)
    assert page.text == "a1\nb1\nd1\n"
    assert page.ledger.hunk(torn.id).state is HunkState.PENDING
    page.accept(torn.id)
    assert page.text == "A1\nB1\nd1\n"
