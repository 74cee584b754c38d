"""A text too long to be looked at as a whole while somebody waits."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, islice

from stet.text.document import TextDocument
from stet.text.inline_block import InlineBlock
from stet.text.lines import line_end, whole_lines
from stet.text.patched_lines import PatchedLines
from stet.text.position import Position, Range

LARGE = 2_000_000
"""Code points from which on a text is taken for one."""
_AT_ONCE = 10_000
"""Lines that are joined to be searched."""
_PART = 1_000
"""Lines that are counted together: an offset is found among as many."""


class LargeDocument(TextDocument):
    """A `TextDocument` of lines that are shared with the buffer; `text` is joined when it is asked for,
    which takes long and as much memory again: what can do with lines asks for these.

    Two are equal if they are the same revision of the same document, without the same blocks.

    Attributes:
        left_out: The blocks of `real` that it has been stripped of (`stet.text.stripped_document`).
    """

    left_out: tuple[InlineBlock, ...]

    is_large = True

    def __init__(  # not the base's: it would need the text
        self, uri: str, lines: Sequence[str], version: int | None, language_id: str, revision: int
    ) -> None:
        values = {
            "uri": uri, "version": version, "language_id": language_id, "revision": revision,
            "real": None, "lines": lines, "left_out": (),
        }  # fmt: skip
        self.__dict__.update(values)

    def without(self, blocks: tuple[InlineBlock, ...], revision: int) -> "LargeDocument":
        """Return the text with each of these blocks replaced by the lines it stands for; nothing is copied.

        Args:
            blocks: In order of place.
            revision: Of the new text.
        """
        replaced = [(block.first, block.end, whole_lines(block.before)) for block in blocks]
        lines = PatchedLines(self.lines, replaced)
        if not lines or line_end(lines[-1]):
            lines = PatchedLines(lines, [(len(lines), len(lines), ("",))])
        plain = LargeDocument(self.uri, lines, self.version, self.language_id, revision)
        plain.__dict__.update(real=self, left_out=blocks)
        return plain

    @cached_property
    def text(self) -> str:
        """All of it."""
        return "".join(self.lines[:])

    @property
    def length(self) -> int:
        """How many code points it has."""
        return self._part_starts[-1]

    def character_at(self, offset: int) -> str:
        """The character at `offset`, which is within the text; `""` at its end."""
        line, column = self._place_of(offset)
        return self.lines[line][column : column + 1]

    def offset_at(self, position: Position) -> int:
        """The offset of `position`, clamped."""
        place = self.clamp(position)
        part = place.line // _PART
        above = self.lines[part * _PART : place.line]
        return self._part_starts[part] + sum(map(len, above)) + place.character

    def position_at(self, offset: int) -> Position:
        r"""The place of `offset`, clamped; between `\r` and `\n` it is before both."""
        line, column = self._place_of(max(0, min(offset, self.length)))
        return self.clamp(Position(line, column)) if column else Position(line, 0)

    @cached_property
    def content_hash(self) -> str:
        """A name for this text that no other text has in this process."""
        if self.real is None:
            return f"{self.uri} {self.revision}"
        places = "".join(f" {block.first}-{block.end}" for block in self.left_out)
        return f"{self.uri} {self.real.revision} without{places}"

    def head(self, n: int) -> str:
        """The first `n` code points."""
        parts, size = [], 0
        for line in self.lines:
            parts.append(line)
            size += len(line)
            if size >= n:
                break
        return "".join(parts)[:n]

    def lines_with(self, needle: str) -> tuple[int, ...]:
        """The lines (0-based) in which `needle` stands, which reaches over no line end."""
        found = self._matches.get(needle)
        if found is None:
            found = self._matches[needle] = tuple(self._search(needle))
        return found

    def text_in(self, range_: Range) -> str:
        """The text of `range_`, its ends clamped."""
        start, end = self.clamp(range_.start), self.clamp(range_.end)
        if start.line == end.line:
            return self.lines[start.line][start.character : end.character]
        first, *between = self.lines[start.line : end.line]
        last = self.lines[end.line][: end.character]
        return "".join((first[start.character :], *between, last))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LargeDocument):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _part_starts(self) -> tuple[int, ...]:
        """The offset at which each part of so many lines starts, and that of the end."""
        firsts = range(0, len(self.lines), _PART)
        sizes = (sum(map(len, self.lines[first : first + _PART])) for first in firsts)
        return tuple(accumulate(sizes, initial=0))

    def _place_of(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset within the text."""
        starts = self._part_starts
        part = bisect_right(starts, offset, hi=len(starts) - 1) - 1
        column, line = offset - starts[part], part * _PART
        for one in self.lines[line : line + _PART]:
            if column < len(one):
                break
            column, line = column - len(one), line + 1
        return (line, column) if line < len(self.lines) else (line - 1, len(self.lines[-1]))

    @property
    def _key(self) -> tuple[object, ...]:
        return self.uri, self.version, self.language_id, self.content_hash

    @cached_property
    def _matches(self) -> dict[str, tuple[int, ...]]:
        return {}

    def _search(self, needle: str) -> "list[int]":
        lines, found, first = iter(self.lines), [], 0
        while some := list(islice(lines, _AT_ONCE)):
            if needle in "".join(some):
                found += [first + n for n, line in enumerate(some) if needle in line]
            first += len(some)
        return found
