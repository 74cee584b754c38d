"""Turns whose hunks were accepted one by one, and their undo as a whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.editor import FakeEditor
from tests.support.live_turns import wait_for_states
from tests.support.proposals import propose

TEXT = "one\ntwo\nthree\n"


def two_files(folder: Path) -> Path:
    """Make a workspace: one file of three lines, and one that links to another."""
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "index.txt").write_text("see c.txt\n")
    return folder


async def do(editor: FakeEditor, *specs: Mapping[str, Any], saves: bool = True) -> list[str]:
    """Propose, accept and save the hunks one after the other; return their ids."""
    hunks: list[str] = []
    for spec in specs:
        made = await propose(editor, dict(spec))
        for hunk in made:
            await editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(editor, **{hunk: "accepted"})
        hunks += made
        for name in tuple(editor.documents) if saves else ():
            editor.save(name)
    return hunks


async def undo(editor: FakeEditor, hunks: list[str], closes: str = "") -> None:
    """Undo the turn in one step; close the file `closes`, which the editor does not delete."""
    answer = await editor.command("stet.undo", {"turn": "t1"})
    assert (sorted(answer["hunks"]), answer["refused"]) == (sorted(hunks), [])
    if closes:
        await editor.wait_for_message(f"{closes} is open in the editor; it will be deleted when")
        editor.save(closes)
        editor.close(closes)
    await editor.wait_until(lambda: not any("not undone" in m.message for m in editor.messages))
    await wait_for_states(editor, **dict.fromkeys(hunks, "undone"))
