"""The search index on the source of the five largest packages installed here.

Ours is the index process, with requests as the server sends them. FTS5 is SQLite's default index,
one row per file, in this process; ripgrep reads all files for each question and ranks nothing.
"""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from stet.search.index_state import Stage
from stet.workspace.uris import uri_of
from tests.bench.corpus import make_workspace
from tests.bench.table import Row, at_most
from tests.support.indexed_workspace import IndexedWorkspace

PATIENCE = 600
"""Seconds: a slow search is measured, instead of ending the run."""
_DOC = re.compile(r'"""([A-Z][^"\n]{25,120}[.])')


def rows() -> Iterator[Row]:
    """Yield all rows, measured on one workspace."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "ws"
        texts = make_workspace(root)
        os.environ["XDG_CACHE_HOME"] = f"{scratch}/cache"
        try:
            yield from asyncio.run(_indexed(root, texts))
        finally:
            del os.environ["XDG_CACHE_HOME"]
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before


def _questions(texts: dict[str, str]) -> list[str]:
    """Take a hundred first sentences of docstrings from all files."""
    found = [match[1] for name in sorted(texts) for match in _DOC.finditer(texts[name])]
    return found[:: max(1, len(found) // 100)][:100]


async def _indexed(root: Path, texts: dict[str, str]) -> list[Row]:
    questions = _questions(texts)
    plain_seconds, plain_query = await asyncio.to_thread(_plain, texts, questions)
    workspace = IndexedWorkspace(root)
    last = root / "zzz" / "last.md"
    await asyncio.to_thread(last.parent.mkdir)
    await asyncio.to_thread(last.write_text, "# Xylophagous\n")
    started = perf_counter()
    await workspace.index.ensure_current(workspace.workspace.snapshot())
    await workspace.until(lambda state: state.files == len(texts) + 1, seconds=PATIENCE)
    cold = perf_counter() - started
    await workspace.until(
        lambda state: state.stage is Stage.READY and state.unread == 0, seconds=PATIENCE
    )
    ready = perf_counter() - started
    saved = [await _saved(workspace, last, number) for number in range(20)]
    times = []
    for question in questions:
        begun = perf_counter()
        await workspace.ask(question, limit=10)
        times.append(1000 * (perf_counter() - begun))
    process = workspace.index._process
    assert process is not None
    memory = _megabytes(process.pid)
    n_chunks = workspace.index.state.chunks
    await workspace.close()
    query, plain = f"a hybrid query over {n_chunks:,} passages", "FTS5, files"
    files = f"{len(texts):,} files, cold"
    made = [
        Row(f"{files}, to be found", "s", cold, plain_seconds, plain, at_most(10), at_most(2)),
        Row(f"{files}, by meaning too", "s", ready, in_detail=True),
        Row("a saved file is found", "ms", median(saved), must=at_most(100), aim=at_most(20)),
        Row(f"{query}, p50", "ms", median(times), plain_query, plain, at_most(15), at_most(3)),
        Row(f"{query}, p99", "ms", _p99(times), must=at_most(60), aim=at_most(15)),
        Row("memory of the index's process, at most", "MB", memory, in_detail=True),
    ]
    if (program := _installed("rg")) is not None:
        unranked = await asyncio.to_thread(_ripgrep, program, root, questions)
        made.append(Row(f"{query}, p50", "ms", median(times), unranked, "ripgrep, unranked"))
    return made


def _p99(times: list[float]) -> float:
    return quantiles(times, n=100)[-1]


async def _saved(workspace: IndexedWorkspace, path: Path, number: int) -> float:
    """Return the milliseconds until newly written text is found."""
    word = f"quixotic{chr(97 + number)}"
    await asyncio.to_thread(path.write_text, f"# Xylophagous\n\n{word}\n")
    begun = perf_counter()
    workspace.index.changed([uri_of(path)])
    while not any(each.lexical_rank for each in (await workspace.ask(word, limit=1)).passages):
        pass
    return 1000 * (perf_counter() - begun)


def _megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) / 1000


def _plain(texts: dict[str, str], questions: Sequence[str]) -> tuple[float, float]:
    """Return the seconds to index, and the median milliseconds of a query."""
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
    """Find a program: beside this Python, in a package's folder, or on the path."""
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
