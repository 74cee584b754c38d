"""Places in whole lines, as values: where an anchor stands, and what stands round it."""

from collections.abc import Sequence
from typing import NamedTuple

from stet.text.lines import without_end
from stet.text.position import Position, Range


class Standing(NamedTuple):
    """A place in lines, and whether it is only where the place was lost."""

    first: int
    end: int
    is_lost: bool


class Fold(NamedTuple):
    """A change that reached into the place, so that its inverse brings it back as it was.

    Attributes:
        before: The place before it, in lines from where the change began.
        current: What stood there.
        removed: How many lines the change took.
        added: How many it put there.
        back: How far behind the beginning of the change the anchor stood after it.
    """

    before: Standing
    current: str
    removed: int
    added: int
    back: int


def range_of(lines: Sequence[str], first: int, end: int) -> Range:
    """Whole lines as a range in code points; behind the last line is the end of the text."""
    return Range(_start_of(lines, first), _start_of(lines, end))


def _start_of(lines: Sequence[str], line: int) -> Position:
    if line < len(lines):
        return Position(line, 0)
    return Position(len(lines) - 1, len(lines[-1]))


def lines_around(lines: Sequence[str], at: int) -> tuple[str, str]:
    """The lines before and behind a gap; `""` at the text's ends."""
    return lines[at - 1] if at else "", lines[at] if at < len(lines) else ""


def without_ends(around: tuple[str, str]) -> tuple[str, str]:
    """The same without line ends, which may come and go."""
    return without_end(around[0]), without_end(around[1])
