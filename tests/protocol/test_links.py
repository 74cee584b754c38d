"""Links in real sessions: the context, the editable files, and the updates after a move."""

import asyncio
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.editor_session import WAIT_SECONDS
from tests.support.live_turns import calls, done, run, scripted, wait_for_states

FILES = {
    "a.md": "[[b]]\n",
    "b.md": "# B\n[far](wall/far.md)\n",
    "in/back.py": "x = 1\n",
    "in/back.md": "[a](../a.md)\n",
    "wall/far.md": "[[deep]]\n",
    "deep.md": "deep\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make notes that link to each other."""
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def test_targets_of_links_decide_what_is_shown_and_edited(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path,
        calls(*(
            ("edit_file", {"file": name, "old_text": FILES[name].strip(), "new_text": "new"})
            for name in ("b.md", "in/back.md", "wall/far.md", "in/back.py")
        )),
        done(),
    )  # fmt: skip
    settings = {
        "context": {"scope": "linked", "linkDepth": 3, "excludedFolders": ["wall"]},
        "edit": {"scope": "linked"},
    }
    async with FakeEditor.start(root, env=env, settings=settings) as editor:
        uri = editor.open("a.md")
        async with asyncio.timeout(WAIT_SECONDS):
            while not (await editor.command("stet.status"))["ready"]:
                pass
        sent = await editor.command("stet.showContext", {"prompt": "Why?", "uri": uri})
        text = "".join(section["text"] for section in sent["sections"])
        assert 'path="b.md"' in text
        assert 'path="in/back.md"' in text
        # Excluded folders are not shown, nor are files that only they link to.
        assert 'path="wall/far.md"' not in text
        assert 'path="deep.md"' not in text
        assert "that it links to or that link to it" in text
        turn = await run(editor, "All", uri=uri)
        assert [one["file"] for one in turn["rejectedEdits"]] == ["wall/far.md", "in/back.py"]
        edited = {hunk["uri"] for hunk in await editor.command("stet.proposals")}
        assert edited == {editor.uri("b.md"), editor.uri("in/back.md")}


async def test_what_names_a_file_follows_it(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.md"}), ("read_file", {"file": "in/back.md"})),
        calls(("move_file", {"file": "a.md", "to": "in/first.md"})),
        done(),
    )
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        uri = editor.open("in/back.md")
        turn = await run(editor, "Move it", uri=uri)
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert editor.text(uri) == "[a](first.md)\n"
        assert (root / "in" / "first.md").read_text() == "[[b]]\n"
        assert not (root / "a.md").exists()
