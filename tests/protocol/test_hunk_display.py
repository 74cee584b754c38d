"""`stet.proposals` with `display`: what a client draws, in the columns of its own encoding."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import wait_for_states
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


@pytest.mark.parametrize("client", ["neovim", "helix", "sublime", "kakoune"])
async def test_display_of_a_removed_file_that_comes_back(tmp_path: Path, client: str) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.txt").write_text("one\ntwo\n")
    async with FakeEditor.start(tmp_path, command=PROPOSING_SERVER, client=client) as editor:
        editor.open("a.txt")
        [hunk] = await propose(editor, {"remove": "b.txt"})
        [shown] = await editor.wait_for_diagnostics("b.txt")
        assert shown.message.splitlines()[-2:] == ["-one", "-two"]
        [found] = await editor.command("stet.proposals", {"display": True})
        assert [(one["op"], one["line"], one["text"]) for one in found["display"]["lines"]] == [
            ("delete", 0, "one"),
            ("delete", 1, "two"),
        ]
        uri = editor.open("b.txt")
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(0, 0))
        hover = await editor.text_document_hover_async(params)
        assert hover is not None
        assert "-one\n-two" in str(getattr(hover.contents, "value", hover.contents))
        editor.close("b.txt")
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        assert not (tmp_path / "b.txt").exists()
        await editor.command("stet.undo", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "undone"})
        editor.from_server("b.txt")
        assert (tmp_path / "b.txt").read_text() == "one\ntwo\n"
