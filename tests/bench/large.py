"""A question about a very long open file, just after a change in it: duration, the server's longest
silence, and the memory beyond that of the open file.

The model reads around the caret and answers; or it edits the text, and the edit is accepted.
"""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.bench.process import INITIALIZE, STET, ServerProcess, encoded, running
from tests.bench.statuses import command, is_ready, megabytes_at_rest
from tests.bench.table import Row, at_most
from tests.support.live_turns import calls, done, edit

SIZES = (20, 200)
"""Sizes of the file, in MB."""
EDITED = 20
"""The size of the file that is edited, in MB."""
RUNS = 3
"""The smallest value of each figure counts: other work of the machine only adds to it."""
LINE = "def handler_{n:07d}(request): return respond(request, {n:07d})\n"
N_AROUND = 40
_RESET_PEAK = "5"
"""The value that makes Linux reset the peak resident memory (`proc_pid_clear_refs(5)`)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The measurements of one question.

    Attributes:
        seconds: The time from the question to the end of the turn.
        silence: The longest response time meanwhile, in milliseconds.
        texts: The added memory at its peak, as a multiple of the text.
        accepted: The longest response time during the accept, in milliseconds; 0 without an edit.
    """

    seconds: float
    silence: float
    texts: float
    accepted: float = 0.0


def rows() -> Iterator[Row]:
    """Yield three figures for each size, and four for an edit."""
    for size in SIZES:
        found = [_asked(size) for _ in range(RUNS)]
        what = f"a question about an open file of {size} MB"
        yield Row(what, "s", min(one.seconds for one in found), must=at_most(3), aim=at_most(1))
        silence = min(one.silence for one in found)
        yield Row(f"{what}: longest silence", "ms", silence, must=at_most(100), aim=at_most(50))
        texts = min(one.texts for one in found)
        yield Row(f"{what}: memory it adds", "texts", texts, must=at_most(1.5), aim=at_most(0.2))
        if size == EDITED:
            yield from _edit_rows()


def _edit_rows() -> Iterator[Row]:
    found = [_asked(EDITED, edits=True) for _ in range(RUNS)]
    what = f"an edit in an open file of {EDITED} MB"
    yield Row(what, "s", min(one.seconds for one in found), must=at_most(3), aim=at_most(1))
    silence = min(one.silence for one in found)
    yield Row(f"{what}: longest silence", "ms", silence, must=at_most(100), aim=at_most(50))
    megabytes = min(one.texts for one in found) * EDITED
    yield Row(f"{what}: memory it adds, peak", "MB", megabytes, must=at_most(400))
    accepted = min(one.accepted for one in found)
    what = f"accepted in an open file of {EDITED} MB"
    yield Row(f"{what}: longest silence", "ms", accepted, must=at_most(100), aim=at_most(50))


def _asked(megabytes: int, *, edits: bool = False) -> Asked:
    n_lines = megabytes * 1_000_000 // len(LINE.format(n=0))
    middle = n_lines // 2
    with tempfile.TemporaryDirectory() as home:
        root, script = Path(home) / "ws", Path(home) / "script.json"
        root.mkdir()
        (root / "big.py").write_text("other\n")
        read = (
            "read_file",
            {"file": "big.py", "start_line": middle, "end_line": middle + N_AROUND},
        )
        wanted = edit("big.py", LINE.format(n=middle), f"handler_{middle} = None\n")
        script.write_text(
            json.dumps([calls(read), *([calls(wanted)] if edits else []), done("It is long.")])
        )
        env = {"XDG_STATE_HOME": home, "HOME": home, "STET_SCRIPTED_MODEL": str(script)}
        with running(STET, env) as server:
            options = {"context": {"warnTokens": 1_000_000}}
            hello = {"rootUri": root.as_uri(), "initializationOptions": options}
            server.ask("initialize", {**INITIALIZE, **hello})
            server.notify("initialized", {})
            is_ready(server)
            uri = (root / "big.py").as_uri()
            _open(server, uri, "".join(LINE.format(n=n) for n in range(n_lines)))
            _ = megabytes_at_rest(server)
            Path(f"/proc/{server.pid}/clear_refs").write_text(_RESET_PEAK)
            before = _megabytes(server, "VmRSS")
            seconds, silence = _answered(server, uri, middle)
            accepted = _accepted(server, uri) if edits else 0.0
            added = max(0.0, _megabytes(server, "VmHWM") - before)
            return Asked(seconds, 1000 * silence, added / megabytes, 1000 * accepted)


def _open(server: ServerProcess, uri: str, text: str) -> None:
    """Open the file and type a letter into it."""
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    server.notify("textDocument/didOpen", {"textDocument": document})
    place = {"line": 3, "character": 0}
    change = {"range": {"start": place, "end": place}, "text": "x"}
    changed = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [change]}
    server.notify("textDocument/didChange", changed)
    _ = server.answer("test/none", {})


def _answered(server: ServerProcess, uri: str, line: int) -> tuple[float, float]:
    """Return the seconds that a question takes, and the longest silence meanwhile."""
    began = perf_counter()
    turn = command(server, "stet.ask", prompt="What is this?", uri=uri, line=line)["turn"]
    silence = perf_counter() - began
    while True:
        asked = perf_counter()
        ended = command(server, "stet.turn", turn=turn)
        silence = max(silence, perf_counter() - asked)
        if ended["state"] not in {"queued", "running"}:
            assert ended["summary"], ended["error"]
            return perf_counter() - began, silence
        server.is_quiet(0.002)


def _accepted(server: ServerProcess, uri: str) -> float:
    """Return the longest silence, in seconds, from accepting the one hunk until the text has it."""
    version = 2

    def apply(message: dict[str, Any]) -> None:
        nonlocal version
        version += 1
        [document] = message["params"]["edit"]["documentChanges"]
        [one] = document["edits"]
        change = {"range": one["range"], "text": one["newText"]}
        changed = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}
        server.notify("textDocument/didChange", changed)
        server.write(encoded({"id": message["id"], "result": {"applied": True}}))

    server.takes_edits = apply
    [hunk] = command(server, "stet.proposals")
    silence = 0.0
    command(server, "stet.accept", hunk=hunk["hunk"])
    while True:
        asked = perf_counter()
        [hunk] = command(server, "stet.proposals")
        silence = max(silence, perf_counter() - asked)
        if hunk["state"] == "accepted":
            return silence
        server.is_quiet(0.002)


def _megabytes(server: ServerProcess, name: str) -> float:
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1_000
