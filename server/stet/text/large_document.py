"""A text too long to be processed as a whole while the user waits."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, islice

from stet.text.block_codec import InlineBlock
from stet.text.document import TextDocument
from stet.text.lines import PiecewiseLines, line_end, whole_lines
from stet.text.position import Position

_AT_ONCE = 10_000
"""The number of lines that a search joins at a time."""


class PatchedLines(PiecewiseLines):
    """An immutable sequence: `lines`, which must not change, with some of them replaced."""

    def __init__(
        self, lines: Sequence[str], replaced: Sequence[tuple[int, int, Sequence[str]]]
    ) -> None:
        """Create the sequence from lines and the replacements of some of them.

        Args:
            lines: All lines.
            replaced: The first line (0-based) of each replaced range, the line after its last, and
                the replacement; in order of place, not overlapping.
        """
        self._starts, self._pieces, self._n = [], [], 0
        done = 0
        for first, end, others in replaced:
            self._add(lines, done, first)
            self._add(others, 0, len(others))
            done = end
        self._add(lines, done, len(lines))

    def _add(self, source: Sequence[str], first: int, end: int) -> None:
        if first < end:
            self._starts.append(self._n)
            self._pieces.append((source, first))
            self._n += end - first


LARGE = 2_000_000
"""The minimum number of code points of a large text."""
_PART = 1_000
"""The number of lines in a part; an offset is searched for in one part only."""


class LargeDocument(TextDocument):
    """A `TextDocument` of lines that are shared with the buffer.

    `text` is joined on demand, which takes long and as much memory again: use the lines where
    possible. Two documents are equal if they are the same revision of the same document, without
    the same blocks.

    Attributes:
        left_out: The blocks of `real` that were removed (`stet.text.stripped_document`).
    """

    left_out: tuple[InlineBlock, ...]

    is_large = True

    def __init__(  # the base class would need the text
        self, uri: str, lines: Sequence[str], version: int | None, language_id: str, revision: int
    ) -> None:
        values = {
            "uri": uri, "version": version, "language_id": language_id, "revision": revision,
            "real": None, "lines": lines, "left_out": (),
        }  # fmt: skip
        self.__dict__.update(values)

    def without(self, blocks: tuple[InlineBlock, ...], revision: int) -> "LargeDocument":
        """Return the text with each block replaced by the lines it represents, without a copy.

        Args:
            blocks: The blocks, in order of place.
            revision: The revision of the new text.
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
        """The whole text."""
        return "".join(self.lines[:])

    @property
    def length(self) -> int:
        """The number of code points."""
        return self._part_starts[-1]

    def offset_at(self, position: Position) -> int:
        """Return the offset of `position`, clamped."""
        place = self.clamp(position)
        part = place.line // _PART
        above = self.lines[part * _PART : place.line]
        return self._part_starts[part] + sum(map(len, above)) + place.character

    @cached_property
    def content_hash(self) -> str:
        """An identifier of this text, unique in this process."""
        if self.real is None:
            return f"{self.uri} {self.revision}"
        places = "".join(f" {block.first}-{block.end}" for block in self.left_out)
        return f"{self.uri} {self.real.revision} without{places}"

    def lines_with(self, needle: str) -> tuple[int, ...]:
        """Return the lines (0-based) that contain `needle`, which must not span a line end."""
        if needle not in self._matches:
            self._matches[needle] = tuple(self._search(needle))
        return self._matches[needle]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LargeDocument):
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _part_starts(self) -> tuple[int, ...]:
        """The offset at which each part of `_PART` lines starts, and the offset of the end."""
        firsts = range(0, len(self.lines), _PART)
        sizes = (sum(map(len, self.lines[first : first + _PART])) for first in firsts)
        return tuple(accumulate(sizes, initial=0))

    def _place_of(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset within the text."""
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
