"""A long chat document while an answer streams into it: the server's silence and memory.

The document is open in an editor that applies every edit at once. The long part is text that the
user has written or pasted under their heading, or the answers of many turns.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.bench.process import INITIALIZE, STET, ServerProcess, encoded, running
from tests.bench.provider import provided
from tests.bench.statuses import command, is_ready
from tests.bench.table import Row, at_most, times_at_most

MEGABYTES = 20
N_PIECES = 150
PAUSE = 0.02
RUNS = 3
"""The run with the shortest silence counts: other work of the machine only lengthens it."""
N_LINES = 1_000, 100_000
N_KEYS = 15
"""Keys typed while each edit is in flight."""
LINE = "What a user writes into a chat document, line by line, is theirs.\n"


@dataclass(frozen=True, slots=True)
class Streamed:
    """The measurements of one streamed answer.

    Attributes:
        silence: The longest response time, in milliseconds.
        peak: The peak resident memory, in MB.
        per_piece: Processor time per edit of the document, in milliseconds.
    """

    silence: float
    peak: float
    per_piece: float


class Editor:
    """An editor with one open document, which applies every edit and only counts its version.

    Attributes:
        n_edits: The number of applied edits.
        n_keys: The number of typed keys.
        has_ended: Whether the end of the answer was among the edits.
    """

    def __init__(self, server: ServerProcess, uri: str, text: str, n_keys: int = 0) -> None:
        """Open `text`; type `n_keys` in the first line while each edit is in flight."""
        self.n_edits = self.n_keys = 0
        self._version = 0
        self._n_keys_each = n_keys
        self.has_ended = False
        self._server = server
        self._uri = uri
        document = {"uri": uri, "languageId": "markdown", "version": 0, "text": text}
        server.notify("textDocument/didOpen", {"textDocument": document})

    def asked(self, message: dict[str, Any]) -> None:
        """Type the keys, then apply the requested edit."""
        start = {"line": 0, "character": 0}
        for _ in range(self._n_keys_each):
            self._change([{"range": {"start": start, "end": start}, "text": "x"}])
            self.n_keys += 1
        edits = message["params"]["edit"]["documentChanges"][0]["edits"]
        self._server.write(encoded({"id": message["id"], "result": {"applied": True}}))
        self.n_edits += 1
        changes = [{"range": one["range"], "text": one["newText"]} for one in edits]
        self.has_ended |= any("*completed" in one["newText"] for one in edits)
        self._change(changes)

    def _change(self, changes: list[dict[str, Any]]) -> None:
        self._version += 1
        document = {"uri": self._uri, "version": self._version}
        self._server.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": changes}
        )


def rows() -> Iterator[Row]:
    """Yield the rows of a document of 20 MB, compared with an empty chat."""
    short = _best("# Chat\n\n## You\n\n")
    kinds = {"lines": _lines(), "one line": _one_line(), "many turns": _turns()}
    found = {name: _best(text) for name, text in kinds.items()}
    worst = max(one.silence for one in found.values())
    what = f"an answer in a chat of {MEGABYTES} MB"
    peer = (short.silence, "a new chat")
    yield Row(f"{what}: longest silence", "ms", worst, *peer, at_most(250), at_most(100))
    most = max(one.peak - short.peak for one in found.values())
    yield Row(f"{what}: memory it adds, peak", "MB", most, must=at_most(15 * MEGABYTES))
    few, many = (_seconds_for_key(n_lines) for n_lines in N_LINES)
    what = f"a key in a chat of {N_LINES[1]:,} lines while an answer comes"
    peer = (1000 * few, f"{N_LINES[0]:,} lines")
    yield Row(what, "ms of CPU", 1000 * many, *peer, must=times_at_most(2))
    for name, one in {"short": short, **found}.items():
        yield Row(f"{what}, {name}: silence", "ms", one.silence, in_detail=True)
        yield Row(f"{what}, {name}: peak memory", "MB", one.peak, in_detail=True)
        yield Row(f"{what}, {name}: work for a piece", "ms", one.per_piece, in_detail=True)


def _lines() -> str:
    return "# Chat\n\n## You\n\n" + LINE * (MEGABYTES * 1_000_000 // len(LINE))


def _one_line() -> str:
    return "# Chat\n\n## You\n\n" + LINE.rstrip() * (MEGABYTES * 1_000_000 // len(LINE)) + "\n"


def _turns() -> str:
    turn = "## You\n\nWhat?\n\n## Stet (t{})\n\n" + LINE * 100 + "\n*completed*\n\n"
    n_turns = MEGABYTES * 1_000_000 // len(turn)
    return "# Chat\n\n" + "".join(turn.format(1_000 + n) for n in range(n_turns)) + "## You\n\n"


def _best(text: str) -> Streamed:
    return min((_streamed(text) for _ in range(RUNS)), key=lambda one: one.silence)


def _streamed(text: str) -> Streamed:
    with _answering(text) as (server, editor):
        silence, worked = 0.0, _seconds_worked(server)
        while not editor.has_ended:
            began = perf_counter()
            _ = server.answer("test/none", {})
            silence = max(silence, perf_counter() - began)
            server.is_quiet(0.005)
        per_piece = (_seconds_worked(server) - worked) / editor.n_edits
        return Streamed(1000 * silence, _peak_megabytes(server), 1000 * per_piece)


def _seconds_for_key(n_lines: int) -> float:
    """Return the least processor time of the event loop for a key and its share of the answer."""
    return min(_seconds_for_key_once(n_lines) for _ in range(RUNS))


def _seconds_for_key_once(n_lines: int) -> float:
    with _answering("# Chat\n\n## You\n\n" + LINE * n_lines, N_KEYS) as (server, editor):
        worked = _loop_seconds_worked(server)
        while not editor.has_ended:
            _ = server.answer("test/none", {})
            server.is_quiet(0.05)
        _ = server.answer("test/none", {})
        return (_loop_seconds_worked(server) - worked) / editor.n_keys


@contextmanager
def _answering(text: str, n_keys: int = 0) -> Iterator[tuple[ServerProcess, Editor]]:
    """Run a server that begins to write an answer into a chat document with `text`."""
    with (
        tempfile.TemporaryDirectory() as home,
        provided(1, N_PIECES, PAUSE) as model,
        running(STET, {**model, "XDG_STATE_HOME": home, "HOME": home}) as server,
    ):
        root = Path(home) / "ws"
        root.mkdir()
        server.ask("initialize", {**INITIALIZE, "rootUri": root.as_uri()})
        server.notify("initialized", {})
        is_ready(server)
        page = command(server, "stet.openChat")
        editor = Editor(server, page["uri"], text, n_keys)
        server.takes_edits = editor.asked
        _ = command(server, "stet.ask", prompt="Tell me all", chat=page["chat"])
        _ = server.answer("test/none", {})
        yield server, editor


def _loop_seconds_worked(server: ServerProcess) -> float:
    """Return the processor time of the main thread, which runs the event loop."""
    return int(Path(f"/proc/{server.pid}/schedstat").read_text().split()[0]) / 1e9


def _seconds_worked(server: ServerProcess) -> float:
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _peak_megabytes(server: ServerProcess) -> float:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1_000
