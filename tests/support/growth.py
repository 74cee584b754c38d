"""A check that processor time grows about linearly with the length of a text."""

import time
from collections.abc import Callable

_FEW = 0.05
"""Seconds that are always tolerated, as they are mostly noise."""


def grows_evenly(work: Callable[[str], object], text: Callable[[int], str], size: int) -> bool:
    """Tell whether four times `size` takes less than nine times as long (quadratic: sixteen)."""

    def seconds(n: int) -> float:
        reported = text(n)
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            work(reported)
            best = min(best, time.process_time() - begun)
        return best

    return seconds(4 * size) < 9 * seconds(size) + _FEW
