"""While a turn runs and writes nothing, the end of its text in the chat says what it does."""

import re
from pathlib import Path

import pytest

from tests.support.chat_documents import ended, opened, until, write
from tests.support.chat_text import parts, written
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, end_of, scripted


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix", "eglot"])
async def test_status_line_is_shown_while_nothing_is_written_and_then_removed(
    root: Path, tmp_path: Path, client: str
) -> None:
    hold = tmp_path / "go"
    held = {**calls(("read_file", {"file": "a.txt"}), text="Looking."), "hold": str(hold)}
    env = scripted(tmp_path, calls(("read_file", {"file": "a.txt"})), held, done("Found."))
    async with FakeEditor.start(root, client=client, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Look at it\n")
        turn = (await editor.command("stet.send"))["turn"]
        text = await until(editor, uri, lambda text: "*… script.json" in text)
        assert re.fullmatch(
            r"- read_file a.txt\n\n\*… script.json: round 2 of 10, \d+ tokens\*",
            written(text, turn),
        )
        write(editor, uri, "I type on")
        hold.touch()
        await end_of(editor, turn)
        text = await until(editor, uri, ended(turn))
        assert "*… " not in text
        assert written(text, turn).startswith(
            "- read_file a.txt\n\nLooking.\n\n- read_file a.txt\n\nFound.\n\n"
        )
        assert parts(text)[-1].text == "I type on"


async def test_status_line_that_the_user_changes_is_theirs(root: Path, tmp_path: Path) -> None:
    hold = tmp_path / "go"
    env = scripted(tmp_path, {**done("Found."), "hold": str(hold)})
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        uri = await opened(editor)
        write(editor, uri, "Look at it\n")
        turn = (await editor.command("stet.send"))["turn"]
        await until(editor, uri, lambda text: "*… script.json" in text)
        editor.change(uri, "*… ", "*My note: ")
        hold.touch()
        text = await until(editor, uri, ended(turn))
        assert written(text, turn).startswith("*My note: script.json: round 1 of 10*\n\nFound.")
