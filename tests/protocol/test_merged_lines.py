"""A line that both the user and the agent have changed: merged with a note, or a conflict."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, wait_for_states

TEXT = "x = a + b\ny = compute(one, two)\nz\n"
NOTE = "merged with your change"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.py").write_text(TEXT)
    return folder


async def hunk(editor: FakeEditor, name: str) -> Any:
    """Return a hunk by its id."""
    return next(one for one in await editor.command("stet.proposals") if one["hunk"] == name)


async def test_word_typed_beside_the_agents_is_a_conflict_until_it_is_undone(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(edit("a.py", "a + b", "a + c")), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.py")
        await run(editor, "Do", uri=uri)
        editor.change(uri, "a + b", "a - b")
        await wait_for_states(editor, h1="conflict")
        editor.change(uri, "a - b", "a + b")
        await wait_for_states(editor, h1="pending")
        assert not (await hunk(editor, "h1"))["merged"]


async def test_separate_words_of_one_line_are_merged_and_reported(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(edit("a.py", "compute(one", "count(one")), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.py")
        await run(editor, "Do", uri=uri)
        editor.change(uri, "two", "three")
        shown = await editor.wait_for_diagnostics(
            uri, lambda found: any(NOTE in one.message for one in found)
        )
        assert [one.code for one in shown] == ["proposal"]
        now = await hunk(editor, "h1")
        assert (now["state"], now["merged"], now["reason"]) == ("pending", True, NOTE)
        assert now["new"] == "y = count(one, three)\n"
        review = await editor.command("stet.review")
        await editor.wait_until(lambda: editor.shown_documents)
        page = await asyncio.to_thread(Path(review["uri"].removeprefix("file://")).read_text)
        assert f"({NOTE})" in page
        editor.change(uri, "z", "zzz")  # a change of another line is no merge
        editor.change(uri, "three", "two")
        await editor.wait_for_diagnostics(
            uri, lambda found: all(NOTE not in one.message for one in found)
        )
        assert not (await hunk(editor, "h1"))["merged"]
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        assert editor.text(uri) == TEXT.replace("compute", "count").replace("z", "zzz")
