"""The ranking by words, without scoring every chunk that has a word of the question.

SQLite takes ten times as long to score a chunk as to find it, and most found chunks have only one
word of the question, so they can't be among the best. They are excluded by their highest possible
score, as in MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995).
The result is the same.
"""

import math
from collections.abc import Callable, Mapping, Sequence

Ranking = Sequence[tuple[int, float]]
"""Chunks and their scores, the best first."""

MAX_TERM_WEIGHT = 2.2
"""A word adds less than this times its rarity to a score: k1 + 1 of SQLite's BM25."""
LEAST_RARITY = 1e-6
"""The rarity that SQLite assigns to a word that is in more than half of the chunks."""
FEW = 700
"""If no more chunks than this have any of the words, all of them are scored."""


def best_by_words(
    ask: Callable[[str], Ranking], terms: Mapping[str, int], limit: int, n_chunks: int
) -> Ranking:
    """Return chunks with any of the words, the best by BM25 first, each with its score.

    Args:
        ask: Returns the best `limit` chunks for a query in the syntax of FTS5.
        terms: The words, the rarest first, each with the number of chunks that it is in, at least
            1.
        limit: The maximum number of chunks.
        n_chunks: The number of chunks in the index.
    """
    words = list(terms)
    if len(words) == 1 or sum(terms.values()) <= FEW:
        return ask(_any(words))
    most = {term: MAX_TERM_WEIGHT * _rarity(n, n_chunks) for term, n in terms.items()}
    best: Ranking = []
    # First the chunks with several words, by their rarest word. A query may return a chunk with a
    # part of its score, but the query for its rarest word returns the whole score, which is higher;
    # if the chunk is not in that answer, `limit` other chunks are better.
    for at, term in enumerate(words[:-1]):
        if _least(best, limit) >= sum(most[each] for each in words[at:]):
            break
        found = ask(f"{_any([term])} AND ({_any(words[at + 1 :])})")
        best = _merge_rankings(best, found, limit)
    for term in words:
        if _least(best, limit) < most[term]:
            best = _merge_rankings(best, ask(_any([term])), limit)
    return best


def _rarity(n: int, n_chunks: int) -> float:
    """Return the rarity of a word in `n` chunks, as SQLite's `bm25` computes it."""
    return max(math.log(max(n_chunks - n + 0.5, 0.5) / (n + 0.5)), LEAST_RARITY)


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _least(best: Ranking, limit: int) -> float:
    """Return the score that a chunk must reach to be among the best so far."""
    return best[-1][1] if len(best) == limit else 0.0


def _merge_rankings(one: Ranking, other: Ranking, limit: int) -> Ranking:
    """Return the best chunks of both rankings, each with its higher score; older ones first."""
    scores = dict(one)
    for chunk, score in other:
        scores[chunk] = max(score, scores.get(chunk, 0.0))
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]
