"""The search index on the source of the five largest packages installed here.

Ours is the whole way: the process of the index, asked as the server asks it. FTS5 is SQLite's index as
it comes, one row a file, in this process; ripgrep reads all files for each question and ranks nothing.
"""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from stet.index.search.state import Stage
from stet.workspace.disk_text import MAX_FILE_BYTES
from stet.workspace.uris import uri_of
from tests.bench.process import INITIALIZE, STET, running
from tests.bench.table import Bar, Row
from tests.support.indexed import Desk

N_PACKAGES = 5
COLD_BUDGET, SAVED_BUDGET = 10.0, 100.0
"""Seconds; milliseconds."""
MIDDLE_BUDGET, WORST_BUDGET = 15.0, 60.0
"""Milliseconds of a query, the median and the 99th of a hundred."""
MEMORY_BUDGET = 300.0
"""Megabytes, of the process of the index and of this one."""
STROKES = 400
_DOC = re.compile(r'"""([A-Z][^"\n]{25,120}[.])')
_BUDGET = Bar(1, at_least=False)


def rows() -> Iterator[Row]:
    """Everything about one workspace."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "ws"
        texts = _workspace(root)
        os.environ["XDG_CACHE_HOME"] = f"{scratch}/cache"
        questions = _questions(texts)
        yield from asyncio.run(_indexed(root, questions, len(texts)))
        seconds, times = _plain(texts, questions)
        yield Row("FTS5: the same files, cold", "s", seconds, COLD_BUDGET, "budget of ours")
        yield Row("FTS5: a query, median", "ms", times, MIDDLE_BUDGET, "budget of ours")
        if (rg := _installed("rg")) is not None:
            yield Row(
                "ripgrep: a query, median",
                "ms",
                _ripgrep(rg, root, questions),
                MIDDLE_BUDGET,
                "budget of ours",
            )
        idle, busy = _strokes(root)
        yield Row(
            "a keystroke's p99 while indexing", "ms", busy, idle, "idle", Bar(2, at_least=False)
        )


def _workspace(root: Path) -> dict[str, str]:
    """Copy the packages with the most files; their texts by name."""
    site = Path(sysconfig.get_paths()["purelib"])
    packages = [
        (len(files), folder)
        for folder in site.iterdir()
        if folder.is_dir() and (files := list(folder.rglob("*.py*")))
    ]
    texts: dict[str, str] = {}
    for _, folder in sorted(packages, reverse=True)[:N_PACKAGES]:
        for path in sorted(folder.rglob("*")):
            if path.suffix not in {".py", ".pyi", ".md", ".rst", ".txt", ".c", ".h", ".toml"}:
                continue
            name = path.relative_to(site)
            text = path.read_text(errors="replace")
            if not text or len(text.encode()) > MAX_FILE_BYTES or "\0" in text:
                continue
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            texts[str(name)] = text
    return texts


def _questions(texts: dict[str, str]) -> list[str]:
    """First sentences of docstrings, a hundred from all over."""
    found = [match[1] for name in sorted(texts) for match in _DOC.finditer(texts[name])]
    return found[:: max(1, len(found) // 100)][:100]


async def _indexed(root: Path, questions: Sequence[str], n_files: int) -> list[Row]:
    desk = Desk(root)
    last = root / "zzz" / "last.md"
    await asyncio.to_thread(last.parent.mkdir)
    await asyncio.to_thread(last.write_text, "# Xylophagous\n")
    started = perf_counter()
    await desk.index.keep_up(desk.workspace.snapshot())
    await desk.until(lambda state: state.files == n_files + 1)
    cold = perf_counter() - started
    await desk.until(lambda state: state.stage is Stage.READY and state.unread == 0)
    ready = perf_counter() - started
    saved = [await _saved(desk, last, number) for number in range(20)]
    times = []
    for question in questions:
        begun = perf_counter()
        await desk.ask(question, limit=10)
        times.append(1000 * (perf_counter() - begun))
    process = desk.index._process
    assert process is not None
    memory = _megabytes(process.pid)
    n_chunks = desk.index.state.chunks
    await desk.close()
    budget = "budget"
    return [
        Row(f"{n_files:,} files cold, to be found by words", "s", cold, COLD_BUDGET, budget, _BUDGET),
        Row("the same, and by meaning", "s", ready, COLD_BUDGET, budget),
        Row("a saved file is found", "ms", median(saved), SAVED_BUDGET, budget, _BUDGET),
        Row(f"a query over {n_chunks:,} passages, median", "ms", median(times), MIDDLE_BUDGET, budget, _BUDGET),
        Row("the same, the 99th of 100", "ms", quantiles(times, n=100)[-1], WORST_BUDGET, budget, _BUDGET),
        Row("memory of the index", "MB", memory, MEMORY_BUDGET, budget, _BUDGET),
    ]  # fmt: skip


async def _saved(desk: Desk, path: Path, number: int) -> float:
    """Milliseconds until what was just written is found."""
    word = f"quixotic{chr(97 + number)}"
    await asyncio.to_thread(path.write_text, f"# Xylophagous\n\n{word}\n")
    begun = perf_counter()
    desk.index.changed([uri_of(path)])
    while not any(each.lexical_rank for each in (await desk.ask(word, limit=1)).passages):
        pass
    return 1000 * (perf_counter() - begun)


def _megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) / 1000


def _plain(texts: dict[str, str], questions: Sequence[str]) -> tuple[float, float]:
    """Seconds to index, and the median of a query in milliseconds."""
    started = perf_counter()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE files USING fts5 (name, body)")
    database.executemany("INSERT INTO files VALUES (?, ?)", texts.items())
    seconds = perf_counter() - started
    times = []
    for question in questions:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        begun = perf_counter()
        sql = "SELECT name FROM files WHERE files MATCH ? ORDER BY rank LIMIT 10"
        database.execute(sql, (words,)).fetchall()
        times.append(1000 * (perf_counter() - begun))
    return seconds, median(times)


def _installed(program: str) -> str | None:
    """Where a program is: beside this Python, where a package may have put it, or on the path."""
    beside = shutil.which(program, path=str(Path(sys.executable).parent))
    return beside or shutil.which(program)


def _ripgrep(rg: str, root: Path, questions: Sequence[str]) -> float:
    times = []
    for question in questions[:30]:
        pattern = "|".join(re.findall(r"\w{4,}", question))
        begun = perf_counter()
        subprocess.run([rg, "-l", "-i", pattern, str(root)], capture_output=True, check=False)
        times.append(1000 * (perf_counter() - begun))
    return median(times)


def _strokes(root: Path) -> tuple[float, float]:
    """The 99th percentile of a keystroke and its answer in milliseconds, idle and while indexing."""
    hello = {**INITIALIZE, "rootUri": uri_of(root)}
    with running(STET) as server:
        server.ask("initialize", hello)
        server.notify("initialized", {})
        uri = uri_of(root / "open.md")
        document = {
            "uri": uri,
            "languageId": "markdown",
            "version": 0,
            "text": "one line\n" * 10_000,
        }
        server.notify("textDocument/didOpen", {"textDocument": document})
        while not _status(server)["ready"]:
            pass
        # What is imported late is imported now: typing, being asked, building anew and its state.
        _p99(server, uri, 0)
        _rebuild(server)
        _p99(server, uri, STROKES)
        while _status(server)["index"]["state"] != "ready":
            pass
        idle = _p99(server, uri, 2 * STROKES)
        _rebuild(server)
        busy = _p99(server, uri, 3 * STROKES)
        state = _status(server)["index"]["state"]
        assert state == "building", f"the index was {state} before all keys were typed"
    return idle, busy


def _rebuild(server: Any) -> None:
    """Have the index begun anew, and wait until it is at work."""
    server.ask("workspace/executeCommand", {"command": "stet.reindex"})
    while _status(server)["index"]["files"] == 0:
        pass


def _status(server: Any) -> Any:
    return server.ask("workspace/executeCommand", {"command": "stet.status"})


def _p99(server: Any, uri: str, version: int) -> float:
    times = []
    for number in range(STROKES):
        place = {"line": 5_000 + number % 100, "character": 3}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        versioned = {"uri": uri, "version": version + number + 1}
        begun = perf_counter()
        server.notify(
            "textDocument/didChange", {"textDocument": versioned, "contentChanges": [change]}
        )
        server.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        times.append(1000 * (perf_counter() - begun))
    return quantiles(times, n=100)[-1]
