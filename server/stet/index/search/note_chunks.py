"""Passages of a Markdown note: its front matter, what stands above the first heading, each section."""

from collections.abc import Iterator, Sequence

from stet.index.front_matter import find_front_matter
from stet.index.note_content import headings_in
from stet.index.search.chunk import Chunk
from stet.index.search.chunk_splitter import split_evenly


def note_passages(text: str, lines: Sequence[str]) -> Iterator[Chunk]:
    r"""The passages of a note in order of place; one that is too large to be parsed has no headings.

    Args:
        text: With `\n` at its line ends and no others.
        lines: The text cut at each `\n`.
    """
    front = find_front_matter(text)
    below = 0 if front is None else text.count("\n", 0, front.end) + 1
    yield from _plain(lines, 0, below)
    open_: list[tuple[int, str]] = []
    at, name, scope = below, "", ""
    for heading in headings_in(text):
        line = heading.line - 1
        if line < at:
            continue
        yield from _section(lines, at, line, (name, scope))
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        at, name = line, heading.title
        scope = " > ".join(title for _, title in open_)
        open_.append((heading.level, heading.title))
    yield from _section(lines, at, len(lines), (name, scope))


def _section(
    lines: Sequence[str], first: int, end: int, titles: tuple[str, str]
) -> Iterator[Chunk]:
    for start, stop in split_evenly(lines, first, end):
        yield Chunk(start, stop, *titles)


def _plain(lines: Sequence[str], first: int, end: int) -> Iterator[Chunk]:
    for start, stop in split_evenly(lines, first, end):
        yield Chunk(start, stop)
