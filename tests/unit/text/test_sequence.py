"""Where a text is found in another, however often it repeats itself."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stet.text.match import find_block
from stet.text.match_result import AmbiguousBlock
from stet.text.sequence import find_line_runs, find_occurrences

FEW = st.text("ab", max_size=60)


@given(FEW, st.text("ab", min_size=1, max_size=9))
@example("aaaaaabaaaaaaaa", "aaaa")
@example("abaababaababaab", "abaab")
@example("abababbababab", "abab")
def test_every_place_is_found_once_even_where_they_overlap(text: str, wanted: str) -> None:
    assert find_occurrences(text, wanted) == [
        at for at in range(len(text)) if text.startswith(wanted, at)
    ]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "ab\r\n"]), max_size=30)


@given(LINES, LINES.filter(len).map(lambda lines: lines[:4]))
def test_whole_lines_are_found_at_any_place(lines: list[str], wanted: list[str]) -> None:
    n = len(wanted)
    assert find_line_runs(lines, wanted) == [
        at for at in range(len(lines)) if lines[at : at + n] == wanted
    ]


def test_the_end_of_a_longer_line_is_not_a_whole_one() -> None:
    assert find_line_runs(["ab\n", "b\n", "b"], ["b\n"]) == [1]
    assert find_line_runs(["ab\n", "b\n", "b"], ["b"]) == [2]


def test_finding_a_block_in_a_text_full_of_repeats_grows_with_the_text() -> None:
    small, large = (min(_seconds(n) for _ in range(3)) for n in (20_000, 160_000))
    assert large < 32 * small  # eight times the text; the product of both lengths would be 64


def _seconds(n_lines: int) -> float:
    """The processor time that it takes to find out that a repeating block is ambiguous."""
    text = "    }\n" * n_lines
    started = time.process_time()
    with pytest.raises(AmbiguousBlock) as refused:
        find_block(text, "    }\n" * (n_lines // 2), "x\n")
    took = time.process_time() - started
    assert len(refused.value.lines) > n_lines // 3
    return took
