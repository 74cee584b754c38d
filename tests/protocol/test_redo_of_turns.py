"""A turn undone as a whole is restored and accepted as a whole: every file is as before."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.accepted_turns import do, two_files, undo
from tests.support.editor import FakeEditor
from tests.support.live_turns import wait_for_states
from tests.support.proposals import PROPOSING_SERVER

TURNS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "edited, and moved twice": (
        {"edit": "a.txt", "changes": [["two", "2"]]},
        {"move": "a.txt", "to": "b.txt", "links": {}},
        {"move": "b.txt", "to": "c.txt", "links": {}},
    ),
    "moved twice with links": (
        {"move": "a.txt", "to": "c.txt", "links": {}},
        {"move": "c.txt", "to": "d.txt", "links": {"index.txt": [["c.txt", "d.txt"]]}},
    ),
    "moved and edited": (
        {"move": "a.txt", "to": "b.txt", "links": {}},
        {"edit": "b.txt", "changes": [["two", "2"]]},
    ),
    "moved there and back": (
        {"move": "a.txt", "to": "b.txt", "links": {}},
        {"move": "b.txt", "to": "a.txt", "links": {}},
    ),
    "moved, and another made in its place": (
        {"move": "a.txt", "to": "b.txt", "links": {}},
        {"create": "a.txt", "text": "x\n"},
    ),
    "removed, and another moved in its place": (
        {"remove": "a.txt"},
        {"move": "index.txt", "to": "a.txt", "links": {}},
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    return two_files(tmp_path / "ws")


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix", "sublime"])
@pytest.mark.parametrize("specs", TURNS.values(), ids=TURNS)
async def test_a_turn_is_undone_restored_and_accepted_again(
    root: Path, specs: tuple[Mapping[str, Any], ...], client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        hunks = await do(editor, *specs)
        done = files(editor, root)
        await undo(editor, hunks)
        files(editor, root)
        answer = await editor.command("stet.restore", {"turn": "t1"})
        assert (sorted(answer["hunks"]), answer["refused"]) == (sorted(hunks), [])
        _ = await editor.command("stet.accept", {"turn": "t1"})
        await wait_for_states(editor, **dict.fromkeys(hunks, "accepted"))
        assert files(editor, root) == done


def files(editor: FakeEditor, root: Path) -> dict[str, str]:
    """Save all files and return their texts."""
    for name in tuple(editor.documents):
        editor.save(name)
    return {path.name: path.read_text() for path in root.iterdir()}
