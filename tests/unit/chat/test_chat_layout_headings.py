"""The headings of a chat document follow its changes."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.chat.chat_layout import ChatHeading, ChatHeadings, find_headings

LINE = st.sampled_from(["text\n", "## You\n", "## Stet (t1)\r\n", "## Stet (t2)\n", "## Other\n"])
PLACE = st.floats(0, 1)


@given(
    st.lists(LINE, max_size=12),
    st.lists(st.tuples(PLACE, st.integers(0, 4), st.lists(LINE, max_size=4)), max_size=8),
)
def test_headings_are_found_as_if_the_text_had_been_read_again(
    lines: list[str], changes: list[tuple[float, int, list[str]]]
) -> None:
    headings = ChatHeadings(find_headings(lines))
    for place, n, after in changes:
        first = round(place * len(lines))
        before = lines[first : first + n]
        lines[first : first + n] = after
        headings.replace_lines(first, before, after)
        found = list(find_headings(lines))
        assert list(headings) == found
        assert not found or headings[-1] == found[-1]
        for turn in ("", "t1", "t2", "t3"):
            last = headings.index_of_last(turn)
            matching = [nth for nth, heading in enumerate(headings) if heading.turn == turn]
            assert last == max(matching, default=None)


@pytest.mark.slow
def test_lines_added_at_the_top_cost_the_same_with_many_headings_as_with_few() -> None:
    def seconds(n_headings: int) -> float:
        headings = ChatHeadings(ChatHeading(10 * n, "") for n in range(1, n_headings))
        began = thread_time()
        for _ in range(200):
            headings.replace_lines(1, ["a\n"], ["\n", "a\n"])
        took = thread_time() - began
        assert headings[-1].line == 10 * (n_headings - 1) + 200
        return took

    # To renumber so many headings once takes longer than this for all lines together.
    assert seconds(300_000) < 5 * seconds(100) + 0.05
