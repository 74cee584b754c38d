"""From the start of the process to the answer of `initialize`: what a user waits for."""

from collections.abc import Iterator, Sequence
from time import perf_counter

from tests.bench.process import BARE, INITIALIZE, STET, running
from tests.bench.table import Bar, Row, medians

ROUNDS = 15


def rows() -> Iterator[Row]:
    """Milliseconds to the first answer."""
    ours, peer = medians(ROUNDS, lambda: seconds(STET), lambda: seconds(BARE))
    bar = Bar(1.2, at_least=False)
    yield Row("start to `initialize` answered", "ms", ours * 1000, peer * 1000, "bare pygls", bar)


def seconds(argv: Sequence[str]) -> float:
    """Seconds of one start."""
    started = perf_counter()
    with running(argv) as server:
        server.ask("initialize", INITIALIZE)
        return perf_counter() - started
