"""Names of files that are like a name that is none, for a message that helps."""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher

from stet.index.file_table import fold_name

MIN_LIKENESS = 0.45
"""Dice's coefficient of the trigrams of two names, from which on they are alike."""
MIN_SAME = 0.7
"""The same for the letters that two names share in order: two letters changed about leave a short
name hardly a trigram."""
_N_COMPARED = 20
"""Names whose letters are compared: those that share the most trigrams."""


class NameSuggestions:
    """A table of file names by their trigrams: asking costs only what the names share."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._stems = [_stem(name) for name in self._names]
        self._n_trigrams: list[int] = []
        self._with: dict[str, list[int]] = defaultdict(list)
        for nth, stem in enumerate(self._stems):
            trigrams = _trigrams(stem)
            self._n_trigrams.append(len(trigrams))
            for trigram in trigrams:
                self._with[trigram].append(nth)

    def suggest(self, query: str, limit: int = 3) -> tuple[str, ...]:
        """The names most like `query`, the best first; folders and endings do not count."""
        stem = _stem(query)
        trigrams = _trigrams(stem)
        shared = Counter(nth for trigram in trigrams for nth in self._with.get(trigram, ()))
        alike = {nth: 2 * n / (len(trigrams) + self._n_trigrams[nth]) for nth, n in shared.items()}
        best = sorted(alike, key=lambda nth: (-alike[nth], len(self._names[nth]), self._names[nth]))
        letters = SequenceMatcher(autojunk=False)
        letters.set_seq2(stem[:100])
        for nth in best[:_N_COMPARED]:
            letters.set_seq1(self._stems[nth][:100])
            if alike[nth] < MIN_LIKENESS and (same := letters.ratio()) >= MIN_SAME:
                alike[nth] = same
        found = sorted(
            (nth for nth in best if alike[nth] >= MIN_LIKENESS),
            key=lambda nth: (-alike[nth], len(self._names[nth]), self._names[nth]),
        )
        return tuple(self._names[nth] for nth in found[:limit])


def _stem(name: str) -> str:
    stem = posixpath.splitext(posixpath.basename(name.strip("./")))[0] or name
    return fold_name(stem).replace("_", "-").replace(" ", "-")


def _trigrams(stem: str) -> frozenset[str]:
    text = f"  {stem} "
    return frozenset(text[at : at + 3] for at in range(len(text) - 2))
