"""Ends of the index's process at awkward moments: nobody waits for what will not come."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stet.lsp.tasks import Tasks
from stet.search import index_process as processes
from stet.search import index_service as indexing
from stet.search.index_process import IndexProcess
from stet.search.index_state import Stage
from stet.settings.values import SearchSettings, Settings
from stet.system.system import System
from tests.support.indexed_workspace import IndexedWorkspace

pytestmark = pytest.mark.slow


@pytest.fixture
async def workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[IndexedWorkspace]:
    """A workspace of one file; nothing is indexed yet, and nothing is answered by a clock."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(indexing, "RESTART_SECONDS", 0.01)
    monkeypatch.setattr(indexing, "ANSWER_SECONDS", 3_600)
    monkeypatch.setattr(processes, "END_SECONDS", 0.01)
    root = tmp_path / "ws"
    root.mkdir()
    (root / "harbour.py").write_text("def moor(boat):\n    return boat\n")
    workspace = IndexedWorkspace(root)
    yield workspace
    await workspace.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when a question has been sent."""
    event = asyncio.Event()
    real_send = IndexProcess.send

    async def noted(self: IndexProcess, message: Mapping[str, Any]) -> None:
        await real_send(self, message)
        if message["do"] == "ask":
            event.set()

    monkeypatch.setattr(IndexProcess, "send", noted)
    return event


async def stopped(workspace: IndexedWorkspace) -> int:
    """Stop the process before it is asked, and return its number."""
    await workspace.ready()
    process = workspace.index._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    return process.pid


async def test_query_that_kills_the_process_is_answered_by_a_file_search(
    workspace: IndexedWorkspace, asked: asyncio.Event
) -> None:
    pid = await stopped(workspace)
    async with asyncio.TaskGroup() as tasks:
        finding = tasks.create_task(workspace.find("moor"))
        await asked.wait()
        os.kill(pid, signal.SIGKILL)
    assert finding.result() == ["harbour.py"]


@pytest.mark.parametrize("how", ["closed", "other settings"])
async def test_a_question_does_not_wait_for_a_process_that_was_ended(
    workspace: IndexedWorkspace, asked: asyncio.Event, how: str
) -> None:
    await stopped(workspace)
    async with asyncio.TaskGroup() as tasks:
        finding = tasks.create_task(workspace.find("moor"))
        await asked.wait()
        if how == "closed":
            await workspace.index.close()
        else:
            workspace.workspace.with_settings(Settings(search=SearchSettings(embeddings="off")))
            await workspace.index.ensure_current(workspace.workspace.snapshot())
    assert finding.result() == ["harbour.py"]


async def test_process_that_is_starting_ends_on_close(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = IndexProcess.start
    is_started, may_go_on = asyncio.Event(), asyncio.Event()

    async def slow(
        cls: type[IndexProcess], system: System, begin: Mapping[str, Any], on_message: Any
    ) -> IndexProcess:
        process = await start(system, begin, on_message)
        is_started.set()
        await may_go_on.wait()
        return process

    monkeypatch.setattr(IndexProcess, "start", classmethod(slow))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(workspace.index.ensure_current(workspace.workspace.snapshot()))
        await is_started.wait()
        closing = tasks.create_task(workspace.index.close())
        asyncio.get_running_loop().call_soon(may_go_on.set)
    assert closing.done()
    assert not workspace.index.is_running


async def test_process_that_writes_an_invalid_message_is_restarted(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await workspace.ready()
    process = workspace.index._process
    assert process is not None
    stream = process._process.stdout
    assert stream is not None
    stream.feed_data(b"a library greets you\n")
    await workspace.until(lambda state: state.stage is Stage.STARTING)
    await workspace.until(lambda state: state.stage is Stage.READY)
    assert workspace.index._process is not process
    assert await workspace.find("moor") == ["harbour.py"]
    assert workspace.reported == ["Stet: the search index stopped unexpectedly and is restarting."]


async def test_state_of_an_ended_process_is_not_that_of_its_successor(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    old = workspace.index._process
    assert old is not None
    workspace.workspace.with_settings(Settings(search=SearchSettings(embeddings="off")))
    await workspace.index.ensure_current(workspace.workspace.snapshot())
    before = workspace.index.state
    late = {"is": "state", "state": "ready", "files": 7, "total": 7, "chunks": 7, "unread": 0}
    workspace.index._on_message(old, {**late, "rebuilt": 0})
    assert workspace.index.state == before


async def killed(workspace: IndexedWorkspace) -> None:
    """Kill the process, and wait until there is one again that is ready."""
    process = workspace.index._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    await workspace.until(lambda state: state.stage in (Stage.STARTING, Stage.FAILED))
    await workspace.until(lambda state: state.stage in (Stage.READY, Stage.FAILED))


async def test_last_restart_begins_with_a_new_index(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    (path,) = (workspace.root.parent / "cache").rglob("index.db")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO meta VALUES ('old', 'yes')")
    found = []
    for _ in range(indexing.MAX_DEATHS - 1):
        await killed(workspace)
        with closing(sqlite3.connect(path)) as database:
            found += database.execute("SELECT count(*) FROM meta WHERE key = 'old'").fetchone()
    assert found == [1, 0]


async def test_damage_found_on_opening_is_reported_once(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    await workspace.index.close()
    await workspace.tasks.close()
    workspace.tasks = Tasks()
    (path,) = (workspace.root.parent / "cache").rglob("index.db")
    with closing(sqlite3.connect(path)) as database:
        sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'chunks_meant'"
        (page,) = database.execute(sql).fetchone()
        (size,) = database.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(bytes(size))
    workspace.index = workspace.new_index()
    await workspace.ready()
    assert await workspace.find("moor") == ["harbour.py"]
    (report,) = workspace.reported
    assert "rebuilding it" in report


async def test_crashes_with_an_answer_between_them_are_not_counted_together(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    for _ in range(indexing.MAX_DEATHS + 1):
        await killed(workspace)
        assert (await workspace.ask("moor")).used_vectors  # the index has answered
    assert workspace.index.state.stage is Stage.READY
    assert workspace.reported == ["Stet: the search index stopped unexpectedly and is restarting."]


async def test_crashes_long_after_the_start_are_not_counted_together(
    workspace: IndexedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "STEADY_SECONDS", 0.0)
    await workspace.ready()
    for _ in range(indexing.MAX_DEATHS + 1):
        await killed(workspace)
    assert workspace.index.state.stage is Stage.READY


async def test_crashes_soon_after_the_start_are_counted_together(
    workspace: IndexedWorkspace,
) -> None:
    await workspace.ready()
    for _ in range(indexing.MAX_DEATHS):
        assert workspace.index.state.stage is Stage.READY
        await killed(workspace)
    assert workspace.index.state.stage is Stage.FAILED
