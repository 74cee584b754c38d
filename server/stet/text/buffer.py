r"""The text of an open document, updated with the editor keystroke by keystroke.

The text is a list of lines and an edit replaces a slice of it; the whole text is joined only on
demand. One rule makes line arithmetic exact: a change never begins or ends between `\r` and `\n`.
If an edit would leave such a pair at its edge, the change is widened to contain both.

An editor that counts in UTF-16 may insert or remove one half of a character outside the first
plane. If both halves are adjacent they are joined to the character; if an edit begins or ends
between them, the other half stays.

A very long text has millions of lines: a copy of the list alone would block the event loop. So
`FrozenLines` reads the live list and is notified of each later change.
"""

import re
import threading
import weakref
from collections.abc import Sequence

from stet.text.diff import changes_between, line_changes
from stet.text.edit import Splice, TextChange
from stet.text.encoding import Encoding, column_from_units, units_from_column
from stet.text.lines import PiecewiseLines, split_lines, text_between
from stet.text.position import Position, Range


class FrozenLines(PiecewiseLines):
    """The lines of a list at the time when this object was created; any thread may read them.

    A caller that changes the list holds `lock` and calls `before_replace`.
    """

    def __init__(self, lines: list[str], lock: threading.Lock) -> None:
        """Freeze `lines`; `lock` guards the list and is shared by all frozen views of the list."""
        self._live = lines
        self._lock = lock
        self._n = len(lines)
        self._starts, self._pieces = [0], [(lines, 0)]

    def before_replace(self, start: int, taken: Sequence[str], n_made: int) -> None:
        """Save the lines that are about to be replaced. The caller holds the lock.

        Args:
            start: The first replaced line, 0-based.
            taken: The replaced lines; the caller does not change this sequence afterwards.
            n_made: The number of new lines.
        """
        end, shift = start + len(taken), n_made - len(taken)
        placed: list[tuple[int, Sequence[str], int]] = []
        for nth, (at, (source, first)) in enumerate(zip(self._starts, self._pieces, strict=True)):
            if source is not self._live:
                placed.append((at, source, first))
                continue
            last = first + self._end_of(nth) - at
            if first < min(last, start):  # lines before those that are replaced
                placed.append((at, source, first))
            if (low := max(first, start)) < min(last, end):
                placed.append((at + low - first, taken, low - start))
            if (low := max(first, end)) < last:
                placed.append((at + low - first, source, low + shift))
        self._starts = [at for at, _, _ in placed]
        self._pieces = [(source, first) for _, source, first in placed]

    def _between(self, first: int, end: int) -> tuple[str, ...]:
        with self._lock:
            return super()._between(first, end)


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def split_surrogates(
    lines: tuple[str, str], columns: tuple[int, int], units: tuple[int, int], text: str
) -> tuple[int, int, str]:
    """Return an edit between characters as an edit that may begin and end within characters.

    Args:
        lines: The first and the last line of the edit.
        columns: The columns in these lines, in code points, rounded down.
        units: The same columns in UTF-16 units, as the editor sent them.
        text: The new text.

    Returns:
        Both columns, in code points, and the text, with the halves of characters that stay.
    """
    (first, last), (start, end) = lines, columns
    if _is_inside_pair(first, start, units[0]):
        text = _split_pair(first[start])[0] + text
    if _is_inside_pair(last, end, units[1]):
        text += _split_pair(last[end])[1]
        end += 1
    return start, end, text


def join_surrogates(
    lines: tuple[str, str], columns: tuple[int, int], text: str
) -> tuple[int, int, str]:
    """Return an edit that may join two halves of a character as an edit that inserts the character.

    Args:
        lines: The first and the last line of the edit.
        columns: The columns in these lines, in code points.
        text: The new text.

    Returns:
        Both columns and the text, with the adjacent halves that are part of a character now.
    """
    (first, last), (start, end) = lines, columns
    before, after = first[start - 1 : start] if start else "", last[end : end + 1]
    if _is_high_surrogate(before) and _is_low_surrogate(text[:1] or after):
        start, text = start - 1, before + text
    if _is_low_surrogate(after) and _is_high_surrogate(text[-1:]):
        end, text = end + 1, text + after
    return start, end, text if text.isascii() else _PAIR.sub(_join_pair, text)


def _is_inside_pair(line: str, column: int, units: int) -> bool:
    """Return whether the UTF-16 column `units`, which is `column` rounded down, is inside the
    character there.
    """
    is_pair = line[column : column + 1] > "\uffff"
    return is_pair and units_from_column(line, column, Encoding.UTF16) < units


def _split_pair(character: str) -> tuple[str, str]:
    code = ord(character) - 0x10000
    return chr(0xD800 + (code >> 10)), chr(0xDC00 + (code & 0x3FF))


def _join_pair(pair: re.Match[str]) -> str:
    first, second = map(ord, pair[0])
    return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))


def _is_high_surrogate(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


def _is_low_surrogate(character: str) -> bool:
    return "\udc00" <= character <= "\udfff"


class TextBuffer:
    """A mutable text. Places outside the text are clamped, and reversed ranges are swapped.

    Attributes:
        size: The maximum number of code points of the text: deletions are not subtracted.
    """

    __slots__ = ("_frozen", "_lines", "_lock", "_text", "size")

    def __init__(self, text: str, lines: list[str] | None = None) -> None:
        """Store `text`; the buffer takes over `lines`, the result of `split_lines`, if given."""
        self._lines = split_lines(text) if lines is None else lines
        self._text: str | None = text
        self.size = len(text)
        self._lock = threading.Lock()
        self._frozen: list[weakref.ref[FrozenLines]] = []

    @property
    def text(self) -> str:
        """The whole text; joined on demand, cached until the next change."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    def freeze(self) -> FrozenLines:
        """Return a frozen view of the current lines, which later edits do not change. Nothing is
        copied.
        """
        frozen = FrozenLines(self._lines, self._lock)
        self._frozen = [one for one in self._frozen if one() is not None]
        self._frozen.append(weakref.ref(frozen))
        return frozen

    @property
    def lines(self) -> Sequence[str]:
        """The lines as they are *now*: always the same live list; copy lines to keep them."""
        return self._lines

    def text_in(self, range_: Range) -> str:
        """Return the text of `range_` (code points)."""
        start, end = (Position(*self._clamp(place)) for place in (range_.start, range_.end))
        return text_between(self._lines, start, end)

    def splice(  # noqa: PLR0913, PLR0917 - values built per keystroke cost more than the splice
        self,
        start_line: int,
        start_units: int,
        end_line: int,
        end_units: int,
        text: str,
        encoding: Encoding,
    ) -> TextChange:
        """Apply one edit as the editor sent it: lines 0-based, columns in `encoding` units.

        Returns:
            The change, in code points.
        """
        if (start_line, start_units) > (end_line, end_units):
            start_line, end_line = end_line, start_line
            start_units, end_units = end_units, start_units
        lines = self._lines
        if start_line == end_line and 0 <= start_line < len(lines):
            line = lines[start_line]
            start = column_from_units(line, start_units, encoding)
            is_empty = start_units == end_units
            end = start if is_empty else column_from_units(line, end_units, encoding)
            if not line.isascii():
                units = start_units, end_units
                if encoding is Encoding.UTF16:
                    start, end, text = split_surrogates((line, line), (start, end), units, text)
                start, end, text = join_surrogates((line, line), (start, end), text)
            if (text or start) and "\n" not in text and "\r" not in text:
                made = line[:start] + text + line[end:]
                if self._frozen:
                    self._replace_lines(start_line, (line,), [made])
                else:
                    lines[start_line] = made
                self._text = None
                self.size += len(text)
                at = Position(start_line, start)
                place = Range(at, at if start == end else Position(start_line, end))
                return TextChange(place, text, None, Splice(start_line, (line,), (made,)))
            return self._replace((start_line, start), (end_line, end), text)
        first, start = self._clamp_wire(start_line, start_units, encoding)
        last, end = self._clamp_wire(end_line, end_units, encoding)
        if encoding is Encoding.UTF16:
            # A place outside the text is not inside a character.
            units = (start_units * (first == start_line), end_units * (last == end_line))
            edges = lines[first], lines[last]
            start, end, text = split_surrogates(edges, (start, end), units, text)
        return self._replace((first, start), (last, end), text)

    def apply(self, change: TextChange) -> TextChange:
        """Apply a change in code points.

        Returns:
            The change as applied: clamped, and widened at a split line end.
        """
        start, end = sorted((self._clamp(change.range.start), self._clamp(change.range.end)))
        return self._replace(start, end, change.text)

    def replace_all(self, text: str) -> tuple[TextChange, ...]:
        """Replace the whole text by `text`.

        Returns:
            The changes, found by diff: sequential, bottom to top.
        """
        changes = changes_between(self.text, text)
        for change in changes:
            # Most lines of a very long text stay: they are not split again.
            assert change.splice is not None, "a difference of lines"
            first, before, after = change.splice
            self._replace_lines(first, before, list(after))
        self._text = text
        self.size = len(text)
        return changes

    def _replace_lines(self, first: int, taken: Sequence[str], made: list[str]) -> None:
        """Replace lines by others; frozen lines keep the old ones."""
        if not self._frozen:
            self._lines[first : first + len(taken)] = made
            return
        with self._lock:
            held = [(one, frozen) for one in self._frozen if (frozen := one()) is not None]
            self._frozen = [one for one, _ in held]
            for _, frozen in held:
                frozen.before_replace(first, taken, len(made))
            self._lines[first : first + len(taken)] = made

    def _clamp(self, position: Position) -> tuple[int, int]:
        return self._clamp_wire(position.line, position.character, Encoding.UTF32)

    def _clamp_wire(self, line: int, units: int, encoding: Encoding) -> tuple[int, int]:
        """Return the nearest place of the text, as line and column."""
        if line < 0:
            return 0, 0
        if line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        return line, column_from_units(self._lines[line], units, encoding)

    def _replace(self, start: tuple[int, int], end: tuple[int, int], text: str) -> TextChange:
        """Replace the text between two places, which are in order."""
        lines = self._lines
        (first, start_column), (last, end_column) = start, end
        edges = lines[first], lines[last]
        start_column, end_column, text = join_surrogates(edges, (start_column, end_column), text)
        if start_column == 0 and first > 0 and lines[first - 1].endswith("\r"):
            following = text[:1] or lines[last][end_column : end_column + 1]
            if following == "\n":
                first -= 1
                start_column = len(lines[first]) - 1
                text = "\r" + text
        if text.endswith("\r") and lines[last].startswith("\n", end_column):
            last, end_column, text = last + 1, 0, text + "\n"
        made = split_lines(lines[first][:start_column] + text + lines[last][end_column:])
        if last + 1 < len(lines):
            made.pop()
        taken = lines[first : last + 1]
        # An edit that ends at the start of the last line leaves this line unchanged, even if a
        # line before is equal.
        is_unchanged = end_column == 0 and made[-1:] == taken[-1:]
        stop = -1 if is_unchanged else None
        effects = line_changes(first, taken[:stop], made[:stop])
        self._replace_lines(first, taken, made)
        self._text = None
        self.size += len(text)
        place = Range(Position(first, start_column), Position(last, end_column))
        return TextChange(place, text, effects, Splice(first, taken, made))
