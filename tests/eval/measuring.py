"""The questions asked of all arms, and the results."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from tests.eval.arms import HYBRID, PLAIN, PLAIN_FILES, Ours, Plain
from tests.eval.corpus import Change, Corpus, Question
from tests.eval.fit import Example, example_of
from tests.eval.scores import Scores


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of all arms.

    Attributes:
        scores: The scores of each arm.
        seconds: The duration of each hybrid query, sorted.
        n_chunks: The number of passages in the largest index.
    """

    scores: Scores
    seconds: list[float]
    n_chunks: int

    def report(self) -> str:
        """Format the results as Markdown."""
        held, tuning = (self.scores.n_asked(HYBRID, held=held) for held in (True, False))
        speed = ", ".join(
            f"p{q} {1000 * self.seconds[len(self.seconds) * q // 100]:.1f} ms" for q in (50, 99)
        )
        return (
            f"{held} questions held out and {tuning} for tuning; up to {self.n_chunks} passages;"
            f" a hybrid query: {speed}\n\n{self.scores.table()}"
        )


def measured(corpora: Sequence[Corpus], sample: int) -> Measured:
    """Measure all arms on all corpora together; `sample` questions of each corpus and half."""
    scores = Scores()
    seconds: list[float] = []
    n_chunks = 0
    for corpus in corpora:
        ours, plain, whole = Ours(), Plain(whole_files=False), Plain(whole_files=True)
        answerers = (ours, plain) if corpus.by_line else (ours, plain, whole)
        arms = {**ours.arms(), PLAIN: plain.ask}
        arms |= {} if corpus.by_line else {PLAIN_FILES: whole.ask}
        for step in corpus.steps(sample):
            if isinstance(step, Change):
                for each in answerers:
                    each.change(step)
                continue
            for arm, ask in arms.items():
                scores.add(arm, step, ask(step))
        seconds += ours.seconds
        n_chunks = max(n_chunks, ours.engine.n_chunks)
    return Measured(scores, sorted(seconds), n_chunks)


def examples_in(corpus: Corpus, sample: int) -> list[Example]:
    """Return the examples of the questions that are for tuning."""
    ours = Ours()
    found: list[Example] = []
    start = perf_counter()
    for step in corpus.steps(sample):
        if isinstance(step, Question):
            if not step.held:
                example = example_of(ours.engine, step)
                found += [example] if example is not None else []
        else:
            ours.change(step)
    sys.stderr.write(f"{len(found)} examples in {perf_counter() - start:.0f} s\n")
    return found
