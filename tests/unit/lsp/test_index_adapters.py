"""The user sees that the index is built where that takes its time, and how it ended."""

import asyncio
from collections.abc import Callable

import pytest
from lsprotocol import types as lsp

from stet.lsp import index_adapters
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.editor_client import Client, Progress
from stet.lsp.index_adapters import TITLE, IndexView
from stet.search.index_service import IndexService
from stet.search.index_state import IndexState, Stage
from stet.workspace.workspace import Workspace
from tests.support.memory_system import MemorySystem

BUILDING = IndexState(Stage.BUILDING, files=10, total=40, chunks=100)
READY = IndexState(Stage.READY, files=40, total=40, chunks=400)


class Shown(Progress):
    """Progress that is looked at."""

    def __init__(self, server: StetLanguageServer, title: str, log: list[object]) -> None:
        super().__init__(server, title)
        self._log = log
        log.append(title)

    def report(self, message: str, percentage: int | None = None) -> None:
        self._log.append((message, percentage))

    def end(self, message: str = "") -> None:
        self._log.append(message)


class Watcher(Client):
    """An editor that shows progress, and somebody who looks."""

    def __init__(self) -> None:
        self.editor = StetLanguageServer("test", "1")
        super().__init__(self.editor)
        self.log: list[object] = []
        self.has_seen = asyncio.Event()

    def progress(
        self, title: str, message: str = "", on_cancel: Callable[[], object] | None = None
    ) -> Progress:
        self.has_seen.set()
        return Shown(self.editor, title, self.log)

    def show_message(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        self.log.append(text)


class Table:
    """An index whose state is set, and its view."""

    def __init__(self) -> None:
        self.client = Watcher()
        self.index = IndexService(
            MemorySystem({}), self.client.start, lambda _: None, watches=lambda: True
        )
        self.view = IndexView(self.index, self.client)

    def show_state(self, state: IndexState) -> None:
        self.index._set(state)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_adapters, "SHOWN_AFTER_SECONDS", 0)


async def test_short_build_shows_no_progress() -> None:
    table = Table()
    for state in (IndexState(Stage.STARTING), BUILDING, READY, BUILDING, READY):
        table.show_state(state)
    assert (table.client.log, table.view.to_json()) == (
        [],
        {"state": "ready", "files": 40, "total": 40, "chunks": 400, "message": None},
    )


@pytest.mark.usefixtures("at_once")
async def test_long_build_shows_progress_until_it_is_ready() -> None:
    table = Table()
    table.show_state(BUILDING)
    await table.client.has_seen.wait()
    table.show_state(BUILDING)  # says nothing new
    table.show_state(IndexState(Stage.BUILDING, files=40, total=40, chunks=400, unread=1200))
    table.show_state(READY)
    table.show_state(READY)
    assert table.client.log == [
        TITLE,
        ("10 of 40 files", 25),
        ("40 files, 1,200 passages to embed", None),
        "40 files",
    ]


@pytest.mark.usefixtures("at_once")
async def test_only_a_requested_build_shows_progress_where_it_covers_messages() -> None:
    table = Table()
    table.client.editor.editor = ClientCapabilities(progress=True, covers_messages=True)
    table.show_state(BUILDING)
    await asyncio.sleep(0.01)
    table.show_state(READY)
    assert table.client.log == []
    table.view.reindex(Workspace(MemorySystem({})).snapshot(), rebuild=True)
    assert table.client.log == [TITLE]


@pytest.mark.usefixtures("at_once")
async def test_end_of_the_progress_reports_why_there_is_no_index() -> None:
    table = Table()
    table.show_state(BUILDING)
    await table.client.has_seen.wait()
    table.show_state(IndexState(Stage.FAILED, message="the disk is full"))
    assert table.client.log[-1] == "the disk is full"
    assert table.view.to_json()["message"] == "the disk is full"


async def test_partial_index_is_reported_once_per_build() -> None:
    table = Table()
    table.view.note_partial_answer(None)
    for _ in range(2):
        table.view.note_partial_answer(1200)
        table.view.note_partial_answer(1300)
        table.show_state(READY)
    messages = (
        "Stet: the search index is being built (1,200 files so far); results are incomplete "
        "until it is done."
    )
    assert table.client.log == [messages, messages]
