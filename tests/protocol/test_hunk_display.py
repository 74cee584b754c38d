"""`stet.proposals` with `display`: what a client draws, in the columns of its own encoding."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import FakeEditor
from tests.support.proposals import PROPOSING_SERVER, propose

TEXT = "un deux trois\n😀 école et quatre\n"
CHANGES = [["😀 école et quatre", "😀 école et cinq"]]


async def displays(root: Path, client: str) -> list[dict[str, Any]]:
    """Return the display of a change and of a new file in an editor of that kind."""
    (root / "a.txt").write_text(TEXT, encoding="utf-8")
    async with FakeEditor.start(root, command=PROPOSING_SERVER, client=client) as editor:
        editor.open("a.txt")
        await propose(
            editor, {"edit": "a.txt", "changes": CHANGES}, {"create": "b.txt", "text": "new\n"}
        )
        found = await editor.command("stet.proposals", {"display": True})
        assert all("display" not in one for one in await editor.command("stet.proposals"))
        return [one["display"] for one in found]


@pytest.mark.parametrize(
    ("client", "start"), [("neovim", 15), ("vscode", 12), ("eglot", 11)], ids=["8", "16", "32"]
)
async def test_display_of_open_hunks(tmp_path: Path, client: str, start: int) -> None:
    changed, created = await displays(tmp_path, client)
    assert changed["lines"] == [
        {"op": "delete", "line": 1, "text": "😀 école et quatre", "spans": [[start, start + 6]]},
        {"op": "insert", "line": 2, "text": "😀 école et cinq", "spans": [[start, start + 4]]},
    ]
    assert created["lines"] == [{"op": "insert", "line": 0, "text": "new", "spans": []}]


async def test_display_is_left_out_for_decided_hunks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    async with FakeEditor.start(tmp_path, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        [hunk] = await propose(editor, {"edit": "a.txt", "changes": CHANGES})
        await editor.command("stet.reject", {"hunk": hunk})
        [found] = await editor.command("stet.proposals", {"display": True})
        assert (found["state"], "display" in found) == ("rejected", False)
