"""Keystrokes a second, in documents of three sizes; the text is verified after each run."""

import random
import zlib
from collections.abc import Iterator, Sequence
from time import perf_counter

from tests.bench.process import BARE, INITIALIZE, VERIFIED, encoded, running
from tests.bench.table import Bar, Row, medians

URI = "file:///bench.txt"
LINE = "the quick brown fox jumps over the lazy dog\n"
ROUNDS = 5
# Lines, our changes, the peer's changes: as many as take it a second or so.
SIZES = ((100, 20_000, 4_000), (10_000, 20_000, 500), (100_000, 20_000, 40))


def rows() -> Iterator[Row]:
    """Changes per second, and what a hundred thousand lines cost beside a hundred."""
    costs: list[tuple[float, float]] = []
    for n_lines, n_ours, n_peer in SIZES:
        ours, peer = medians(
            ROUNDS,
            lambda n=n_ours, lines=n_lines: rate(VERIFIED, lines, n),  # type: ignore[misc]
            lambda n=n_peer, lines=n_lines: rate(BARE, lines, n),  # type: ignore[misc]
        )
        bar = Bar(20, at_least=True) if n_lines == 10_000 else None
        yield Row(f"didChange, {n_lines:,} lines", "changes/s", ours, peer, "bare pygls", bar)
        costs.append((1e6 / ours, 1e6 / peer))
    (small, _), (large, _) = costs[0], costs[-1]
    bar = Bar(3, at_least=False)
    yield Row("a change at 100,000 lines, beside at 100", "µs", large, small, "ours at 100", bar)


def rate(argv: Sequence[str], n_lines: int, n_changes: int) -> float:
    """Changes per second, from the first byte written to the verified answer after the last."""
    rng = random.Random(n_lines)
    lines = [LINE] * n_lines
    batch = bytearray()
    for version in range(1, n_changes + 1):
        line, column = rng.randrange(n_lines), rng.randrange(len(LINE))
        letter = chr(97 + version % 26)
        lines[line] = lines[line][:column] + letter + lines[line][column:]
        batch += _change(version, line, column, letter)
    with running(argv) as server:
        server.ask("initialize", INITIALIZE)
        server.notify("initialized", {})
        document = {"uri": URI, "languageId": "", "version": 0, "text": LINE * n_lines}
        server.notify("textDocument/didOpen", {"textDocument": document})
        server.ask("test/crc", {"uri": URI})
        started = perf_counter()
        server.write(bytes(batch))
        found = server.ask("test/crc", {"uri": URI})
        seconds = perf_counter() - started
    assert found == zlib.crc32("".join(lines).encode()), f"{argv}: the text is wrong"
    return n_changes / seconds


def _change(version: int, line: int, column: int, text: str) -> bytes:
    place = {"line": line, "character": column}
    changes = [{"range": {"start": place, "end": place}, "text": text}]
    document = {"uri": URI, "version": version}
    params = {"textDocument": document, "contentChanges": changes}
    return encoded({"method": "textDocument/didChange", "params": params})
