"""Which line became which, where some lines were changed, added and taken away at once."""

from collections import Counter
from collections.abc import Iterator, Sequence

from stet.text.token_merge import TOKEN

_MAX_PAIRS = 2_500
"""Products of line counts up to which every line is compared with every other."""


def pair_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Which new line is a changed old one, as (new, old), 0-based, in order on both sides.

    The heaviest common subsequence by likeness (dynamic programming); in very long hunks only
    lines of the same number are compared. Lines that share less than half have no partner.
    """
    words, new_words = [_words(line) for line in old], [_words(line) for line in new]
    if len(old) * len(new) > _MAX_PAIRS:
        likely = enumerate(zip(words, new_words, strict=False))
        yield from ((i, i) for i, (one, other) in likely if _likeness(one, other))
        return
    likeness = [[_likeness(word, other) for other in new_words] for word in words]
    best = _best(likeness, len(new))
    i = j = 0
    while i < len(old) and j < len(new):
        if likeness[i][j] and best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
            yield j, i
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def _best(likeness: Sequence[Sequence[float]], n_new: int) -> list[list[float]]:
    """The weight of the heaviest common subsequence from each pair of lines on."""
    best = [[0.0] * (n_new + 1) for _ in range(len(likeness) + 1)]
    for i in range(len(likeness) - 1, -1, -1):
        for j in range(n_new - 1, -1, -1):
            paired = best[i + 1][j + 1] + likeness[i][j] if likeness[i][j] else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    return best


def _words(line: str) -> Counter[str]:
    """The words and signs of a line, each as often as it is there."""
    return Counter(TOKEN.findall(line.strip()))


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """How much two lines share, 0 to 1; 0 if less than half."""
    n_words = one.total() + other.total()
    likeness = 2 * (one & other).total() / n_words if n_words else 0.0
    return likeness if likeness >= 0.5 else 0.0
