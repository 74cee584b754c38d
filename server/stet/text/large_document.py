"""A text too long to be looked at as a whole while somebody waits."""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from stet.text.document import TextDocument
from stet.text.position import Range

LARGE = 2_000_000
"""Code points from which on a text is taken for one."""
_AT_ONCE = 10_000
"""Lines that are joined to be searched."""


class LargeDocument(TextDocument):
    """A `TextDocument` of lines that are shared with the buffer; `text` is joined when it is asked for,
    which takes long and as much memory again: what can do with lines asks for these.

    Two are equal if they are the same revision of the same document.
    """

    is_large = True

    def __init__(  # not the base's: it would need the text
        self, uri: str, lines: Sequence[str], version: int | None, language_id: str, revision: int
    ) -> None:
        values = {
            "uri": uri, "version": version, "language_id": language_id, "revision": revision,
            "real": None, "lines": lines,
        }  # fmt: skip
        self.__dict__.update(values)

    @cached_property
    def text(self) -> str:
        """All of it."""
        return "".join(self.lines)

    @cached_property
    def content_hash(self) -> str:
        """A name for this text that no other text has in this process."""
        return f"{self.uri} {self.revision}"

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
        found = self._found.get(needle)
        if found is None:
            found = self._found[needle] = tuple(self._search(needle))
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

    @property
    def _key(self) -> tuple[object, ...]:
        return self.uri, self.version, self.language_id, self.revision

    @cached_property
    def _found(self) -> dict[str, tuple[int, ...]]:
        return {}

    def _search(self, needle: str) -> "list[int]":
        lines, found, first = iter(self.lines), [], 0
        while some := list(islice(lines, _AT_ONCE)):
            if needle in "".join(some):
                found += [first + n for n, line in enumerate(some) if needle in line]
            first += len(some)
        return found
