"""Whether twice the text takes no more than about twice the time, by the processor's clock."""

import time
from collections.abc import Callable

_FEW = 0.05
"""Seconds below which nothing is compared: they are mostly the machine's."""


def grows_evenly(work: Callable[[str], object], text: Callable[[int], str], size: int) -> bool:
    """Whether four times `size` takes less than nine times as long; work of the square takes sixteen."""

    def seconds(n: int) -> float:
        reported = text(n)
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            work(reported)
            best = min(best, time.process_time() - begun)
        return best

    return seconds(4 * size) < 9 * seconds(size) + _FEW
