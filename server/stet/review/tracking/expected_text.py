"""The text that an edit on its way was made for, as the changes that arrive make it."""

from collections.abc import Sequence

from stet.text.buffer import TextBuffer
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import n_breaks
from stet.text.position import Position

_AROUND = 100
"""Lines of a very long text that are kept beside what the edit replaces."""


class ExpectedText:
    """Plays changes through until the text is what the edit makes of it.

    Of a very long text only the lines about the edit are kept. Once something outside of these has
    changed, its changes never make it that text.

    Attributes:
        n_lines: How many lines the text has after the edit.
    """

    def __init__(self, document: TextDocument, edit: TextEdit) -> None:
        """`document` is the text that `edit` was made for."""
        self._lines = document.lines
        n = len(self._lines)
        self._first, self._end = _window(document, edit) if document.is_large else (0, n)
        text = "".join(self._lines[self._first : self._end]) if document.is_large else document.text
        start = document.offset_at(Position(self._first, 0))
        moved = (Replacement(r.start - start, r.end - start, r.text) for r in edit.replacements)
        self._expected = TextEdit(tuple(moved)).apply(text)
        self._buffer: TextBuffer | None = TextBuffer(text)
        self.n_lines = n + n_breaks(self._expected) - n_breaks(text)

    def completes_with(self, change: TextChange) -> bool:
        """Apply the next change. Return whether the text is then the one that the edit makes of it."""
        if self._buffer is None:
            return False
        is_to_the_end = self._end == len(self._lines)
        after = self._first + len(self._buffer.lines) - 1
        first, last = change.range.start.line, change.range.end.line
        if first < self._first or (last >= after and not is_to_the_end):
            self._buffer = None
            return False
        _ = self._buffer.apply(TextChange(change.range.shifted(-self._first), change.text))
        return self._buffer.text == self._expected

    def is_expected(self, lines: Sequence[str]) -> bool:
        """Whether a text of these lines is what the edit makes of it."""
        n_after = len(self._lines) - self._end
        if not self._first and not n_after:
            return "".join(lines) == self._expected
        end = len(lines) - n_after
        return (
            len(lines) == self.n_lines
            and "".join(lines[self._first : end]) == self._expected
            and tuple(lines[: self._first]) == tuple(self._lines[: self._first])
            and tuple(lines[end:]) == tuple(self._lines[self._end :])
        )

    @property
    def lines(self) -> Sequence[str]:
        """All lines of the text as it is now."""
        assert self._buffer is not None, "asked only where it is what the edit makes of it"
        window = self._buffer.lines
        if not self._first and self._end == len(self._lines):
            return window
        window = window if self._end == len(self._lines) else window[:-1]
        return (*self._lines[: self._first], *window, *self._lines[self._end :])


def _window(document: TextDocument, edit: TextEdit) -> tuple[int, int]:
    """Return the lines around the replaced ranges: the first line, and the line after the last."""
    if not edit.replacements:
        return 0, len(document.lines)
    first = document.position_at(edit.replacements[0].start).line
    last = document.position_at(edit.replacements[-1].end).line
    return max(0, first - _AROUND), min(len(document.lines), last + 1 + _AROUND)
