"""A text as it was at one moment: frozen, addressable by line and column and by offset."""

import posixpath
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import ClassVar

from stet.text.lines import split_lines, text_between, without_end
from stet.text.position import Position, Range

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
"""The extensions of Markdown files."""
NOTES = frozenset(MARKDOWN)
"""The extensions of notes: wikilinks name a note without its extension."""


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class TextDocument:
    """One text with its name. All columns and offsets are code points, 0-based.

    Places outside the text are clamped, as LSP requires: a column after the line's end means before
    its line end, a line after the last means the end of the text, a negative line its start.

    Attributes:
        uri: The document's name, as the editor sent it.
        text: The whole text.
        version: The editor's version number; None if the text is from disk.
        language_id: The editor's name for the language, `""` if unknown.
        revision: The number of changes of the buffer when the text was frozen; 0 from disk.
        real: The text with its blocks, if this one is without them
            (`stet.text.stripped_document`).
    """

    uri: str
    text: str
    version: int | None = None
    language_id: str = ""
    revision: int = 0
    real: "TextDocument | None" = field(default=None, compare=False, repr=False)

    is_large: ClassVar[bool] = False
    """Whether it is a `LargeDocument` (`stet.text.large_document`), which is only read in parts."""

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines with their line ends; the last one has none (`stet.text.lines`)."""
        return tuple(split_lines(self.text))

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset in code points at which each line starts."""
        return tuple(accumulate(map(len, self.lines[:-1]), initial=0))

    @property
    def n_lines(self) -> int:
        r"""The number of lines as a person counts them: `"a\n"` is 1, `""` is 0."""
        return len(self.lines) - (self.lines[-1] == "")

    @property
    def end(self) -> Position:
        """The position after the last character."""
        return Position(len(self.lines) - 1, len(self.lines[-1]))

    @property
    def is_markdown(self) -> bool:
        """Whether the text is Markdown, by its language id or its name."""
        return self.language_id.lower() == "markdown" or self.uri.lower().endswith(MARKDOWN)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the text in UTF-8 (lone surrogates passed), in hex."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def clamp(self, position: Position) -> Position:
        """Return the position in the text that is nearest to `position`."""
        if position.line < 0:
            return Position(0, 0)
        if position.line >= len(self.lines):
            return self.end
        width = len(without_end(self.lines[position.line]))
        return Position(position.line, max(0, min(position.character, width)))

    def offset_at(self, position: Position) -> int:
        """Return the offset of `position`, clamped."""
        line, character = position.line, position.character
        if character == 0 and 0 <= line < len(self.lines):
            return self.line_starts[line]  # the usual case: hunks are whole lines
        place = self.clamp(position)
        return self.line_starts[place.line] + place.character

    def position_at(self, offset: int) -> Position:
        r"""Return the position of `offset`, clamped.

        An offset between `\r` and `\n` gives the position before both.
        """
        line, column = self._place_of(max(0, min(offset, self.length)))
        return self.clamp(Position(line, column)) if column else Position(line, 0)

    @property
    def length(self) -> int:
        """The number of code points."""
        return len(self.text)

    def character_at(self, offset: int) -> str:
        """Return the character at `offset`, which must be within the text; `""` at the end of the
        text.
        """
        line, column = self._place_of(offset)
        return self.lines[line][column : column + 1]

    def head(self, n: int) -> str:
        """Return the first `n` code points."""
        return "".join(self.lines[:n])[:n]  # a line has at least one character

    def lines_with(self, needle: str) -> Sequence[int]:
        """Return the lines (0-based) that contain `needle`, which must not span a line end."""
        if needle not in self.text:
            return ()
        return tuple(n for n, line in enumerate(self.lines) if needle in line)

    def text_in(self, range_: Range) -> str:
        """Return the text of `range_`, with the ends clamped."""
        return text_between(self.lines, self.clamp(range_.start), self.clamp(range_.end))

    def _place_of(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset within the text."""
        line = bisect_right(self.line_starts, offset) - 1
        return line, offset - self.line_starts[line]


def ending_of(name: str) -> str:
    """Return the ending of a file's name, with its dot, in lower case; `""` if there is none."""
    return posixpath.splitext(name)[1].lower()
