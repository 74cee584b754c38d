"""What the index has found, read anew from the files: nothing is shown that is not there any more, or
that may not be shown.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from stet.search.chunk import query_terms, words
from stet.search.search_query import SearchPassage, SearchQuery
from stet.search.shown_files import ShownFile, ShownFiles
from stet.text.document import TextDocument
from stet.workspace.snapshot import Snapshot

MAX_LINE = 1000
"""How much of a line is given, in code points."""
MAX_LOOKED_AT = 400
"""Lines of a passage that are weighed for the best one."""
PER_FILE = 4
"""Passages of one file."""


def read_passages(
    snapshot: Snapshot, query: SearchQuery, hits: Iterable[Mapping[str, Any]], files: ShownFiles
) -> tuple[SearchPassage, ...]:
    """Return the first `query.limit` passages for `hits`. Each hit is a
    `stet.search.search_engine.Hit` in a message.

    Asks the disk.
    """
    terms = set(query_terms(query.text))
    n_of_file: Counter[str] = Counter()
    found: list[SearchPassage] = []
    with files.reader(snapshot) as show:
        shown = lru_cache(maxsize=None)(show)
        for hit in hits:
            if len(found) == query.limit:
                break
            uri = str(hit["uri"])
            file = shown(uri) if n_of_file[uri] < PER_FILE else None
            passage = None if file is None else _passage(file, hit, terms)
            if passage is not None:
                n_of_file[uri] += 1
                found.append(passage)
    return tuple(found)


def _passage(file: ShownFile, hit: Mapping[str, Any], terms: set[str]) -> SearchPassage | None:
    """Return the passage of a hit in the file as it is now, or None if the file has become too
    short.
    """
    document = file.document
    first, end = int(hit["first"]), min(int(hit["end"]), len(document.lines))
    if first >= end:
        return None
    at = _best_line(document, first, end, terms)
    return SearchPassage(
        document.uri,
        file.name,
        at + 1,
        document.lines[at].rstrip("\r\n")[:MAX_LINE],
        float(hit["score"]),
        hit["lexical_rank"],
        hit["vector_rank"],
        first=first,
        end=end,
        title=str(hit["title"]),
        why=str(hit["why"]),
    )


def _best_line(document: TextDocument, first: int, end: int, terms: set[str]) -> int:
    """Return the line with the most words of the query. By default return the first line that is
    not blank.
    """
    best, n_best = first, -1
    for at in range(first, min(end, first + MAX_LOOKED_AT)):
        line = document.lines[at][:MAX_LINE]
        if not line.strip() or (n_best >= 0 and _max_words(line, terms) <= n_best):
            continue
        n = len(terms.intersection(words(line).split()))
        if n > n_best:
            best, n_best = at, n
    return best


def _max_words(line: str, terms: set[str]) -> int:
    """How many of the words a line has at most, told without cutting it into words.

    A word is compared by the beginnings of its parts, and by all of them put together.
    """
    if not line.isascii():
        return len(terms)
    text = line.lower().replace("_", "")
    return sum([term in text for term in terms])
