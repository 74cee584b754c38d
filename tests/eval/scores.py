"""The scores of an arm, and a table of the scores."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import mean

from tests.eval.arms import Found
from tests.eval.corpus import Question

N_COUNTED = 10
"""The number of answers that count, as many as a person reads."""


def reciprocal_rank(asked: Question, found: Sequence[Found]) -> float:
    """Return 1 / the rank of the first right answer, 0 if it is not among the first ten.

    If no line is asked for, several passages of one file count as one answer.
    """
    answers = found if asked.line is not None else [(file, 0, 0) for file in files_of(found)]
    for place, (file, first, end) in enumerate(answers[:N_COUNTED], 1):
        if file in asked.right and (asked.line is None or first <= asked.line < end):
            return 1 / place
    return 0.0


def recall(asked: Question, found: Sequence[Found]) -> float:
    """Return the share of the right files among the first ten."""
    if asked.line is not None:
        return float(reciprocal_rank(asked, found) > 0)
    return len(asked.right.intersection(files_of(found)[:N_COUNTED])) / min(
        len(asked.right), N_COUNTED
    )


def files_of(found: Sequence[Found]) -> list[str]:
    """Return the files of passages, each at the rank of its best passage."""
    return list(dict.fromkeys(file for file, _, _ in found))


class Scores:
    """The scores of each arm, by half."""

    def __init__(self) -> None:
        self._values: defaultdict[tuple[str, bool], list[tuple[float, float]]] = defaultdict(list)

    def add(self, arm: str, asked: Question, found: Sequence[Found]) -> None:
        """Add an arm's answer to a question."""
        self._values[arm, asked.held].append((reciprocal_rank(asked, found), recall(asked, found)))

    def n_asked(self, arm: str, *, held: bool) -> int:
        """Return the number of questions of a half that an arm was asked."""
        return len(self._values[arm, held])

    def mrr(self, arm: str, *, held: bool) -> float:
        """Return the mean reciprocal rank among the first ten answers."""
        return _mean([value for value, _ in self._values[arm, held]])

    def recall(self, arm: str, *, held: bool) -> float:
        """Return the mean recall among the first ten answers, in percent."""
        return 100 * _mean([value for _, value in self._values[arm, held]])

    def table(self) -> str:
        """Format the scores as a Markdown table."""
        arms = list(dict.fromkeys(arm for arm, _ in self._values))
        lines = [
            "| arm | MRR@10, held out | recall@10, held out | MRR@10, tuning | recall@10, tuning |",
            "| --- | --- | --- | --- | --- |",
        ]
        for arm in arms:
            values = " | ".join(
                f"{self.mrr(arm, held=held):.3f} | {self.recall(arm, held=held):.1f}"
                for held in (True, False)
            )
            lines.append(f"| {arm} | {values} |")
        return "\n".join(lines)


def _mean(values: Sequence[float]) -> float:
    return mean(values) if values else 0.0
