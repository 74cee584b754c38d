"""Memory of a whole server with all its processes: idle, and when a large workspace is indexed."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.corpus import make_workspace
from tests.bench.didchange import LINE
from tests.bench.peers import Peer, peers_here
from tests.bench.process import INITIALIZE, STET, ServerProcess, running
from tests.bench.statuses import index_is_ready, megabytes_at_rest
from tests.bench.table import Row, at_most

N_LINES = 1_000


def rows() -> Iterator[Row]:
    """Megabytes, each shared page counted once."""
    ours = _idle(Peer("Stet", STET))
    for peer in peers_here():
        bars = (at_most(90), at_most(45)) if peer.name == "bare pygls" else (None, None)
        yield Row("memory, idle", "MB", ours, _idle(peer), peer.name, *bars)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "ws"
        n_files = len(make_workspace(root))
        what = f"memory, {n_files:,} files indexed"
        yield Row(what, "MB", _indexed(root), must=at_most(300), aim=at_most(150))


def _idle(kind: Peer) -> float:
    """With one document open and nothing to do."""
    with running(kind.argv) as server:
        server.ask("initialize", kind.hello)
        server.notify("initialized", {})
        _open(server)
        return megabytes_at_rest(server)


def _indexed(root: Path) -> float:
    with running(STET) as server:
        server.ask("initialize", {**INITIALIZE, "rootUri": root.as_uri()})
        server.notify("initialized", {})
        _open(server)
        index_is_ready(server)
        return megabytes_at_rest(server)


def _open(server: ServerProcess) -> None:
    """Open a document, and wait until that is done."""
    document = {"uri": "file:///bench.txt", "languageId": "", "version": 0, "text": LINE * N_LINES}
    server.notify("textDocument/didOpen", {"textDocument": document})
    server.answer("test/crc", {"uri": "file:///bench.txt"})
