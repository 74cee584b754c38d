"""An edit writes whole lines, whatever line ends the user has deleted or mixed."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stet.review.proposal import HunkState
from stet.text.lines import whole_lines, without_end
from tests.support.review_harness import ReviewHarness

ENDS = st.sampled_from(["\n", "\r", "\r\n"])
WORDS = st.sampled_from(["", "a", "b", "c"])
LINES = st.lists(st.builds(str.__add__, WORDS, ENDS), max_size=6).map("".join)
TEXTS = st.builds(str.__add__, LINES, st.sampled_from(["", "x"]))
TYPED = st.tuples(
    *(st.integers(0, 6), st.integers(0, 2), st.integers(0, 6), st.integers(0, 2)),
    st.sampled_from(["", "q", "\n", "\r", "\r\n", "\nz\r"]),
)


def words(text: str) -> list[str]:
    return [without_end(line) for line in whole_lines(text)]


def text_with(page: ReviewHarness, hunks: Sequence[str]) -> list[str]:
    """The lines that the text must have once these hunks are accepted, without line ends."""
    track = page.ledger._store.tracked(page.uri)
    assert track is not None
    read: list[str] = []
    at = 0
    for anchor in track.live:
        if anchor.hunk in hunks and anchor.merged is not None:
            read += words("".join(track.lines[at : anchor.first])) + words(anchor.merged)
            at = anchor.end
    return read + words("".join(track.lines[at:]))


@pytest.mark.slow
@given(TEXTS, TEXTS, TEXTS, st.lists(TYPED, max_size=3), st.data())
def test_line_boundaries_leave_the_lines_of_the_hunks_and_of_the_user(
    text: str, first: str, second: str, typed: Sequence[tuple[int | str, ...]], data: st.DataObject
) -> None:
    page = ReviewHarness(text)
    page.propose(first)
    page.propose(second, turn="t2")
    for one in typed:
        page.type(*one)
    waiting = [hunk.id for hunk in page.hunks if hunk.state is HunkState.PENDING]
    assume(waiting)
    hunks = data.draw(st.sets(st.sampled_from(waiting), min_size=1))
    wanted = text_with(page, [*hunks])
    page.accept(*hunks)
    assert words(page.text) == wanted
    track = page.ledger._store.tracked(page.uri)
    assert track is not None
    assert all(one.end <= len(track.lines) for one in track.anchors())
