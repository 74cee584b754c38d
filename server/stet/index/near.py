"""Names of files that are like a name that is none, for a message that helps."""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable

from stet.index.files import folded

MIN_LIKENESS = 0.45
"""Dice's coefficient of the trigrams of two names, from which on they are alike."""


class NearNames:
    """A table of file names by their trigrams: asking costs only what the names share."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._n_trigrams: list[int] = []
        self._with: dict[str, list[int]] = defaultdict(list)
        for nth, name in enumerate(self._names):
            trigrams = _trigrams(name)
            self._n_trigrams.append(len(trigrams))
            for trigram in trigrams:
                self._with[trigram].append(nth)

    def near(self, wanted: str, limit: int = 3) -> tuple[str, ...]:
        """The names most like `wanted`, the best first; folders and endings do not count."""
        trigrams = _trigrams(wanted)
        shared = Counter(nth for trigram in trigrams for nth in self._with.get(trigram, ()))
        alike = [
            (2 * n / (len(trigrams) + self._n_trigrams[nth]), self._names[nth])
            for nth, n in shared.items()
        ]
        found = sorted(
            (each for each in alike if each[0] >= MIN_LIKENESS),
            key=lambda each: (-each[0], len(each[1]), each[1]),
        )
        return tuple(name for _, name in found[:limit])


def _trigrams(name: str) -> frozenset[str]:
    stem = posixpath.splitext(posixpath.basename(name.strip("./")))[0] or name
    text = f"  {folded(stem).replace('_', '-').replace(' ', '-')} "
    return frozenset(text[at : at + 3] for at in range(len(text) - 2))
