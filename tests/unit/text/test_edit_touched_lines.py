"""Which lines changes have touched."""

from hypothesis import given
from hypothesis import strategies as st

from stet.text.buffer import TextBuffer
from stet.text.edit import LineChange, TextChange, touched_lines
from stet.text.position import Position, Range

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c d\r\n", "e"]), max_size=8).map("".join)
EDITS = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(0, 9), st.integers(0, 3), TEXTS),
    max_size=6,
)


def at(line: int, removed: int, added: int) -> TextChange:
    place = Range(Position(line, 0), Position(line + removed, 0))
    return TextChange(place, "x\n" * added, (LineChange(line, removed, added),))


def test_touched_lines_move_with_the_lines_above_them() -> None:
    assert touched_lines(()) == ()
    assert touched_lines((at(3, 1, 1),)) == (range(3, 4),)
    assert touched_lines((at(3, 1, 1), at(0, 0, 2))) == (range(2), range(5, 6))
    assert touched_lines((at(3, 2, 2), at(3, 1, 0))) == (range(3, 4),)
    assert touched_lines((at(3, 1, 0),)) == ()
    assert touched_lines((at(2, 0, 5), at(4, 1, 1))) == (range(2, 7),)


@given(TEXTS, EDITS)
def test_every_line_that_is_not_touched_was_there_before(
    text: str, edits: list[tuple[int, int, int, int, str]]
) -> None:
    buffer = TextBuffer(text)
    before = list(buffer.lines)
    changes = []
    for first, column, last, end, new in edits:
        place = sorted((Position(first, column), Position(last, end)))
        changes.append(buffer.apply(TextChange(Range(*place), new)))
    touched = {number for part in touched_lines(changes) for number in part}
    kept = iter(before)
    for number, line in enumerate(buffer.lines):
        if number not in touched:
            assert any(old == line for old in kept), (before, list(buffer.lines), touched)
