"""`toolCalls` of `stet.turn`: the state of each call, and the outcome of its proposals."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import (
    ask,
    calls,
    done,
    edit,
    end_of,
    provider,
    run,
    scripted,
    wait_for_states,
)
from tests.support.openai_server import End, OpenAIServer, Reply


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n\ntwo\n\nthree\n")
    return folder


async def states_of(editor: FakeEditor, turn: str) -> list[str]:
    """Return the state of each call of a turn."""
    return [call["state"] for call in (await editor.command("stet.turn", turn))["toolCalls"]]


async def test_an_edit_waits_for_its_review_and_ends_as_the_user_decides(
    root: Path, tmp_path: Path
) -> None:
    reads = ("read_file", {"file": "a.txt"})
    lost = edit("a.txt", "lost", "found")
    script = [calls(reads), calls(edit("a.txt", "one", "1")), calls(edit("a.txt", "two", "2"))]
    env = scripted(tmp_path, *script, calls(lost), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        name, (first, second) = turn["turn"], turn["hunks"]
        waiting = "waitingForUserInput"
        assert await states_of(editor, name) == [
            "completed", waiting, waiting, "error", "completed",
        ]  # fmt: skip
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        await editor.command("stet.reject", {"hunk": second})
        assert (await states_of(editor, name))[1:3] == ["completed", "canceled"]
        await editor.command("stet.restore", {"hunk": second})
        assert (await states_of(editor, name))[1:3] == ["completed", waiting]


async def test_what_is_on_its_way_to_the_editor_is_submitted(root: Path, tmp_path: Path) -> None:
    env = scripted(tmp_path, calls(edit("a.txt", "one", "1")), done())
    async with FakeEditor.start(root, env=env, quirk=Quirk.SILENT) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        await editor.wait_until(lambda: editor.applied)
        assert (await states_of(editor, turn["turn"]))[0] == "submitted"


async def test_calls_whose_turn_has_not_come_are_canceled_with_the_turn(root: Path) -> None:
    asking: Any = api.piece(0, id="q", name="ask_user", arguments='{"question": "Which?"}')
    writes = '{"file": "a.txt", "old_text": "one", "new_text": "1"}'
    editing = api.piece(1, id="e", name="edit_file", arguments=writes)
    reading = api.piece(2, id="r", name="read_file", arguments='{"file": "a.txt"}')
    reply = Reply(
        [api.delta(tool_calls=[asking, editing, reading]), api.delta(finish="tool_calls")]
    )
    async with (
        OpenAIServer([reply, Reply([], End.HANG)]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await ask(editor, "Do it", uri=uri)
        await editor.wait_for_diagnostics(uri)
        assert await states_of(editor, turn) == ["waitingForUserInput", "booting", "booting"]
        await editor.command("stet.cancel", turn)
        ended = await end_of(editor, turn)
        assert [call["state"] for call in ended["toolCalls"]] == ["canceled", "canceled", "error"]
        assert all("before this call was run" in call["error"] for call in ended["toolCalls"])
        assert (ended["hunks"], ended["question"]) == ([], None)
