"""Insertions at one place in several rounds of a turn: all are pending, in that order."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, wait_for_states

TEXT = "one\ntwo\nthree\n"


def insert(line: int, content: str) -> tuple[str, dict[str, Any]]:
    """Make a call of `edit_file` that inserts lines before a line."""
    position = f"insert:{line}"
    return "edit_file", {"file": "a.txt", "position": position, "content": f"{content}\n"}


WAYS = {
    "by number": [insert(3, "A"), insert(3, "B"), insert(3, "C")],
    "by text": [edit("a.txt", "two\nthree", f"two\n{name}\nthree") for name in "ABC"],
    "at the end": [
        ("edit_file", {"file": "a.txt", "position": "end", "content": f"{name}\n"})
        for name in "ABC"
    ],
}
WANTED = {
    "by number": "one\ntwo\nA\nB\nC\nthree\n",
    "by text": "one\ntwo\nA\nB\nC\nthree\n",
    "at the end": "one\ntwo\nthree\nA\nB\nC\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
async def test_they_are_in_the_order_of_the_rounds_whichever_is_accepted_first(
    root: Path, tmp_path: Path, way: str, order: tuple[int, ...]
) -> None:
    first = calls(("read_file", {"file": "a.txt"}))
    env = scripted(tmp_path, first, *(calls(one) for one in WAYS[way]), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Insert", uri=uri)
        assert len(turn["hunks"]) == 3, turn["toolCalls"]
        for nth in order:
            hunk = turn["hunks"][nth]
            await editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(uri) == WANTED[way]
        await editor.command("stet.undo", {"hunk": turn["hunks"][order[0]]})
        await wait_for_states(editor, **{turn["hunks"][order[0]]: "undone"})
        assert editor.text(uri) == WANTED[way].replace("ABC"[order[0]] + "\n", "")


async def test_one_that_is_rejected_leaves_the_others_in_place(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.txt"})),
        *(calls(one) for one in WAYS["by number"]),
        done(),
    )
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Insert", uri=uri)
        await editor.command("stet.reject", {"hunk": turn["hunks"][1]})
        editor.change(uri, "one\n", "zero\none\n")
        await editor.command("stet.accept", {"turn": turn["turn"]})
        kept = (turn["hunks"][0], turn["hunks"][2])
        await wait_for_states(editor, **dict.fromkeys(kept, "accepted"))
        assert editor.text(uri) == "zero\none\ntwo\nA\nC\nthree\n"
