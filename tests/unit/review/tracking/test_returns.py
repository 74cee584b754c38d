"""A text that comes back as a whole brings its hunks back to where they stood."""

import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.tracking.relocation import MAX_TEXTS
from stet.text.buffer import TextBuffer
from tests.support.review_harness import ReviewHarness

LINES = [f"{word}\n" for word in ("one", "two", "three", "four", "five", "six")]
TEXT = "".join(LINES)
PROPOSALS = {
    "a deletion": TEXT.replace("three\n", ""),
    "a replacement": TEXT.replace("three", "3"),
    "an insertion": TEXT.replace("three\n", "X\nthree\n"),
    "an insertion at the end": f"{TEXT}X\n",
    "a deletion of two": TEXT.replace("three\nfour\n", ""),
}


def as_a_whole(page: ReviewHarness, text: str) -> None:
    page.replace(text)


def as_one_range(page: ReviewHarness, text: str) -> None:
    lines = page.buffer.lines
    page.type(0, 0, len(lines) - 1, len(lines[-1]), text)


def opened_again(page: ReviewHarness, text: str) -> None:
    page.ledger.closed(page.uri)
    page.buffer = TextBuffer(text)
    page.ledger.opened(page.uri, page.buffer.lines)


WAYS = (as_a_whole, as_one_range, opened_again)


def moved(at: int, to: int) -> str:
    lines = LINES.copy()
    lines.insert(to, lines.pop(at))
    return "".join(lines)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("proposed", PROPOSALS.values(), ids=PROPOSALS)
def test_a_line_that_is_moved_and_moved_back_leaves_no_hunk_elsewhere(
    way: Callable[[ReviewHarness, str], None], proposed: str
) -> None:
    for at in range(6):
        for to in range(6):
            page = ReviewHarness(TEXT)
            page.propose(proposed)
            way(page, moved(at, to))
            way(page, TEXT)
            assert page.states == ["pending"], (at, to)
            page.accept()
            assert (page.text, page.states) == (proposed, ["accepted"]), (at, to)


def test_a_hunk_that_has_come_since_leaves_the_others_in_their_order() -> None:
    page = ReviewHarness(TEXT)
    page.propose(PROPOSALS["a deletion"])
    page.replace(moved(2, 3))
    page.propose(page.text.replace("one", "1"), "t2")
    page.replace(TEXT)
    page.accept()
    assert page.text == PROPOSALS["a deletion"].replace("one", "1")


def test_a_hunk_decided_since_stays_decided() -> None:
    page = ReviewHarness(TEXT)
    first, _ = page.propose(TEXT.replace("one", "1").replace("six", "6"))
    page.replace(moved(2, 3))
    page.ledger.reject(first.id)
    page.replace(TEXT)
    assert page.states == ["rejected", "pending"]
    page.accept()
    assert page.text == TEXT.replace("six", "6")


SHORT = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(
    base=SHORT, proposed=SHORT, texts=st.lists(SHORT, max_size=4), ways=st.lists(st.integers(0, 2))
)
def test_a_hunk_stands_in_its_text_whatever_the_text_becomes(
    base: str, proposed: str, texts: list[str], ways: list[int]
) -> None:
    page = ReviewHarness(base)
    if not page.propose(proposed):
        return
    for number, text in enumerate([*texts, base]):
        WAYS[(ways or [0])[number % len(ways or [0])]](page, text)
        for hunk in page.hunks:
            assert 0 <= hunk.range.start.line <= hunk.range.end.line < len(page.buffer.lines)
            assert page.document.text_in(hunk.range) == hunk.old
    page.accept()


def test_texts_that_are_known_again_take_little_however_large_they_were() -> None:
    page = ReviewHarness(TEXT)
    _ = page.propose(PROPOSALS["a replacement"])

    tracemalloc.start()
    page.replace("x\n")
    before, _ = tracemalloc.get_traced_memory()
    for nth in range(MAX_TEXTS - 2):
        page.replace("".join(f"line {at} of text {nth}\n" for at in range(3_000)))
    page.replace("x\n")
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 500_000, "less than three of these texts"
    page.replace(TEXT)
    assert [hunk.range.start.line for hunk in page.hunks] == [2]
