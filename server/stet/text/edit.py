"""Changes that an editor reports, and edits as values: changes that were made or would be made.

A `TextChange` says *this range became that text*. Changes are sequential: each is relative to the
text after the change before it. They are counted in lines and columns, not offsets, so that
following a place through a keystroke costs the same in a text of ten lines and of a million.

A `TextEdit` holds several replacements of one text by offsets, with an algebra:

    edit.apply(text)                                the new text
    edit.compose(then).apply(text)                  then.apply(edit.apply(text))
    edit.map_offset(12)                             where that place is in the new text

Composition represents the text after the first edit as a list of kept and new parts, and cuts the
parts where the second edit replaces text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from stet.text.lines import end_of, line_end
from stet.text.position import Position, Range


class Bias(Enum):
    """The side of an inserted text on which a place at the insertion point stays."""

    LEFT = "left"
    """The place stays before the inserted text."""
    RIGHT = "right"
    """The place moves after the inserted text."""


class LineChange(NamedTuple):
    """A replacement of whole lines by other whole lines.

    Attributes:
        first: The first changed line, 0-based; the insertion line if no line was removed.
        removed: The number of removed lines.
        added: The number of added lines.
    """

    first: int
    removed: int
    added: int


class Splice(NamedTuple):
    """The whole lines that a change has replaced, before and after; some of them may be equal.

    Attributes:
        first: The first line, 0-based.
        before: The lines before the change, each with its line end.
        after: The lines after the change.
    """

    first: int
    before: Sequence[str]
    after: Sequence[str]


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change that replaced the text of `range` by `text`.

    Attributes:
        range: The replaced range, in code points of the text before the change.
        text: The new text.
        lines: The lines that changed, as in `effects`, if the text was known: typing in the middle
            of a line may add whole lines after it and leave the line as it is.
        splice: The replaced lines, if the text was known: with them a change can be reversed and
            replayed.
    """

    range: Range
    text: str
    lines: tuple[LineChange, ...] | None = field(default=None, compare=False, repr=False)
    splice: Splice | None = field(default=None, compare=False, repr=False)

    @property
    def effects(self) -> tuple[LineChange, ...]:
        """The change in whole lines: sequential, bottom to top; empty if no line changed.

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
        """The end of the inserted text, in the text after the change."""
        return end_of(self.range.start, self.text)


def map_position(position: Position, change: TextChange, bias: Bias = Bias.LEFT) -> Position:
    """Return the position in the text after `change` of a `position` in the text before.

    A position inside the replaced text goes to the start of the new text (`Bias.LEFT`) or its end.

    Args:
        position: The position, in code points.
        change: The change.
        bias: The side on which the position stays if text was inserted exactly there.
    """
    start, end = change.range.start, change.range.end
    if position < start or (position == start and bias is Bias.LEFT):
        return position
    if position < end:
        return start if bias is Bias.LEFT else change.new_end
    new_end = change.new_end
    if position.line == end.line:
        return Position(new_end.line, new_end.character + position.character - end.character)
    return Position(position.line + new_end.line - end.line, position.character)


def map_range(range_: Range, changes: Iterable[TextChange]) -> Range:
    """Return a range after changes. Text inserted at the edges of the range is not part of it."""
    for change in changes:
        start = map_position(range_.start, change, Bias.RIGHT)
        range_ = Range(start, max(start, map_position(range_.end, change)))
    return range_


def touched_lines(changes: Iterable[TextChange]) -> tuple[range, ...]:
    """Return the lines that the changes have written, 0-based, in the text after the last change.

    The ranges are in order and disjoint. Lines that were only moved are not included.
    """
    touched: list[tuple[int, int]] = []
    for change in changes:
        for effect in change.effects:
            touched = _after_change(touched, effect)
    return tuple(range(*one) for one in touched)


def _after_change(touched: list[tuple[int, int]], effect: LineChange) -> list[tuple[int, int]]:
    """Return the stretches (half-open) after a change of lines, including the lines of the
    change.
    """
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


class OverlapError(ValueError):
    """Two replacements of one edit claim the same text; the message names both."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A replacement of the text between two offsets (code points, half-open) by `text`.

    Raises:
        ValueError: The offsets are negative or reversed.
    """

    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a replacement needs 0 <= start <= end: {self!r}")


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replacements of one text, disjoint and in order of place.

    The replacements may be given in any order. Several insertions at one place keep the order
    given; an insertion at the start of a replaced range comes before the new text of the range.

    Raises:
        OverlapError: If two replacements claim the same text.
    """

    replacements: tuple[Replacement, ...]

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.replacements, key=lambda one: (one.start, one.end)))
        for one, other in pairwise(ordered):
            if other.start < one.end:
                raise OverlapError(f"{one!r} and {other!r} replace the same text")
        object.__setattr__(self, "replacements", ordered)

    def apply(self, text: str) -> str:
        """Return the text after the edit.

        Raises:
            ValueError: `text` is too short: the edit was made for another text.
        """
        self._check(text)
        return self._rewritten(text, 0) + text[self._end :]

    def changes(self, text: str) -> bool:
        """Return whether the edit changes `text`; only the replaced stretch is compared.

        Raises:
            ValueError: `text` is too short: the edit was made for another text.
        """
        self._check(text)
        start = self.replacements[0].start if self.replacements else 0
        return self._rewritten(text, start) != text[start : self._end]

    def shifted(self, n: int) -> "TextEdit":
        """Return the edit `n` code points further down; further up if the number is negative."""
        old = self.replacements
        return TextEdit(tuple(Replacement(one.start + n, one.end + n, one.text) for one in old))

    def compose(self, then: "TextEdit") -> "TextEdit":
        """Return one edit for this edit followed by `then`, an edit of the text after this one."""
        left, done = [*_pieces_after(self)][::-1], 0
        made: list[_Piece] = []
        for replacement in then.replacements:
            made += _split_off(left, replacement.start - done)
            made.append(_Piece(len(replacement.text), text=replacement.text))
            done = replacement.end
            _split_off(left, replacement.end - replacement.start)
        return TextEdit(tuple(_replacements([*made, *reversed(left)])))

    def map_offset(self, offset: int, bias: Bias = Bias.LEFT) -> int:
        """Return the offset in the text after the edit of an `offset` in the text before.

        Inside a replaced stretch, and at an insertion, `bias` selects the side of the new text.
        """
        shift = 0
        for replacement in self.replacements:
            if offset < replacement.start or (offset == replacement.start and bias is Bias.LEFT):
                break
            if offset < replacement.end:
                return replacement.start + shift + len(replacement.text) * (bias is Bias.RIGHT)
            shift += len(replacement.text) - (replacement.end - replacement.start)
        return offset + shift

    @property
    def _end(self) -> int:
        """The end of the last replaced stretch (code points)."""
        return self.replacements[-1].end if self.replacements else 0

    def _rewritten(self, text: str, start: int) -> str:
        """Return the new form of `text` from `start` to the end of the last replaced stretch."""
        pieces = []
        for replacement in self.replacements:
            pieces += [text[start : replacement.start], replacement.text]
            start = replacement.end
        return "".join(pieces)

    def _check(self, text: str) -> None:
        if self._end > len(text):
            raise ValueError(
                f"the edit was made for another text: {self.replacements[-1]!r} ends after the "
                f"{len(text)} characters"
            )


_ENDLESS = 2**62
"""More code points than any text has: an edit does not know the end of its text."""


class _Piece(NamedTuple):
    """A part of an edited text: `n` code points of the old text from `start` on, or a new
    `text`.
    """

    n: int
    start: int = 0
    text: str | None = None


def _pieces_after(edit: TextEdit) -> Iterator[_Piece]:
    """Yield the parts of the text after an edit, in order."""
    done = 0
    for replacement in edit.replacements:
        yield _Piece(replacement.start - done, done)
        yield _Piece(len(replacement.text), text=replacement.text)
        done = replacement.end
    yield _Piece(_ENDLESS, done)


def _split_off(left: list[_Piece], n: int) -> list[_Piece]:
    """Remove and return the first `n` code points of `left`, whose parts are in reverse order."""
    taken = []
    while n > 0:
        size, start, text = left.pop()
        if size > n:
            left.append(_Piece(size - n, start + n, text and text[n:]))
            size, text = n, text and text[:n]
        taken.append(_Piece(size, start, text))
        n -= size
    return taken


def _replacements(pieces: Iterable[_Piece]) -> Iterator[Replacement]:
    """Yield the replacements that make these parts; the text between two kept parts is one."""
    done, inserted = 0, ""
    for n, start, text in pieces:
        if text is not None:
            inserted += text
        elif n:
            if start > done or inserted:
                yield Replacement(done, start, inserted)
            done, inserted = start + n, ""
