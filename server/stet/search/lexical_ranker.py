"""The ranking by words, without scoring every chunk that has one of them.

SQLite takes ten times as long to score a chunk as to find it, and most found chunks have one word
of the question only, which can't bring them among the best. They are left out by their highest
possible score, as in MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations",
1995). The result is the same.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stet.search.chunk import NO_EXCLUSION, Exclusion
from stet.search.index_store import IndexStore

MAX_TERM_WEIGHT = 2.2
"""What a word adds to a score is less than this times its rarity: k1 + 1 of SQLite's BM25."""
LEAST_RARITY = 1e-6
"""The rarity that SQLite assigns to a word that is in more than half of the chunks."""
FEW = 700


@dataclass(frozen=True, slots=True)
class LexicalRanker:
    """How words are looked up.

    Attributes:
        store: The index.
        n_chunks: In it.
        frequencies: In how many chunks each word is; all are in one at least.
        few: Chunks that are weighed sooner than it is found out which of them need not be.
    """

    store: IndexStore
    n_chunks: int
    frequencies: Mapping[str, int]
    few: int = FEW

    def best(
        self, terms: Sequence[str], limit: int, folder: str = "", without: Exclusion = NO_EXCLUSION
    ) -> list[tuple[int, float]]:
        """Return chunks with any of the words, the best by BM25 first, each with its score.

        Args:
            terms: The words, the rarest first.
            limit: The maximum number of chunks.
            folder: Only below this folder, as displayed; empty for everywhere.
            without: The chunks that do not count.
        """
        if len(terms) == 1 or sum(self.frequencies[term] for term in terms) <= self.few:
            return self.store.best(_any(terms), limit, folder, without)
        best: list[tuple[int, float]] = []
        # Those with several words, by the rarest they have. Others turn up with a part of their
        # score, but in the answer to their rarest word with all of it, which is more; where they
        # are not in that, as many others are better.
        for at, term in enumerate(terms[:-1]):
            if _least(best, limit) >= self._most(terms[at:]):
                break
            wanted = f"{_any([term])} AND ({_any(terms[at + 1 :])})"
            best = _merge_rankings(best, self.store.best(wanted, limit, folder, without), limit)
        for term in terms:
            if _least(best, limit) < self._most([term]):
                best = _merge_rankings(
                    best, self.store.best(_any([term]), limit, folder, without), limit
                )
        return best

    def _most(self, terms: Sequence[str]) -> float:
        """Return an upper bound of the score of a chunk that contains these words and no others."""
        return MAX_TERM_WEIGHT * sum(map(self._rarity, terms))

    def _rarity(self, term: str) -> float:
        """As SQLite's `bm25` has it."""
        n = self.frequencies[term]
        return max(math.log(max(self.n_chunks - n + 0.5, 0.5) / (n + 0.5)), LEAST_RARITY)


def _any(terms: Sequence[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _least(best: Sequence[tuple[int, float]], limit: int) -> float:
    """Return the score that a chunk must reach to be among the best so far."""
    return best[-1][1] if len(best) == limit else 0.0


def _merge_rankings(
    one: Sequence[tuple[int, float]], other: Sequence[tuple[int, float]], limit: int
) -> list[tuple[int, float]]:
    """Return the best chunks of both rankings, each with its higher score. Chunks with equal scores
    are ordered oldest first.
    """
    scores = dict(one)
    for chunk, score in other:
        scores[chunk] = max(score, scores.get(chunk, 0.0))
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]
