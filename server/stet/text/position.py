"""Places in a text.

Stet counts in *code points*: `Position(0, 1)` is after the first code point of the first line,
whatever its length in UTF-8 or UTF-16. Wire positions, which count in the negotiated encoding, are
`lsp.Position` and are converted at the edge (`stet.text.encoding`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two code points.

    Attributes:
        line: The line number, 0-based; only CRLF, LF and CR end a line.
        character: The column, 0-based, in code points from the start of the line.
    """

    line: int
    character: int


_LINE_END = 2**31
"""A column after every other one."""


@dataclass(frozen=True, slots=True, order=True)
class Range:
    """A half-open stretch of text: `start` is in it, `end` is not; `start <= end`."""

    start: Position
    end: Position

    @property
    def is_empty(self) -> bool:
        """Whether the range holds no text."""
        return self.start == self.end

    def touches_lines_of(self, other: "Range") -> bool:
        """Return whether the two share a line.

        A range that ends at column 0 of a later line does not include that line.
        """
        return self.start.line <= other.last_line and other.start.line <= self.last_line

    @property
    def caret(self) -> Position:
        """The position of a caret that selected the range from its start; not clamped to the text.

        If whole lines are selected, it is on the last of them, not on the line after.
        """
        if self.last_line < self.end.line:
            return Position(self.last_line, _LINE_END)
        return self.end

    @property
    def line_after(self) -> int:
        """The first line (0-based) after the start that contains nothing of the range."""
        return self.end.line + (self.end.character > 0)

    def shifted(self, n_lines: int) -> "Range":
        """Return the range `n_lines` lines further down; further up if the number is negative."""
        start = Position(self.start.line + n_lines, self.start.character)
        return Range(start, Position(self.end.line + n_lines, self.end.character))

    @property
    def last_line(self) -> int:
        """The last line (0-based) that holds text of the range, or its only line."""
        if self.end.character == 0 and self.end.line > self.start.line:
            return self.end.line - 1
        return self.end.line
