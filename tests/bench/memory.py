"""Memory of a whole server with all its processes: idle, and with a large workspace indexed.

Ours has a model and has answered a question, so that all parts of a user's server are loaded.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.corpus import make_workspace
from tests.bench.didchange import LINE
from tests.bench.peers import Peer, peers_here
from tests.bench.process import INITIALIZE, STET, ServerProcess, running
from tests.bench.provider import provided
from tests.bench.statuses import SECONDS_BETWEEN, command, index_is_ready, megabytes_at_rest
from tests.bench.table import Row, at_most

N_LINES = 1_000


def rows() -> Iterator[Row]:
    """Yield megabytes; each shared page counts once."""
    ours = _ours(None)
    for peer in peers_here():
        bars = (at_most(90), at_most(45)) if peer.name == "bare pygls" else (None, None)
        yield Row("memory, idle", "MB", ours, _idle(peer), peer.name, *bars)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "ws"
        n_files = len(make_workspace(root))
        what = f"memory, {n_files:,} files indexed"
        yield Row(what, "MB", _ours(root), must=at_most(300), aim=at_most(150))


def _idle(peer: Peer) -> float:
    """Measure with one document open and nothing to do."""
    with running(peer.argv) as server:
        server.ask("initialize", peer.hello)
        server.notify("initialized", {})
        _open(server)
        return megabytes_at_rest(server)


def _ours(root: Path | None) -> float:
    """Measure our server after a question, with the whole workspace indexed if `root` is given."""
    with provided(1) as model, running(STET, model) as server:
        server.ask("initialize", {**INITIALIZE, "rootUri": root and root.as_uri()})
        server.notify("initialized", {})
        _open(server)
        if root is not None:
            index_is_ready(server)
        turn = command(server, "stet.ask", prompt="Tell me all")["turn"]
        while (ended := command(server, "stet.turn", turn=turn))["state"] in {"queued", "running"}:
            server.is_quiet(SECONDS_BETWEEN)
        assert ended["answer"], ended["error"]
        return megabytes_at_rest(server)


def _open(server: ServerProcess) -> None:
    """Open a document, and wait until the server has processed it."""
    document = {"uri": "file:///bench.txt", "languageId": "", "version": 0, "text": LINE * N_LINES}
    server.notify("textDocument/didOpen", {"textDocument": document})
    server.answer("test/crc", {"uri": "file:///bench.txt"})
