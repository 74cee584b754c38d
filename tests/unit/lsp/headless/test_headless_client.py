"""The headless client against a small server that behaves, and misbehaves, on a real wire."""

import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

import tests.support.tiny_server
from stet.lsp.headless.editor_documents import UnsavedChange
from stet.lsp.headless.headless_client import (
    CommandFailed,
    EditApplied,
    Event,
    HeadlessClient,
    ServerFailed,
    ServerProgress,
)
from stet.system.system import System

pytestmark = pytest.mark.slow


TINY = tests.support.tiny_server.__file__ or ""


class Editor:
    """A client, its events and a folder with one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "note.txt"
        self.file.write_text("hello wörld\n", encoding="utf-8")
        self.events: list[Event] = []
        self.client = HeadlessClient(System(), on_event=self.events.append)

    def session(self, how: str) -> AbstractAsyncContextManager[HeadlessClient]:
        command = (sys.executable, TINY, how)
        return self.client.session(self.folder, env=os.environ, command=command)


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(tmp_path)


@pytest.mark.parametrize("how", ["plain", "noisy"])
async def test_a_turn_is_waited_for_and_its_answer_is_plain_json(editor: Editor, how: str) -> None:
    async with editor.session(how) as client:
        client.open(editor.file)
        asked = await client.command("stet.ask", {"prompt": "x"})
        ended = await client.turn_ended(asked["turn"])
    assert ended == {
        "turn": "t1",
        "state": "completed",
        "answer": {"type_name": ["kept", None]},
    }
    assert editor.events == [
        ServerProgress("begin", "Asking", ""),
        ServerProgress("report", "Asking", "round 1"),
        ServerProgress("end", "Asking", "done"),
    ]


async def test_an_accepted_edit_is_in_the_buffer_and_the_disk_waits(editor: Editor) -> None:
    async with editor.session("plain") as client:
        uri = client.open(editor.file)
        before = client.documents.unsaved()
        outcome = await client.accept(hunk="h1")
        assert outcome == {"accepted": ["h1"], "refused": []}
        assert client.documents.text(uri) == "HELLO wörld\n"
    assert before == ()
    assert client.documents.unsaved() == (
        UnsavedChange(editor.file, "hello wörld\n", "HELLO wörld\n"),
    )
    assert editor.file.read_text(encoding="utf-8") == "hello wörld\n"
    assert editor.events == [EditApplied("Accept")]


async def test_an_edit_of_another_version_is_refused(editor: Editor) -> None:
    async with editor.session("stale") as client:
        uri = client.open(editor.file)
        outcome = await client.accept(all=True)
    assert outcome == {"accepted": [], "refused": [{"hunk": "h1", "reason": "version"}]}
    assert client.documents.unsaved() == ()
    assert editor.events == [EditApplied("Accept", f"{uri} is at version 0, not -1")]


async def test_the_server_may_pull_the_settings(editor: Editor) -> None:
    async with editor.session("plain") as client:
        assert await client.command("stet.configuration") == [
            {"edit": {"reviewStyle": "margin"}, "agents": {"socket": False}},
            None,
        ]


async def test_an_unknown_command_is_refused_with_its_code(editor: Editor) -> None:
    async with editor.session("plain") as client:
        with pytest.raises(CommandFailed) as refused:
            await client.command("stet.nope")
    assert isinstance(refused.value.code, int)


async def test_server_that_does_not_start_is_reported_with_its_stderr(editor: Editor) -> None:
    with pytest.raises(ServerFailed, match="no model, no server"):
        async with editor.session("dead"):
            pytest.fail("it started")


async def test_server_that_dies_is_reported_with_its_stderr(editor: Editor) -> None:
    with pytest.raises(ServerFailed, match="the disk is full"):
        async with editor.session("plain") as client:
            await client.command("stet.die")


async def test_missing_command_is_reported(editor: Editor) -> None:
    with pytest.raises(ServerFailed, match="can't be started"):
        async with editor.client.session(editor.folder, command=("/nope/stet",)):
            pytest.fail("it started")
