"""Time from the start of the process to the answer of `initialize`, for which a user waits."""

from collections.abc import Iterator
from functools import partial
from time import perf_counter

from tests.bench.peers import Peer, peers_here
from tests.bench.process import STET, running
from tests.bench.table import Row, at_most, medians, times_at_most

OURS = Peer("Stet", STET)
ROUNDS = 9


def rows() -> Iterator[Row]:
    """Yield the milliseconds to the first answer."""
    peers = peers_here()
    ours, *others = medians(ROUNDS, *(partial(milliseconds, each) for each in (OURS, *peers)))
    what = "start to the answer of `initialize`"
    for peer, theirs in zip(peers, others, strict=True):
        bars = (times_at_most(1.2), at_most(100)) if peer.name == "bare pygls" else (None, None)
        yield Row(what, "ms", ours, theirs, peer.name, *bars)


def milliseconds(kind: Peer) -> float:
    """Measure one start."""
    started = perf_counter()
    with running(kind.argv) as server:
        server.ask("initialize", kind.hello)
        return 1000 * (perf_counter() - started)
