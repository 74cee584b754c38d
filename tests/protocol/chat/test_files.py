"""The chat document as a file: for editors that never show it, and unseen by the agent."""

import asyncio
from pathlib import Path

import pytest

from tests.support.chat_documents import ended, opened, write
from tests.support.chat_files import append, mode_of, on_disk
from tests.support.chat_text import parts
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import done, end_of, scripted
from tests.support.proposals import HURRIED_SERVER
from tests.support.restarts import ready


@pytest.mark.parametrize("quirk", [Quirk.REFUSE, Quirk.LIE, Quirk.NULL])
async def test_an_editor_that_takes_no_edits_has_the_answer_in_the_file(
    root: Path, tmp_path: Path, quirk: Quirk
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, quirk=quirk, env=env, command=HURRIED_SERVER) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Where?\n")
        turn = (await editor.command("stet.send", {"chat": "main"}))["turn"]
        await end_of(editor, turn)
        async with asyncio.timeout(60):
            while not ended("t1")(on_disk(uri)):
                await editor.command("stet.status")
        assert [part.text.split("\n")[0] for part in parts(on_disk(uri))] == [
            "Where?",
            "There.",
            "",
        ]
        assert editor.text(uri).endswith("## You\n\nWhere?\n")


async def test_a_document_that_was_never_shown_is_written_and_sent_from_the_disk(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, client="eglot", env=env) as editor:
        uri = (await editor.command("stet.openChat"))["uri"]
        assert mode_of(uri) == 0o600
        append(uri, "Where?\n")
        await end_of(editor, (await editor.command("stet.send"))["turn"])
        async with asyncio.timeout(60):
            while not ended("t1")(on_disk(uri)):
                await editor.command("stet.status")
        editor.open(uri)
        assert [part.text.split("\n")[0] for part in parts(editor.text(uri))] == [
            "Where?",
            "There.",
            "",
        ]


async def test_a_chat_is_no_context_nobodys_place_and_not_editable(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, done("There."))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        await ready(editor)
        editor.focus(uri)
        write(editor, uri, "Something secret")
        shown = await editor.command("stet.showContext", {"prompt": "What is this?"})
        reported = "\n".join(section["text"] for section in shown["sections"])
        assert "Something secret" not in reported
        assert "a.txt" in reported
        offered = [action.title for action in await editor.actions(uri, "Something secret")]
        assert offered == ["Stet: Send message", "Stet: Start a new chat"]
