"""An edit that fails without a refusal by a rule is reported and recorded."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from stet.llm.scripted_model import call, combine
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import end_of, provider, run
from tests.support.openai_server import OpenAIServer

TEXT = "one\ntwo\nthree\n"
DONE = api.call("done", summary="Changed it.")
READ = api.call("read_file", file="a.txt")
EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
LOST = api.call("edit_file", file="a.txt", old_text="lost\nline", new_text="x")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@pytest.mark.parametrize(
    ("tool", "arguments", "position", "words"),
    [
        ("edit_file", {"old_text": "lost\nline", "new_text": "x"}, "lost", "not in the file"),
        ("edit_file", {"position": "replace:90", "content": "x"}, "replace:90", "90"),
        ("edit_file", {"position": "sideways", "content": "x"}, "sideways", "sideways"),
        ("edit_file", {"old_text": "two"}, "two", "give either old_text and new_text"),
        ("create_file", {"content": "x"}, None, "already exists"),
    ],
    ids=["text not found", "line past the end", "no position", "not readable", "exists"],
)
async def test_failed_edit_is_in_the_record_the_message_the_chat_and_the_history(
    root: Path, tool: str, arguments: dict[str, Any], position: str | None, words: str
) -> None:
    failing = api.call(tool, file="a.txt", **arguments)
    async with (
        OpenAIServer([READ, failing, DONE, api.say("Hello.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Do it", uri=uri)
        (failed,) = turn["failedEdits"]
        assert (failed["file"], failed.get("position")) == ("a.txt", position)
        assert words in failed["message"]
        assert (turn["state"], turn["success"], turn["rejectedEdits"]) == ("completed", False, [])
        shown = editor.messages[-1]
        assert shown.type == lsp.MessageType.Warning
        assert "Nothing was proposed: 1 edit could not be applied to a.txt." in shown.message
        chat = (await editor.command("stet.openChat"))["uri"]
        page = await asyncio.to_thread(Path(chat.removeprefix("file://")).read_text)
        assert "1 edit could not be applied" in page
        await run(editor, "And now?", uri=uri)
        history = server.requests[-1].body["messages"]
        shown_text = [one["content"] or "" for one in history]
        assert any("Failed: " in one and words in one for one in shown_text)


async def test_a_file_that_is_not_there_is_a_failed_edit(root: Path) -> None:
    failing = api.call("edit_file", file="b.txt", old_text="x", new_text="y")
    async with (
        OpenAIServer([failing, DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert [one["file"] for one in turn["failedEdits"]] == ["b.txt"]
        assert str(root) not in str(turn["failedEdits"])


async def test_a_file_that_is_to_be_deleted_and_is_not_there_is_a_failed_edit(root: Path) -> None:
    async with (
        OpenAIServer([api.call("delete_file", file="b.txt"), DONE]) as server,
        FakeEditor.start(
            root, env=provider(server), settings={"agent": {"disabledTools": []}}
        ) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert [one["file"] for one in turn["failedEdits"]] == ["b.txt"]
        assert (turn["state"], turn["success"]) == ("completed", False)


async def test_turn_with_another_proposed_edit_completes_and_reports_the_failed_one(
    root: Path,
) -> None:
    async with (
        OpenAIServer([LOST, EDIT, DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert (turn["success"], len(turn["hunks"]), len(turn["failedEdits"])) == (True, 1, 1)
        shown = editor.messages[-1]
        assert shown.type == lsp.MessageType.Info
        assert "1 hunk to review. 1 edit could not be applied to a.txt. (" in shown.message


async def test_what_a_rule_refuses_is_no_failed_edit(root: Path) -> None:
    settings = {"edit": {"canCreate": False}}
    async with (
        OpenAIServer([api.call("create_file", file="b.txt", content="x"), DONE]) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert (turn["failedEdits"], len(turn["rejectedEdits"])) == ([], 1)


async def test_a_comment_stays_where_all_edits_that_it_asked_for_failed(root: Path) -> None:
    (root / "b.py").write_text("x = 1  # Make it two AI!\n")
    async with (
        OpenAIServer(
            [api.call("edit_file", file="b.py", old_text="lost", new_text="y"), DONE]
        ) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("b.py")
        asked = await editor.command("stet.carryOut", {"uri": uri, "line": 1})
        turn = await end_of(editor, asked["turn"])
        assert (turn["success"], turn["hunks"]) == (False, [])
        assert "The comment was kept." in turn["summary"]


async def test_a_refused_edit_takes_no_other_of_its_file_with_it(root: Path) -> None:
    both = api.of(
        combine(
            call("edit_file", file="a.txt", position="delete:1"),
            call("edit_file", file="a.txt", position="end", content="four"),
        )
    )
    async with (
        OpenAIServer([READ, both, DONE]) as server,
        FakeEditor.start(
            root, env=provider(server), settings={"edit": {"canDelete": False}}
        ) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        (hunk,) = await editor.command("stet.proposals", {"turn": turn["turn"]})
        assert (hunk["kind"], hunk["new"]) == ("add", "four\n")
        assert [one["rule"] for one in turn["rejectedEdits"]] == ["edit.canDelete"]
        assert (turn["success"], turn["failedEdits"]) == (True, [])
