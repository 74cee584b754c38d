"""A git-ignored file is sent only with a question about that file, wherever the user typed last."""

import json
from pathlib import Path

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer

CANARY = "canary 7f3a"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    (folder / "notes.local").write_text(f"{CANARY}\n")
    (folder / ".gitignore").write_text("*.local\n")
    return folder


@pytest.mark.parametrize(
    ("scope", "mode", "focused"),
    [
        ("open", "agent", False),
        ("open", "ask", True),
        ("folder", "agent", True),
        ("linked", "ask", False),
    ],
)
async def test_ignored_file_edited_last_is_not_the_subject_of_a_question(
    root: Path, scope: str, mode: str, focused: bool
) -> None:
    replies = [
        api.call("read_file", file="notes.local"),
        api.call("search_workspace", query=CANARY),
        api.call("get_attached_context"),
        api.call("get_file_info", file="notes.local"),
        api.call("list_files"),
        api.call("done", summary="Read."),
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(
            root, client="helix", env=provider(server), settings={"context": {"scope": scope}}
        ) as editor,
    ):
        other = editor.open("a.py")
        ignored = editor.open("notes.local")
        editor.change(ignored, CANARY, f"{CANARY} and more")
        if focused:
            editor.focus(ignored)
        turn = await run(editor, "What is x?", uri=other, mode=mode)
        assert turn["state"] == "completed", turn["error"]
        assert len(server.requests) == len(replies)
        reported = json.dumps([asked.body for asked in server.requests])
        # The model itself has searched for the words.
        assert "and more" not in reported
        assert turn["toolCalls"][0]["state"] == "error"


async def test_a_question_about_it_sends_it(root: Path) -> None:
    async with (
        OpenAIServer([api.call("done", summary="1"), api.call("done", summary="2")]) as server,
        FakeEditor.start(root, client="helix", env=provider(server)) as editor,
    ):
        editor.open("a.py")
        ignored = editor.open("notes.local")
        editor.change(ignored, CANARY, f"{CANARY} and more")
        await run(editor, "What is this?")  # at the user's position
        await run(editor, "What is that?", uri=ignored)
        assert ["and more" in json.dumps(asked.body) for asked in server.requests] == [True, True]


async def test_what_is_gone_to_while_the_turn_runs_is_not_asked_about(root: Path) -> None:
    with_focus: list[FakeEditor] = []

    def look(_: HttpRequest) -> api.Reply:
        with_focus[0].focus("notes.local")
        return api.call("get_attached_context")

    replies: list[api.Scripted] = [
        look,
        api.call("read_file", file="notes.local"),
        api.call("done", summary="Read."),
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, client="vscode", env=provider(server)) as editor,
    ):
        with_focus.append(editor)
        editor.open("notes.local")
        uri = editor.open("a.py")
        editor.focus(uri)
        turn = await run(editor, "What is x?")
        assert turn["state"] == "completed", turn["error"]
        assert CANARY not in json.dumps([asked.body for asked in server.requests])
        assert turn["toolCalls"][1]["state"] == "error"
