"""Following a place through a change by line and column is the same as by offset."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import Bias, Replacement, TextChange, TextEdit, map_position
from stet.text.position import Position, Range
from tests.support.naive_text import NASTY, naive_lines

nasty = st.lists(st.sampled_from(NASTY), max_size=12).map("".join)


@given(text=nasty, start=st.integers(0, 30), length=st.integers(0, 8), new=nasty)
@settings(max_examples=100, deadline=None)
def test_a_place_follows_a_change_as_its_offset_does(
    text: str, start: int, length: int, new: str
) -> None:
    before = TextDocument("", text)
    buffer = TextBuffer(text)
    expected = Range(before.position_at(start), before.position_at(start + length))
    done = buffer.apply(TextChange(expected, new))
    after = TextDocument("", buffer.text)
    starts = [start for start, _, _ in naive_lines(text)]
    ends = [starts[at.line] + at.character for at in (done.range.start, done.range.end)]
    edit = TextEdit((Replacement(ends[0], ends[1], done.text),))
    assert edit.apply(text) == after.text
    for offset in range(len(text) + 1):
        if text[max(offset - 1, 0) : offset + 1] == "\r\n":
            continue
        for bias in Bias:
            place = map_position(before.position_at(offset), done, bias)
            assert after.offset_at(place) == _moved(offset, edit.replacements[0], bias)


def _moved(offset: int, done: Replacement, bias: Bias) -> int:
    """Where an offset is after a replacement, by its plain definition."""
    if offset < done.start or (offset == done.start and bias is Bias.LEFT):
        return offset
    if offset < done.end:
        return done.start + (len(done.text) if bias is Bias.RIGHT else 0)
    return offset + len(done.text) - (done.end - done.start)


def test_a_place_inside_replaced_text_goes_to_an_end_of_the_new() -> None:
    change = TextChange(Range(Position(1, 2), Position(3, 4)), "x\ny")
    inside = Position(2, 9)
    assert map_position(inside, change, Bias.LEFT) == Position(1, 2)
    assert map_position(inside, change, Bias.RIGHT) == Position(2, 1)
    assert map_position(Position(3, 6), change) == Position(2, 3)
    assert map_position(Position(5, 6), change) == Position(4, 6)
