"""Positions of hunks are persisted when the user pauses, and restored from there."""

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from stet.lsp import review_persistence
from stet.lsp.review_persistence import ReviewPersistence
from stet.lsp.tasks import Tasks
from stet.review.journal import RestoredState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkKind, HunkState
from stet.workspace.workspace import Workspace
from tests.support.hunks import make_hunk
from tests.support.review_harness import URI, ReviewHarness
from tests.support.state_stores import TestedStore, query

TEXT = "one\ntwo\nthree\n"


class Server:
    """What is between a page and the disk."""

    def __init__(self, folder: Path, text: str = TEXT) -> None:
        self.store = TestedStore(folder)
        self.page = ReviewHarness(text)
        self.page.ledger = ReviewLedger(self.store)
        self.tasks = Tasks()
        self.kept = asyncio.Event()
        self.work: list[asyncio.Task[None]] = []
        workspace = Workspace(self.store.system)
        self.keeper = ReviewPersistence(
            workspace, self.page.ledger, self.store, self.store.system, self._spawn
        )
        self.page.ledger.subscribe(self.keeper.hunks_changed)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = self.tasks.spawn(work, name)
        task.add_done_callback(lambda _: self.kept.set())
        self.work.append(task)
        return task


async def test_positions_of_hunks_are_persisted_after_a_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_persistence, "PAUSE_SECONDS", 0.05)
    server = Server(tmp_path)
    server.page.propose("one\n2\nthree\n")
    for nth in range(3):
        server.page.type(0, 0, 0, 0, f"{nth}\n")
        if nth < 2:
            await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await server.kept.wait()
    # Nobody has closed it: as if it had been killed now.
    assert query(server.store.file, "SELECT fields FROM footing") == [
        (f'{{"uri": "{URI}", "lines": {{"h1": [4, 5]}}, "lost": []}}',)
    ]
    await server.keeper.close()


async def test_close_does_not_wait_for_the_pause(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.page.propose("one\n2\nthree\n")
    server.page.type(0, 0, 0, 0, "zero\n")
    await server.keeper.close()
    again = Server(tmp_path)
    assert again.store.load().anchor_snapshots[0].text == "zero\n" + TEXT
    await again.keeper.close()


async def test_files_that_are_gone_have_their_hunks_marked(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.page.propose("one\n2\nthree\n")
    await server.keeper.close()
    again = Server(tmp_path)
    await again.keeper.restore()
    assert again.page.states == ["conflict"]
    await again.keeper.close()


async def test_a_fault_in_restoring_does_not_keep_the_server_from_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server(tmp_path)

    def fails() -> RestoredState:
        raise RuntimeError("a bug")

    monkeypatch.setattr(server.store, "load", fails)
    await server.keeper.restore()
    assert "restoring proposals failed" in caplog.text
    await server.keeper.close()


async def test_an_old_removal_is_kept_as_long_as_its_hunk_can_be_undone(tmp_path: Path) -> None:
    server = Server(tmp_path)
    system = server.store.system
    removed = []
    for name in ("kept.md", "gone.md"):
        path = tmp_path / "ws" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n")
        removed.append(path)
    hunk = make_hunk(
        1, HunkKind.REMOVE, old="text\n", uri=removed[0].as_uri(), state=HunkState.ACCEPTED
    )
    for path in removed:
        system.trash(path)
        system.ahead += 1.0
    system.ahead = 32 * 86_400.0
    server.store.persist((hunk,), decision=True)
    await server.keeper.close()
    for place in (system.state_folder() / "trash").iterdir():
        os.utime(place, (0, 0))

    again = Server(tmp_path)
    again.store.system.ahead = 33 * 86_400.0
    await again.keeper.restore()
    await asyncio.gather(*again.work)
    assert [len(list(system.trashed(path))) for path in removed] == [1, 0]
    await again.keeper.close()
