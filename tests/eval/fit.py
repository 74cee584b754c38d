"""Weights for the ranking, learnt from questions with known right answers.

A listwise logistic regression maximizes the likelihood that the right candidate of all candidates
of a question is chosen (Cao et al., "Learning to Rank: From Pairwise Approach to Listwise
Approach", 2007). Only weights are learnt, and the held-out half is not used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stet.search.chunk_ranking import WEIGHTS, features
from stet.search.search_engine import ChunkQuery, SearchEngine
from tests.eval.corpus import Question

ROUNDS = 400
_RATE = 0.05
_RIDGE = 1e-3
Matrix = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A question that has a right candidate.

    Attributes:
        values: A row for each candidate, a column for each feature.
        right: The indices of the right rows.
        share: The weight of the question.
    """

    values: Matrix
    right: Matrix
    share: float = 1.0


def example_of(engine: SearchEngine, question: Question) -> Example | None:
    """Make an example of a question; None if nothing right was found, or nothing wrong."""
    asked, candidates = engine.candidates(ChunkQuery(question.text))
    right = [
        row.uri in question.right
        and (question.line is None or row.first <= question.line < row.end)
        for row, _ in candidates
    ]
    if not any(right) or all(right):
        return None
    values = [features(asked, row, ranks) for row, ranks in candidates]
    return Example(np.array(values, dtype=np.float32), np.array(right))


def fit(examples: Sequence[Example]) -> dict[str, tuple[float, float]]:
    """Return the weights that maximize the likelihood of the right candidates, as `WEIGHTS`."""
    weights = _fitted([replace(each, values=_apart(each.values)) for each in examples])
    pairs = zip(*np.split(weights, 2), strict=True)
    rounded = [(round(float(one), 2), round(float(other), 2)) for one, other in pairs]
    return dict(zip(WEIGHTS, rounded, strict=True))


def _apart(values: Matrix) -> Matrix:
    """Double each column, so that it can have a separate weight for definitions."""
    is_definition = values[:, [list(WEIGHTS).index("definition")]]
    return np.concatenate([values * is_definition, values * (1 - is_definition)], axis=1)


def _fitted(examples: Sequence[Example]) -> Matrix:
    spread = np.concatenate([each.values for each in examples]).std(axis=0) + 1e-6
    weights, slope, square = (np.zeros(len(spread)) for _ in range(3))
    total = sum(each.share for each in examples)
    for number in range(1, ROUNDS + 1):
        pull = -_RIDGE * weights
        for each in examples:
            scaled = each.values / spread
            odds = np.exp(scaled @ weights - (scaled @ weights).max())
            wanted = odds * each.right
            pull += each.share / total * (wanted / wanted.sum() - odds / odds.sum()) @ scaled
        # Adam (Kingma and Ba, 2015).
        slope = 0.9 * slope + 0.1 * pull
        square = 0.999 * square + 0.001 * pull**2
        step = (slope / (1 - 0.9**number)) / (np.sqrt(square / (1 - 0.999**number)) + 1e-8)
        weights = weights + _RATE * step
    fitted: Matrix = weights / spread
    return fitted
