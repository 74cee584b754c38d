"""Unsaved text laid over the index: the newest text comes last, whoever asks at the same time."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from stet.search import index_service as laying
from stet.search.index_process import IndexProcess
from stet.search.index_service import OpenTextSync
from stet.system.system import System
from stet.text.document import TextDocument
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Modification, ModificationKind, Workspace


class RecordingProcess:
    """A process that records the texts that it was sent, in order."""

    def __init__(self) -> None:
        self.texts: list[str | None] = []

    async def send(self, message: Mapping[str, Any]) -> None:
        self.texts.append(message["text"])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace(System())
    found.add_root(uri_of(tmp_path))
    return found


def typed(workspace: Workspace, path: Path, text: str, version: int) -> Snapshot:
    uri = uri_of(path)
    workspace.apply(
        Modification(ModificationKind.OPENED, uri, text=text, version=version, language_id="python")
    )
    return workspace.snapshot()


async def test_slow_overlay_does_not_replace_a_newer_text(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = typed(workspace, tmp_path / "a.py", "older", 1)
    newer = typed(workspace, tmp_path / "a.py", "newer", 2)
    shown, is_begun, may_go_on = laying._shown, asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(snapshot: Snapshot, document: TextDocument) -> str | None:
        if document.text == "older":
            loop.call_soon_threadsafe(is_begun.set)
            may_go_on.wait()
        return shown(snapshot, document)

    monkeypatch.setattr(laying, "_shown", slow)
    process = RecordingProcess()
    overlay = OpenTextSync(cast(IndexProcess, process))
    async with asyncio.TaskGroup() as both:
        both.create_task(overlay.sync(older))
        await is_begun.wait()
        both.create_task(overlay.sync(newer))
        loop.call_soon(may_go_on.set)
    assert process.texts == ["older", "newer"]


async def test_query_with_an_older_snapshot_does_not_replace_a_newer_text(
    workspace: Workspace, tmp_path: Path
) -> None:
    older = typed(workspace, tmp_path / "a.py", "older", 1)
    newer = typed(workspace, tmp_path / "a.py", "newer", 2)
    process = RecordingProcess()
    overlay = OpenTextSync(cast(IndexProcess, process))
    await overlay.sync(newer)
    await overlay.sync(older)
    assert process.texts == ["newer"]
