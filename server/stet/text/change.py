"""One change of a text, as an editor reports it: *this range became that text*.

Changes are sequential: each is relative to the text the one before left. They are counted in lines
and columns, not offsets, so that following a place through a keystroke costs the same in a text of
ten lines and of a million.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from stet.text.lines import end_of, line_end
from stet.text.position import Position, Range


class Bias(Enum):
    """Where a place goes when text is inserted exactly there."""

    LEFT = "left"
    """It stays before the inserted text."""
    RIGHT = "right"
    """It moves behind the inserted text."""


class LineChange(NamedTuple):
    """Whole lines became other whole lines.

    Attributes:
        first: The first line that changed, 0-based; where lines are put if none was taken away.
        removed: How many lines were there.
        added: How many lines are there now.
    """

    first: int
    removed: int
    added: int


class Splice(NamedTuple):
    """The whole lines that a change has replaced: more than those that differ, and both texts of them.

    Attributes:
        first: The first of them, 0-based.
        before: What stood there, each line with its end.
        after: What stands there now.
    """

    first: int
    before: Sequence[str]
    after: Sequence[str]


@dataclass(frozen=True, slots=True)
class TextChange:
    """The text of `range` was replaced by `text`.

    Attributes:
        range: What was replaced, in code points of the text before the change.
        text: What stands there now.
        lines: Which lines that changed, as `effects` has it, where the text was at hand to tell:
            what is typed in the middle of a line may add whole lines behind it and leave it alone.
        splice: The lines themselves, where the text was at hand: with them a text can be taken back
            to before the change, and led through it again.
    """

    range: Range
    text: str
    lines: tuple[LineChange, ...] | None = field(default=None, compare=False, repr=False)
    splice: Splice | None = field(default=None, compare=False, repr=False)

    @property
    def effects(self) -> tuple[LineChange, ...]:
        """The change in whole lines: sequential, bottom to top; none where every line is as it was.

        Without `lines`, every line that the range touches counts as changed.
        """
        if self.lines is not None:
            return self.lines
        start, end = self.range.start, self.range.end
        n_added = self.new_end.line - start.line
        if start.character == end.character == 0 and (not self.text or line_end(self.text)):
            return (LineChange(start.line, end.line - start.line, n_added),)
        return (LineChange(start.line, end.line - start.line + 1, n_added + 1),)

    @property
    def new_end(self) -> Position:
        """Where the inserted text ends, in the text after the change."""
        return end_of(self.range.start, self.text)


def map_position(
    position: Position,
    change: TextChange,
    bias: Bias = Bias.LEFT,
    new_end: Position | None = None,
) -> Position:
    """Where `position` of the text before `change` is in the text after it.

    A position inside the replaced text goes to the start of the new text (`Bias.LEFT`) or its end.

    Args:
        position: In code points.
        change: What happened.
        bias: Where it goes if it stands exactly where text was inserted.
        new_end: `change.new_end`, for who maps many positions through one change.
    """
    start, end = change.range.start, change.range.end
    if position < start or (position == start and bias is Bias.LEFT):
        return position
    if position < end:
        return start if bias is Bias.LEFT else new_end or change.new_end
    new_end = new_end or change.new_end
    if position.line == end.line:
        return Position(new_end.line, new_end.character + position.character - end.character)
    return Position(position.line + new_end.line - end.line, position.character)


def touched_lines(changes: Iterable[TextChange]) -> tuple[range, ...]:
    """Return the lines on which a change left its text. Lines are 0-based, in the text after the
    last change.

    They are in order and disjoint. A line that was only moved is none of them.
    """
    touched: list[tuple[int, int]] = []
    for change in changes:
        for effect in change.effects:
            touched = _after_change(touched, effect)
    return tuple(range(*one) for one in touched)


def _after_change(touched: list[tuple[int, int]], effect: LineChange) -> list[tuple[int, int]]:
    """Return the stretches (half-open) after a change of lines, including the lines of the change."""
    first, removed, added = effect
    moved = added - removed
    found = [(first, first + added)]
    for start, end in touched:
        found.append((start, min(end, first)))
        found.append((max(start, first + removed) + moved, end + moved))
    return _merged(sorted((start, end) for start, end in found if start < end))


def _merged(ordered: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in ordered:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
