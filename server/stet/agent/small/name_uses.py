"""The uses of a name in all files, for a request that concerns all of them: "rename f to g".

The uses are found by words: a small model has no tool to look for them.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from stet.agent.small.edit_target import (
    IDENTIFIER,
    Lines,
    fits,
    is_short,
    lines_at,
    outline_of,
)
from stet.links.link_scan import scan_links
from stet.outline.definition import Definition
from stet.search.word_search import SearchMode, SearchQuery
from stet.text.document import TextDocument
from stet.tools.tool import ToolContext, ToolError

MAX_FILES = 12
"""The most files that are changed in one turn."""
MAX_SEARCHED = 40
"""The most files that are searched for the uses of a name."""
MAX_CHARACTERS = 3_000
"""The most characters of the lines of one file: about 800 tokens to read."""
NOT_SHOWN = (
    "Other files use {names} and were not changed: {files}. They are more or longer than a small "
    "model can read. Ask again with one of these files open, or choose a larger model."
)

_RENAMES = re.compile(
    r"\b(?:rename|umbenennen|benenne)\b(?P<names>.{1,200}?)\b(?:to|in|into|as|zu)\b",
    re.IGNORECASE | re.DOTALL,
)
_EVERYWHERE = re.compile(
    r"\b(?:callers?|everywhere|wherever|(?:whole|in the|across the) (?:project|workspace|code ?base)"
    r"|all (?:uses|usages|calls|call sites|places)|überall|aufrufer\w*|alle (?:aufrufe|stellen)"
    r"|im (?:ganzen )?projekt)\b",
    re.IGNORECASE,
)
"""The words of a request that concern all uses of a name, in English and German."""


@dataclass(frozen=True, slots=True)
class NameUses:
    """The lines of one file that use a name.

    Attributes:
        name: The name of the file.
        document: Its text when the lines were found.
        pieces: The functions and paragraphs with a use, in order (0-based, half-open).
    """

    name: str
    document: TextDocument
    pieces: tuple[Lines, ...]


@dataclass(frozen=True, slots=True)
class SpreadChange:
    """The files that a request changes.

    Attributes:
        files: The files, that of the question first; empty if the request concerns one place.
        notes: What the user should know about files that are left out.
    """

    files: tuple[NameUses, ...] = ()
    notes: tuple[str, ...] = ()


async def find_spread_change(
    request: str, document: TextDocument, ctx: ToolContext
) -> SpreadChange:
    """Return the files that use the names of a request, if it concerns all uses of them.

    A request to rename what the file defines concerns the files that import it; one that says
    "everywhere" concerns all files with the word.
    """
    if document.is_large or not (_RENAMES.search(request) or _EVERYWHERE.search(request)):
        return SpreadChange()
    outline = await asyncio.to_thread(outline_of, document)
    is_everywhere = _EVERYWHERE.search(request) is not None
    names = _subject_names(request, document, outline, takes_members=is_everywhere)
    if not names:
        return SpreadChange()
    mention = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    pieces = await asyncio.to_thread(_pieces, document, mention)
    if pieces is None:
        return SpreadChange()
    files = [NameUses(ctx.reader.snapshot().name_of(document.uri), document, pieces)]
    left_out: list[str] = []
    for other in await _documents_with(names, document.uri, ctx, imports_only=not is_everywhere):
        name = ctx.reader.snapshot().name_of(other.uri)
        pieces = await asyncio.to_thread(_pieces, other, mention)
        if pieces is None or (pieces and len(files) == MAX_FILES):
            left_out.append(name)
        elif pieces:  # the search also finds parts of words
            files.append(NameUses(name, other, pieces))
    note = NOT_SHOWN.format(names=", ".join(names), files=", ".join(left_out))
    return SpreadChange(tuple(files), (note,) if left_out else ())


async def _documents_with(
    names: Sequence[str], uri: str, ctx: ToolContext, *, imports_only: bool
) -> list[TextDocument]:
    """Return the other documents with one of some names, by the names of the files.

    If `imports_only`, return only those that import the file `uri`.
    """
    reader = ctx.reader
    importing = await _importing(uri, ctx) if imports_only else None
    query = SearchQuery(" ".join(names), SearchMode.KEYWORD)
    results = await ctx.searcher.search(reader.snapshot(), query)
    found = {one.uri: one.name for one in results.passages if one.uri != uri}
    documents = []
    best = list(found.items())[:MAX_SEARCHED]
    for other, name in sorted(best, key=lambda each: each[1]):
        if importing is None or other in importing:
            try:
                documents.append(await reader.peek(name))
            except ToolError:
                continue  # removed since, or may not be shown
    return documents


async def _importing(uri: str, ctx: ToolContext) -> frozenset[str]:
    """Return the files that import a file."""
    graph = await asyncio.to_thread(scan_links, ctx.reader.snapshot(), ctx.links)
    edges = await asyncio.to_thread(graph.backlinks, uri)
    return frozenset(edge.source for edge in edges)


def _subject_names(
    request: str, document: TextDocument, outline: Sequence[Definition], *, takes_members: bool
) -> tuple[str, ...]:
    """Return the names in a request whose uses it concerns.

    These are definitions of the document and, if `takes_members`, attributes in it; of a class and
    something else, only the latter, since the class says where that is.
    """
    renamed = _RENAMES.search(request)
    words = list(dict.fromkeys(IDENTIFIER.findall(renamed["names"] if renamed else request)))
    types = {one.name for one in outline if one.is_type}
    functions = {one.name for one in outline} - types
    names = [word for word in words if word in functions]
    if takes_members:
        members = set(re.findall(r"\.([^\W\d]\w*)", document.text)) - functions
        names += [word for word in words if word in members]
    return tuple(names or [word for word in words if word in types])


def _pieces(document: TextDocument, mention: re.Pattern[str]) -> tuple[Lines, ...] | None:
    """Return the lines around each use; empty for no use, None if they are too long. Takes long."""
    if document.is_large:
        return None
    numbers = [n for n, line in enumerate(document.lines) if mention.search(line)]
    if not numbers:
        return ()
    if is_short(document):
        return ((0, document.n_lines),)
    outline = outline_of(document)
    pieces: list[Lines] = []
    for number in numbers:
        if pieces and number < pieces[-1][1]:
            continue
        around = lines_at(outline, number)
        if around is None or not fits(document, around):
            around = _paragraph(document, number)
        pieces.append((max(around[0], pieces[-1][1] if pieces else 0), around[1]))
    size = sum(len(line) for first, end in pieces for line in document.lines[first:end])
    return tuple(pieces) if size <= MAX_CHARACTERS else None


def _paragraph(document: TextDocument, number: int) -> Lines:
    """Return the lines around a line up to the next blank ones."""
    first = end = number
    while first > 0 and document.lines[first - 1].strip():
        first -= 1
    while end < document.n_lines and document.lines[end].strip():
        end += 1
    return first, end
