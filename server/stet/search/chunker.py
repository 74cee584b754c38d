r"""Cutting a file into the passages that are searched, by the ending of its name.

This module runs no grammar: a parser can take more than a minute for 20,000 malicious characters
and can't be stopped. `outliner.py` runs grammars and gives the outline. All functions take time
linear in the length of any text. Every line that is not blank is in exactly one passage.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from stet.outline.definition import Definition, with_plain_ends
from stet.outline.headings import find_front_matter, headings_in
from stet.outline.indent_outline import definitions_in, is_code
from stet.outline.python_definitions import MAX_DEPTH
from stet.search.chunk import Chunk
from stet.text.document import NOTES, ending_of

MAX_LINES = 60
"""A passage with more lines is cut further."""
MAX_CHARACTERS = 4_000
"""A passage with more characters is cut further, but never inside a line."""
MAX_CLOSING = 3
"""At most this many lines of closing brackets are added to the passage above."""

_CLOSING = re.compile(r"[^\w]{0,80}(?:end\b[^\w]{0,20})?")


@dataclass(slots=True)
class _OpenDefinition:
    """A definition that is being cut: its place, and whether its head has not been yielded yet."""

    definition: Definition
    end: int
    scope: str
    is_fresh: bool = True

    @property
    def path(self) -> str:
        name = self.definition.name
        return f"{self.scope}.{name}" if self.scope else name


def split_passages(lines: Sequence[str], definitions: Iterable[Definition]) -> Iterator[Chunk]:
    """Yield the passages of a file, in order of place.

    Args:
        lines: The lines of the file, with or without line ends.
        definitions: The definitions, in order of their first lines. If two overlap partly, the
            second is cut or left out.
    """
    last: Chunk | None = None
    for merged_chunk in _merged_chunks(lines, definitions):
        if last is not None and not merged_chunk.name and _closes(lines, merged_chunk):
            last = replace(last, end=merged_chunk.end)
            continue
        if last is not None:
            yield last
        last = merged_chunk
    if last is not None:
        yield last


def _closes(lines: Sequence[str], chunk: Chunk) -> bool:
    """Return whether a passage has only a few lines of closing brackets or keywords."""
    return chunk.end - chunk.first <= MAX_CLOSING and all(
        _CLOSING.fullmatch(line.strip()) for line in lines[chunk.first : chunk.end]
    )


def _merged_chunks(lines: Sequence[str], definitions: Iterable[Definition]) -> Iterator[Chunk]:
    """Yield the passages, with closing brackets as separate passages."""
    open_: list[_OpenDefinition] = []
    at = 0
    for definition in definitions:
        while open_ and open_[-1].end <= max(definition.first, at):
            yield from _passage(lines, at, open_[-1].end, open_[-1])
            at = open_.pop().end
        owner = open_[-1] if open_ else None
        if owner and (len(open_) == MAX_DEPTH or not owner.definition.is_container):
            continue
        first = max(definition.first, at, owner.definition.head + 1 if owner else 0)
        end = min(definition.end, owner.end) if owner else definition.end
        if definition.head < first or first >= end:
            continue
        yield from _passage(lines, at, first, owner)
        at = first
        open_.append(_OpenDefinition(definition, end, owner.path if owner else ""))
    for owner in reversed(open_):
        yield from _passage(lines, at, owner.end, owner)
        at = owner.end
    yield from _passage(lines, at, len(lines), None)


def _passage(
    lines: Sequence[str], first: int, end: int, owner: _OpenDefinition | None
) -> Iterator[Chunk]:
    """Yield the chunks of lines that belong to `owner` and to no definition inside `owner`."""
    if owner is None:
        yield from _section(lines, first, end)
        return
    definition, is_head = owner.definition, owner.is_fresh
    owner.is_fresh = False
    for nth, (start, stop) in enumerate(split_evenly(lines, first, end)):
        if is_head and not nth:
            yield Chunk(
                start, stop, definition.name, owner.scope, definition.signature, is_definition=True
            )
        elif is_head or not definition.is_type:
            yield Chunk(start, stop, definition.name, owner.scope)
        else:  # between the methods of a class
            yield Chunk(start, stop, "", owner.path)


def split_evenly(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield pieces of about equal length of some lines. A piece is too long only if it is one line.

    A piece ends at blank lines, if there are blank lines near its end. Blank lines around a piece
    are left out, so blank text has no pieces.
    """
    first, end = _trimmed(lines, first, end)
    size = sum(map(len, lines[first:end]))
    while end - first > MAX_LINES or (size > MAX_CHARACTERS and end - first > 1):
        n_parts = max(-(-(end - first) // MAX_LINES), -(-size // MAX_CHARACTERS))
        cut = _break_line(lines, first, _limit(lines, first, end), -(-(end - first) // n_parts))
        yield _trimmed(lines, first, cut)
        size -= sum(map(len, lines[first:cut]))
        while not lines[cut].strip():
            size -= len(lines[cut])
            cut += 1
        first = cut
    if first < end:
        yield first, end


def _limit(lines: Sequence[str], first: int, end: int) -> int:
    """Return the end of the longest piece of at least one line that may begin at `first`."""
    limit, size = first, 0
    while limit < min(end, first + MAX_LINES):
        size += len(lines[limit])
        if size > MAX_CHARACTERS and limit > first:
            break
        limit += 1
    return limit


def _break_line(lines: Sequence[str], first: int, limit: int, n_lines: int) -> int:
    """Return the line before which to cut: after a blank line, as near to `n_lines` as possible."""
    ideal = min(first + n_lines, limit)
    near = range(first + max(1, (ideal - first) // 2), limit + 1)
    after_blank = [line for line in near if not lines[line - 1].strip()]
    return min(after_blank, key=lambda line: abs(line - ideal), default=ideal)


def _trimmed(lines: Sequence[str], first: int, end: int) -> tuple[int, int]:
    while first < end and not lines[first].strip():
        first += 1
    while end > first and not lines[end - 1].strip():
        end -= 1
    return first, end


def note_passages(text: str, lines: Sequence[str]) -> Iterator[Chunk]:
    r"""Yield the passages of a note in order of position.

    A note that is too large to be parsed has no headings.

    Args:
        text: The text, with `\n` as its only line end.
        lines: The text cut at each `\n`.
    """
    front = find_front_matter(text)
    below = 0 if front is None else text.count("\n", 0, front.end) + 1
    yield from _section(lines, 0, below)
    open_: list[tuple[int, str]] = []
    at, name, scope = below, "", ""
    for heading in headings_in(text):
        line = heading.line - 1
        if line < at:
            continue
        yield from _section(lines, at, line, name, scope)
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        at, name = line, heading.title
        scope = " > ".join(title for _, title in open_)
        open_.append((heading.level, heading.title))
    yield from _section(lines, at, len(lines), name, scope)


def _section(
    lines: Sequence[str], first: int, end: int, name: str = "", scope: str = ""
) -> Iterator[Chunk]:
    for start, stop in split_evenly(lines, first, end):
        yield Chunk(start, stop, name, scope)


def chunk_file(
    text: str, name: str, outline: Sequence[Definition] | None = None
) -> tuple[Chunk, ...]:
    """Return the passages of a file, in order of position.

    Every line that is not blank (`str.strip`) is in exactly one passage. Lines are those of
    `stet.text.lines`. Notes are cut at headings, code at definitions, other text at blank lines;
    long passages are cut further.

    Args:
        text: The text of the file, with line ends of any kind.
        name: The name of the file.
        outline: The definitions that a grammar found; None to find definitions by indentation.
    """
    text = with_plain_ends(text)
    lines = text.split("\n")
    ending = ending_of(name)
    if outline is None and ending in NOTES:
        return tuple(note_passages(text, lines))
    if outline is None:
        outline = [*definitions_in(text, lines, ending)] if is_code(ending) else ()
    return tuple(split_passages(lines, outline))
