"""The results of a search for the editor: places in the editor's text, with an excerpt.

The line numbers of a passage belong to the text that is shown to a model; the editor's text also
has inline blocks, and may have changed since.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.outline.line_definitions import defined_name
from stet.search.word_search import SearchPassage
from stet.text.document import TextDocument
from stet.text.encoding import Encoding
from stet.text.escape import escape, escape_line
from stet.text.lines import without_end
from stet.text.position import Position, Range
from stet.workspace.snapshot import NotShown, Snapshot

MAX_EXCERPT = 600
"""The most code points of an excerpt."""
MAX_LINE = 160
"""The most code points of a line of an excerpt."""
MAX_NAME = 120
"""The most code points of a symbol's name."""
N_BEFORE = 2
"""The most lines of an excerpt before the best one."""
N_AFTER = 5

_TYPES = ("class", "struct", "interface", "trait", "enum", "type", "record", "object", "protocol")


@dataclass(frozen=True, slots=True)
class LocatedPassage:
    """A passage with its place in the editor's text.

    Attributes:
        passage: The passage from the search.
        range: The range of the passage.
        best: The range of the passage's best line.
        excerpt: The best line and some lines around it, escaped.
        excerpt_line: The 0-based line at which the excerpt begins.
        kind: The symbol kind, one of those that every editor knows.
    """

    passage: SearchPassage
    range: lsp.Range
    best: lsp.Range
    excerpt: str
    excerpt_line: int
    kind: lsp.SymbolKind


def locate_passages(
    passages: Iterable[SearchPassage], snapshot: Snapshot, encoding: Encoding
) -> Iterator[LocatedPassage]:
    """Yield `passages` with their places; leave out those of missing files. Block on the disk."""
    documents: dict[str, TextDocument | None] = {}
    for passage in passages:
        if passage.uri not in documents:
            documents[passage.uri] = None
            with suppress(NotShown):
                documents[passage.uri] = snapshot.document_with_blocks(passage.uri)
        document = documents[passage.uri]
        if document is not None:
            yield _locate(passage, document, snapshot, encoding)


def passage_to_json(place: LocatedPassage) -> dict[str, object]:
    """Return one entry of the answer of `stet.search`."""
    passage = place.passage
    return {
        "uri": passage.uri,
        "range": convert.range_to_json(place.range),
        "score": round(passage.score, 4),
        "title": escape_line(passage.title),
        "excerpt": place.excerpt,
        "excerptLine": place.excerpt_line,
        "lexicalRank": passage.lexical_rank,
        "vectorRank": passage.vector_rank,
        "why": escape_line(passage.why),
    }


def to_symbol(place: LocatedPassage) -> lsp.SymbolInformation:
    """Return a passage as a symbol for `workspace/symbol`.

    As JSON this is also a `WorkspaceSymbol` with its range, so that every editor can read it.
    """
    passage = place.passage
    title = escape_line(passage.title or passage.text.strip())[:MAX_NAME]
    why = f" ({escape_line(passage.why)})" if passage.why else ""
    return lsp.SymbolInformation(
        location=lsp.Location(passage.uri, place.range if passage.title else place.best),
        name=title or escape_line(passage.name),
        kind=place.kind,
        container_name=f"{escape_line(passage.name)}{why}",
    )


def _locate(
    passage: SearchPassage, document: TextDocument, snapshot: Snapshot, encoding: Encoding
) -> LocatedPassage:
    first, end = snapshot.real_lines(document, passage.first, passage.end)
    best, after = snapshot.real_lines(document, passage.line - 1, passage.line)
    excerpt, excerpt_line = _excerpt(document, best, first, end)
    return LocatedPassage(
        passage,
        _lines(document, first, end, encoding),
        _lines(document, best, after, encoding),
        excerpt,
        excerpt_line,
        _kind(passage, document),
    )


def _lines(document: TextDocument, first: int, end: int, encoding: Encoding) -> lsp.Range:
    """Return the range of the lines from `first` to before `end`, clamped to the document."""
    stretch = Range(Position(first, 0), Position(max(first, end), 0))
    return convert.to_wire_range(stretch, document.lines, encoding)


def _excerpt(document: TextDocument, best: int, first: int, end: int) -> tuple[str, int]:
    """Return the excerpt and the 0-based line at which it begins."""
    if end - first <= 1:  # one line alone has too little context
        first, end = 0, len(document.lines)
    start, after = max(first, best - N_BEFORE), min(max(end, best + 1), best + N_AFTER)
    shown: list[str] = []
    size = 0
    for line in document.lines[start:after]:
        text = without_end(line)
        text = escape(text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]} …")
        size += len(text) + 1
        if size > MAX_EXCERPT and shown:
            break
        shown.append(text[:MAX_EXCERPT].rstrip())
    while shown and not shown[0]:
        del shown[0]
        start += 1
    return "\n".join(shown).rstrip("\n"), start


def _kind(passage: SearchPassage, document: TextDocument) -> lsp.SymbolKind:
    """Return the symbol kind of a passage, by its first line with a definition."""
    if not passage.title:
        return lsp.SymbolKind.File
    if document.is_markdown:
        return lsp.SymbolKind.String
    for line in document.lines[passage.first : passage.first + N_AFTER]:
        if defined_name(line) is not None:
            head = line.split("(")[0].split()
            is_type = any(word in _TYPES for word in head[:-1])
            return lsp.SymbolKind.Class if is_type else lsp.SymbolKind.Function
    return lsp.SymbolKind.Module
