"""Moved blocks stay whole, and every diff leads to the other text."""

from hypothesis import given
from hypothesis import strategies as st

from stet.text.diff import diff_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "}\n", "\n"]), max_size=14)


def test_diff_of_a_function_moved_up_keeps_it_whole() -> None:
    first = ["def first():\n", "    total = 1\n", "    return total\n", "\n"]
    second = ["def second():\n", "    total = 2\n", "    return total\n", "\n"]
    taken, put = diff_lines([*first, *second], [*second, *first])
    assert [*taken.old] == [*put.new] == first
    assert (taken.old_start, put.old_start) == (0, 8)


def test_a_block_that_goes_down_in_the_middle_keeps_a_line_on_both_sides() -> None:
    old = ["top\n", "if a:\n", "end\n", "if b:\n", "end\n", "last\n"]
    new = ["top\n", "if b:\n", "end\n", "if a:\n", "end\n", "last\n"]
    taken, put = diff_lines(old, new)
    assert taken.old == put.new == ("if a:\n", "end\n")


@given(LINES, LINES)
def test_hunks_lead_from_one_text_to_the_other_and_never_touch(
    old: list[str], new: list[str]
) -> None:
    made: list[str] = []
    at = 0
    for hunk in diff_lines(old, new):
        assert hunk.old_start > at or not made or hunk.old_start == at == 0
        assert old[hunk.old_start : hunk.old_end] == [*hunk.old]
        made += old[at : hunk.old_start]
        assert len(made) == hunk.new_start
        made += hunk.new
        at = hunk.old_end
    assert made + old[at:] == new


@given(LINES, st.integers(0, 14), st.integers(0, 5), st.integers(0, 14))
def test_diff_of_a_moved_block_leads_to_the_new_text(
    lines: list[str], at: int, n: int, to: int
) -> None:
    block, rest = lines[at : at + n], lines[:at] + lines[at + n :]
    moved = rest[:to] + block + rest[to:]
    made = list(lines)
    for hunk in reversed(diff_lines(lines, moved)):
        made[hunk.old_start : hunk.old_end] = hunk.new
    assert made == moved
