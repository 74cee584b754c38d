"""A hunk identified by its line, for editors whose keys know the cursor but not hunks."""

from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, wait_for_states

TEXT = "one\ntwo\nand\nthree\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


async def test_select_hunks_finds_an_insertion_at_the_lines_around_it_and_at_its_own(
    root: Path, tmp_path: Path
) -> None:
    added = scripted(
        tmp_path,
        calls(edit("a.txt", "one\n", "one\nnew\n"), edit("a.txt", "and\n", "AND\n")),
        done(),
    )
    async with FakeEditor.start(root, client="helix", env=added) as editor:
        uri = editor.open("a.txt")
        new, other = (await run(editor, "Add", uri=uri))["hunks"]
        for line in (1, 2):
            answer = await editor.command("stet.accept", {"uri": uri, "line": line})
            assert answer["hunks"] == [new]
            await wait_for_states(editor, **{new: "accepted", other: "pending"})
            answer = await editor.command("stet.undo", {"uri": uri, "line": 2})
            assert answer["hunks"] == [new]
            await wait_for_states(editor, **{new: "undone", other: "pending"})
            await editor.command("stet.restore", {"uri": uri, "line": line})
        assert editor.text(uri) == TEXT


async def test_the_hunk_in_a_line_is_accepted_taken_back_and_rejected(
    root: Path, tmp_path: Path
) -> None:
    digits = scripted(
        tmp_path, calls(edit("a.txt", "two", "2"), edit("a.txt", "three", "3")), done()
    )
    async with FakeEditor.start(root, client="helix", env=digits) as editor:
        uri = editor.open("a.txt")
        two, three = (await run(editor, "Digits", uri=uri))["hunks"]
        here = {"file": "a.txt", "line": 2}
        assert await editor.command("stet.accept", here) == {"hunks": [two], "refused": []}
        await wait_for_states(editor, **{two: "accepted", three: "pending"})
        assert editor.text(uri) == "one\n2\nand\nthree\n"
        assert await editor.command("stet.undo", here) == {"hunks": [two], "refused": []}
        await wait_for_states(editor, **{two: "undone", three: "pending"})
        await editor.command("stet.restore", here)
        await editor.command("stet.reject", {"uri": uri, "line": 4})
        await wait_for_states(editor, **{two: "pending", three: "rejected"})
        for wrong, message in (
            ({"file": "a.txt", "line": 3}, "no pending hunks for .* on line 3"),
            ({"all": True, "line": 2}, "a line needs its file"),
        ):
            with pytest.raises(JsonRpcException, match=message):
                await editor.command("stet.accept", wrong)
