"""A character that an editor sends in two halves, one UTF-16 unit per message."""

import json
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, wait_for_states
from tests.support.naive_text import whole

TEXT = "one here\ntwo\nthree\nfour\n"
FIRST, SECOND = "\ud83d", "\ude00"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@pytest.mark.parametrize("client", ["vscode", "eglot", "kakoune"])
@pytest.mark.parametrize("is_reversed", [False, True])
async def test_the_text_has_the_character_and_hunks_stay_where_they_are(
    root: Path, tmp_path: Path, client: str, is_reversed: bool
) -> None:
    env = scripted(
        tmp_path, calls(edit("a.txt", "two\n", "2\n"), edit("a.txt", "four", "4")), done()
    )
    async with FakeEditor.start(root, client=client, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Digits", uri=uri)
        for line, column in ((0, 8), (2, 2), (0, 0)):
            if is_reversed:
                editor.type(uri, line, column, SECOND)
                editor.type(uri, line, column, FIRST)
            else:
                editor.type(uri, line, column, FIRST)
                editor.type(uri, line, column + 1, SECOND)
        shown = await editor.command("stet.showContext", {"prompt": "What?", "file": "a.txt"})
        sent = json.dumps(shown, ensure_ascii=False)
        assert "😀one here😀" in sent
        assert "th😀ree" in sent
        assert all(
            code not in json.dumps(shown).replace("\\ud83d\\ude00", "")
            for code in ("\\ud8", "\\ude")
        )
        hunks = await editor.command("stet.proposals")
        assert [(one["state"], one["range"]["start"]["line"]) for one in hunks] == [
            ("pending", 1),
            ("pending", 3),
        ]
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert whole(editor.text(uri)) == "😀one here😀\n2\nth😀ree\n4\n"
