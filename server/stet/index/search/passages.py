"""What the index has found, read anew from the files: nothing is shown that is not there any more, or
that may not be shown.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from stet.index.search.fields import query_terms, words
from stet.index.searching import Passage, Query
from stet.text.document import TextDocument
from stet.workspace.snapshot import NotShown, Snapshot

MAX_LINE = 1000
"""How much of a line is given, in code points."""
MAX_LOOKED_AT = 400
"""Lines of a passage that are weighed for the best one."""
PER_FILE = 4
"""Passages of one file."""


def passages_of(
    snapshot: Snapshot, query: Query, hits: Iterable[Mapping[str, Any]]
) -> tuple[Passage, ...]:
    """The first `query.limit` passages for `hits`, each as `stet.index.search.engine.Hit` in a message.

    Asks the disk.
    """
    terms = set(query_terms(query.text))
    documents: dict[str, TextDocument | None] = {}
    n_of_file: dict[str, int] = {}
    found: list[Passage] = []
    for hit in hits:
        if len(found) == query.limit:
            break
        uri = str(hit["uri"])
        if uri not in documents:
            documents[uri] = _document(snapshot, uri)
        document = documents[uri]
        if document is None or n_of_file.get(uri, 0) == PER_FILE:
            continue
        first, end = int(hit["first"]), min(int(hit["end"]), len(document.lines))
        if first >= end:
            continue  # the file has become shorter since
        n_of_file[uri] = n_of_file.get(uri, 0) + 1
        at = _best_line(document, first, end, terms)
        found.append(
            Passage(
                document.uri,
                snapshot.name_of(document.uri),
                at + 1,
                document.lines[at].rstrip("\r\n")[:MAX_LINE],
                float(hit["score"]),
                hit["by_words"],
                hit["by_meaning"],
                first=first,
                end=end,
                title=str(hit["title"]),
                why=str(hit["why"]),
            )
        )
    return tuple(found)


def _document(snapshot: Snapshot, uri: str) -> TextDocument | None:
    try:
        return snapshot.show(uri)
    except NotShown:
        return None


def _best_line(document: TextDocument, first: int, end: int, terms: set[str]) -> int:
    """The line with most of the words that are asked for; the first that says anything by default."""
    best, n_best = first, -1
    for at in range(first, min(end, first + MAX_LOOKED_AT)):
        line = document.lines[at][:MAX_LINE]
        if not line.strip():
            continue
        n = len(terms.intersection(words(line).split()))
        if n > n_best:
            best, n_best = at, n
    return best
