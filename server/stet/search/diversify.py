"""So that neither a file whose passages all read alike, nor a text that was copied into many files,
takes all places of a ranking.

A table of a hundred thousand lines or a vendored copy would push out the file that is asked for. A
ranking of a hundred places over the source of large packages names 18 files at least, and mostly 50;
so only one that names fewer than ten is asked again, without what takes too much of it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stet.search.chunk import NO_EXCLUSION, ChunkRow, Exclusion
from stet.search.chunk_ranking import Scored

SHARE = 10
"""A ranking with fewer files, or texts, than one in so many places limits each of them.

Each then gets at most one in so many places."""
ROUNDS = 6
"""How often a ranking is asked again: a person waits for the answer."""
IN_ANSWER = 4
"""Passages of one file in an answer."""
SAME_IN_ANSWER = 2
"""Passages with the same text in an answer."""


class LimitedRanking(NamedTuple):
    """A ranking, and what had more than its share of it."""

    ranking: Sequence[tuple[int, float]]
    over: Exclusion


def diversify(
    first: Scored,
    limit: int,
    rows: dict[int, ChunkRow],
    fetch: Callable[[Sequence[int]], Mapping[int, ChunkRow]],
    again: Callable[[Exclusion], Scored],
) -> Scored:
    """Return a ranking in which no file and no text has more than its share of the places.

    Args:
        first: The original ranking.
        limit: The number of places; a shorter ranking has displaced nothing.
        rows: The known chunks, including those of the ranking; others are added.
        fetch: Returns chunks by their id.
        again: Makes the ranking again without some files and texts.
    """
    found, without = first, NO_EXCLUSION
    for _ in range(ROUNDS):
        if len(found) < limit:
            break
        within, over = _limit_shares(found, limit // SHARE, rows)
        if not any(over):
            break
        without = Exclusion(without.uris | over.uris, without.texts | over.texts)
        others = [*within, *again(without)]
        # Of a text that is in a file left out, or the other way round, places may come twice.
        best = dict(sorted(others, key=lambda each: (-each[1], each[0])))
        found = list(best.items())[:limit]
        rows.update(fetch([chunk for chunk, _ in found if chunk not in rows]))
    return found


def _limit_shares(ranking: Scored, most: int, rows: Mapping[int, ChunkRow]) -> LimitedRanking:
    """Return what stays of a ranking, and what had too many places. More than `most` places are too
    many where there are too few others.
    """
    if _has_many((rows[chunk].uri for chunk, _ in ranking), most) and _has_many(
        (rows[chunk].text for chunk, _ in ranking), most
    ):
        return LimitedRanking(ranking, NO_EXCLUSION)
    n_of_file: Counter[str] = Counter()
    n_of_text: Counter[str] = Counter()
    for chunk, _ in ranking:
        n_of_file[rows[chunk].uri] += 1
        n_of_text[rows[chunk].text] += 1
    over = Exclusion(_over(n_of_file, most), _over(n_of_text, most))
    within: list[tuple[int, float]] = []
    left = Counter(dict.fromkeys((*over.uris, *over.texts), most))
    for chunk, score in ranking:
        named = {rows[chunk].uri} & over.uris | {rows[chunk].text} & over.texts
        if all(left[each] for each in named):
            within.append((chunk, score))
            left.subtract(named)
    return LimitedRanking(within, over)


def _has_many(each: Iterable[str], enough: int) -> bool:
    """Whether there are `enough` different ones; told by the first few of nearly every ranking."""
    seen: set[str] = set()
    for one in each:
        seen.add(one)
        if len(seen) >= enough:
            return True
    return False


def _over(counted: Counter[str], most: int) -> frozenset[str]:
    """Return what is counted more than `most` times, if there are only a few others."""
    if len(counted) >= most:
        return frozenset()
    return frozenset(each for each, n in counted.items() if n > most)


def deduplicate(chunks: Iterable[int], rows: Mapping[int, ChunkRow]) -> list[int]:
    """Return some chunks, with only the first of the chunks that have equal texts."""
    first: dict[str, int] = {}
    for chunk in chunks:
        first.setdefault(rows[chunk].text, chunk)
    return list(first.values())


def cap_per_file(rows: Iterable[ChunkRow]) -> Iterator[ChunkRow]:
    """Those of some chunks, the best first, that are an answer: few of one file, fewer that read the
    same.
    """
    n_of_file: Counter[str] = Counter()
    n_of_text: Counter[str] = Counter()
    for row in rows:
        if n_of_file[row.uri] < IN_ANSWER and n_of_text[row.text] < SAME_IN_ANSWER:
            n_of_file[row.uri] += 1
            n_of_text[row.text] += 1
            yield row
