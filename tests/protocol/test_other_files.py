"""The files beside the active one that an accept changes: `otherFiles` and a message."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose

MOVE = {
    "move": "a.txt",
    "to": "b.txt",
    "links": {"index.txt": [["a.txt", "b.txt"]], "notes.txt": [["a.txt", "b.txt"]]},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace: a file, and two that link to it."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "index.txt").write_text("see a.txt\n")
    (folder / "notes.txt").write_text("not a.txt\n")
    return folder


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix"])
async def test_accept_names_the_other_files_that_it_changes(root: Path, client: str) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        editor.focus("a.txt")
        hunks = await propose(editor, MOVE)
        answer = await editor.command("stet.accept", {"turn": "t1"})
        assert answer["otherFiles"] == [editor.uri("index.txt"), editor.uri("notes.txt")]
        await wait_for_states(editor, **dict.fromkeys(hunks, "accepted"))
        await editor.wait_for_message("Stet: 2 other files changed, unsaved: index.txt, notes.txt")
        assert sum("other file" in one.message for one in editor.messages) == 1


async def test_accept_shows_no_message_about_a_file_that_is_saved(root: Path) -> None:
    async with FakeEditor.start(root, client="kakoune", command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        editor.focus("a.txt")
        edits = [
            {"edit": f"{name}.txt", "changes": [["a.txt", "b"]]} for name in ("index", "notes")
        ]
        hunks = await propose(editor, {"edit": "a.txt", "changes": [["one", "1"]]}, *edits)
        answer = await editor.command("stet.accept", {"hunk": hunks[0]})
        assert "otherFiles" not in answer
        await wait_for_states(editor, **{hunks[0]: "accepted"})
        answer = await editor.command("stet.accept", {"all": True})
        assert answer["otherFiles"] == [editor.uri("index.txt"), editor.uri("notes.txt")]
        await wait_for_states(editor, **dict.fromkeys(hunks, "accepted"))
        assert (root / "index.txt").read_text() == "see b\n"
        await editor.command("stet.undo", {"hunk": hunks[1]})
        await wait_for_states(editor, **{hunks[1]: "undone"})
        assert not [one.message for one in editor.messages if "other file" in one.message]
