"""Keystrokes per second in documents of three sizes; the text is verified after each run."""

import random
import zlib
from collections.abc import Iterator
from functools import partial
from time import perf_counter

from tests.bench.peers import Peer, peers_here
from tests.bench.process import VERIFIED, encoded, running
from tests.bench.table import Row, at_least, medians, times_at_least, times_at_most

URI = "file:///bench.txt"
LINE = "the quick brown fox jumps over the lazy dog\n"
OURS = Peer("Stet", VERIFIED)
ROUNDS = 3
N_OURS = 20_000
SIZES = (100, 10_000, 100_000)
SPEED = {"bare pygls": 4_000_000, "Node": 10_000_000, "Copilot": 1_000_000}
"""Approximate changes per second times lines for each peer, to send changes for half a second."""


def rows() -> Iterator[Row]:
    """Yield changes per second, and the cost of 100,000 lines compared with 100."""
    costs: list[float] = []
    for n_lines in SIZES:
        peers = peers_here()
        ours, *others = medians(
            ROUNDS,
            partial(rate, OURS, n_lines, N_OURS),
            *(partial(rate, peer, n_lines, n_changes(peer, n_lines)) for peer in peers),
        )
        for peer, theirs in zip(peers, others, strict=True):
            is_main = n_lines == 10_000 and peer.name == "bare pygls"
            must, aim = (times_at_least(20), times_at_least(200)) if is_main else (None, None)
            what = f"didChange, {n_lines:,} lines"
            yield Row(what, "changes/s", ours, theirs, peer.name, must, aim, n_lines == 100)
        if n_lines > 100:
            fast = at_least(100_000 if n_lines == 10_000 else 80_000)
            yield Row(f"didChange, {n_lines:,} lines, ours alone", "changes/s", ours, aim=fast)
        costs.append(1e6 / ours)
    what, bars = "a change at 100,000 lines", (times_at_most(3), times_at_most(2))
    yield Row(what, "µs", costs[-1], costs[0], "ours at 100 lines", *bars)


def n_changes(peer: Peer, n_lines: int) -> int:
    """Return the number of changes to send to a peer."""
    return min(4_000, max(10, SPEED[peer.name] // n_lines // 2))


def rate(server_kind: Peer, n_lines: int, n_changes: int) -> float:
    """Measure changes per second, from the first byte written to the answer after the last change;
    verify the text if the server reports it.
    """
    rng = random.Random(n_lines)
    lines = [LINE] * n_lines
    batch = bytearray()
    for version in range(1, n_changes + 1):
        line, column = rng.randrange(n_lines), rng.randrange(len(LINE))
        letter = chr(97 + version % 26)
        lines[line] = lines[line][:column] + letter + lines[line][column:]
        batch += _change(version, line, column, letter)
    with running(server_kind.argv) as server:
        server.ask("initialize", server_kind.hello)
        server.notify("initialized", {})
        document = {"uri": URI, "languageId": "", "version": 0, "text": LINE * n_lines}
        server.notify("textDocument/didOpen", {"textDocument": document})
        server.answer("test/crc", {"uri": URI})
        started = perf_counter()
        server.write(bytes(batch))
        found = server.answer("test/crc", {"uri": URI})
        seconds = perf_counter() - started
    if server_kind.reports_text:
        right = zlib.crc32("".join(lines).encode())
        assert found["result"] == right, f"{server_kind.name}: the text is wrong"
    return n_changes / seconds


def _change(version: int, line: int, column: int, text: str) -> bytes:
    place = {"line": line, "character": column}
    changes = [{"range": {"start": place, "end": place}, "text": text}]
    document = {"uri": URI, "version": version}
    params = {"textDocument": document, "contentChanges": changes}
    return encoded({"method": "textDocument/didChange", "params": params})
