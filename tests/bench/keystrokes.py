"""Time from a keystroke to the next answer: idle, and with a streaming turn and a busy index.

The document has ten thousand lines. Peers are measured idle: they have neither turns nor an index.
Copilot refuses the unknown request, after it has processed the keystroke.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from tests.bench.corpus import make_workspace
from tests.bench.didchange import LINE
from tests.bench.peers import peers_here
from tests.bench.process import INITIALIZE, STET, ServerProcess, running
from tests.bench.provider import provided
from tests.bench.statuses import command, index_is_begun_anew, index_is_ready
from tests.bench.table import Row, at_most

N_LINES = 10_000
STROKES = 1_000
PEER_STROKES = 300
URI = "file:///bench.txt"
SETTINGS = {"context": {"warnTokens": 100_000}}
"""Two thousand lines of the document are sent with the question: no user can confirm that."""
N_CHUNKS, PAUSE = 20_000, 0.005
"""The chunks of the streamed answer: 200 per second, for longer than the typing takes."""


def rows() -> Iterator[Row]:
    """Yield the 99th percentiles in milliseconds."""
    idle, busy = _ours()
    what = "keystroke to the next answer, p99"
    yield Row(f"{what}, busy", "ms", busy, idle, "ours idle", at_most(5), at_most(2))
    for peer in peers_here():
        with running(peer.argv) as server:
            server.ask("initialize", peer.hello)
            server.notify("initialized", {})
            _open(server)
            _p99(server, 0, PEER_STROKES)
            theirs = _p99(server, PEER_STROKES, PEER_STROKES)
        aim = at_most(0.8) if peer.name == "bare pygls" else None
        yield Row(f"{what}, idle", "ms", idle, theirs, peer.name, aim=aim)


def _ours() -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as scratch, provided(1, N_CHUNKS, PAUSE) as there:
        root = Path(scratch) / "ws"
        make_workspace(root)
        with running(STET, there) as server:
            hello = {**INITIALIZE, "rootUri": root.as_uri(), "initializationOptions": SETTINGS}
            server.ask("initialize", hello)
            server.notify("initialized", {})
            _open(server)
            index_is_ready(server)
            _p99(server, 0, STROKES)  # warm up: late imports happen here
            idle = _p99(server, STROKES, STROKES)
            turn = command(server, "stet.ask", prompt="Tell me all")["turn"]
            while "writing" not in server.shown:
                state = command(server, "stet.turn", turn=turn)["state"]
                assert state != "waiting", "the turn asks something before it streams"
            index_is_begun_anew(server)
            _p99(server, 2 * STROKES, 50)
            busy = _p99(server, 2 * STROKES + 50, STROKES)
            _is_busy(server, turn)
    return idle, busy


def _is_busy(server: ServerProcess, turn: str) -> None:
    """Check that the server was busy until the last key."""
    index = command(server, "stet.status")["index"]["state"]
    assert index == "building", f"the index was {index} before all keys were typed"
    state = command(server, "stet.turn", turn=turn)["state"]
    assert state == "running", f"the turn was {state} before all keys were typed"


def _open(server: ServerProcess) -> None:
    document = {"uri": URI, "languageId": "", "version": 0, "text": LINE * N_LINES}
    server.notify("textDocument/didOpen", {"textDocument": document})
    server.answer("textDocument/codeLens", {"textDocument": {"uri": URI}})


def _p99(server: ServerProcess, version: int, n_strokes: int) -> float:
    times = []
    for number in range(n_strokes):
        place = {"line": 5_000 + number % 100, "character": 3}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        versioned = {"uri": URI, "version": version + number + 1}
        begun = perf_counter()
        server.notify(
            "textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]}
        )
        server.answer("textDocument/codeLens", {"textDocument": {"uri": URI}})
        times.append(1000 * (perf_counter() - begun))
    return quantiles(times, n=100)[-1]
