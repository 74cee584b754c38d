"""Attachments of questions, and presets of attachments, in real sessions."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted
from tests.support.restarts import ready

FILES = {
    "a.md": "[[b]]\n",
    "b.md": "# B\n",
    "docs/c.md": "# C\n",
    "docs/d.md": "# D\n" + "line\n" * 40,
    "private/e.md": "# E\n",
    ".stet.toml": "[context.presets.theirs]\nfiles = ['b.md']\nscope = 'folder'\n",
}
SETTINGS = {
    "context": {
        "scope": "current",
        "excludedFolders": ["private"],
        "presets": {
            "notes": {"files": ["b.md", "gone.md"], "scope": "linked", "linkDepth": 1},
            "api": {"folders": ["docs"]},
        },
    }
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make notes, one of them hidden."""
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "outside.md").write_text("outside\n")
    return folder


async def attached(editor: FakeEditor, *given: object) -> dict[str, Any]:
    """Return the result of `stet.context`, without the presets."""
    answer = await editor.command("stet.context", *given)
    return {name: value for name, value in answer.items() if name != "presets"}


async def presets(editor: FakeEditor) -> list[tuple[str, str]]:
    """Return the names of presets with their sources."""
    answer = await editor.command("stet.context")
    return [(one["name"], one["from"]) for one in answer["presets"]]


async def refusal(editor: FakeEditor, command: str, given: object) -> tuple[int, str]:
    """Return code and message of the error."""
    with pytest.raises(JsonRpcException) as raised:
        await editor.command(command, given)
    return raised.value.code, raised.value.message


async def sent(editor: FakeEditor, **arguments: object) -> str:
    """Return the attachments that a question would send."""
    answer = await editor.command("stet.showContext", {"prompt": "Why?", **arguments})
    return "".join(one["text"] for one in answer["sections"] if one["name"] == "attached_files")


async def test_what_is_attached_goes_with_questions_until_it_is_cleared(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(
        tmp_path,
        calls(edit("docs/c.md", "# C", "# See"), edit("private/e.md", "# E", "# X")),
        done(),
    )
    async with FakeEditor.start(root, env=env, settings=SETTINGS) as editor:
        await ready(editor)
        uri = editor.open("a.md")
        assert await sent(editor, uri=uri) == ""
        added = ["b.md", editor.uri("docs/c.md"), str(root / "docs"), "b.md"]
        assert await attached(editor, {"add": added}) == {
            "files": ["b.md", "docs/c.md"],
            "folders": ["docs"],
            "scope": None,
            "linkDepth": None,
            "problems": [],
        }
        text = await sent(editor, uri=uri)
        assert [line.split('"')[1] for line in text.split("\n") if "<file_contents" in line] == [
            "b.md",
            "docs/c.md",
            "docs/d.md",
        ]
        assert '<folder_contents path="docs">\ndocs/c.md\ndocs/d.md\n</folder_contents>' in text
        # A folder's files are shown by their first lines, and are in the scope `context` of edits.
        assert 'lines="1-20" total_lines="41"' in text
        turn = await run(editor, "Both", uri=uri)
        assert [(one["file"], one["rule"]) for one in turn["rejectedEdits"]] == [
            ("private/e.md", "excluded")
        ]
        assert len(turn["hunks"]) == 1
        answer = await attached(editor, {"remove": ["docs", "docs/c.md"]})
        assert (answer["files"], answer["folders"]) == (["b.md"], [])
        assert await sent(editor, uri=uri, preset="API") != ""
        await attached(editor, {"clear": True})
        assert await sent(editor, uri=uri) == ""


async def test_what_can_not_be_attached_is_named_and_nothing_changes(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path), settings=SETTINGS) as editor:
        await ready(editor)
        await attached(editor, "b.md")
        for name, message in [
            ("../outside.md", "contains `..`"),
            (str(tmp_path / "outside.md"), "is outside the workspace"),
            ((tmp_path / "outside.md").as_uri(), "is outside the workspace"),
            ("private/e.md", "'private' is an excluded folder"),
            ("private", "'private' is an excluded folder"),
            ("nope.md", "There is no file or folder 'nope.md'."),
            ("git://x/y", "neither a local file nor untitled"),
            ("untitled:u", "No untitled document 'untitled:u' is open."),
            ("", "'' is not a valid file or folder name"),
        ]:
            code, reported = await refusal(editor, "stet.context", {"add": ["a.md", name]})
            assert (code, message in reported) == (-32602, True), reported
        for given, message in [
            ({"remove": "a.md"}, "'a.md' is not attached"),
            ({"load": "notse"}, "there is no preset 'notse'; did you mean 'notes'?"),
            ({"delete": "notes"}, "the preset 'notes' is defined in the settings"),
            ({"clear": True, "save": "empty"}, "nothing is attached"),
            ({"save": "a\nb"}, "a preset name must be one line"),
            ({"scope": "all"}, "'scope' must be one of current, linked, folder, open, not 'all'"),
            ({"linkDepth": 4}, "'linkDepth' must be from 0 to 3, not 4"),
            ({"ad": "a.md"}, "did you mean 'add'?"),
        ]:
            code, reported = await refusal(editor, "stet.context", given)
            assert (code, message in reported) == (-32602, True), reported
        code, reported = await refusal(editor, "stet.ask", {"prompt": "Why?", "preset": "xyz"})
        assert (code, reported) == (
            -32602,
            "there is no preset 'xyz'; there are 'api', 'notes', \"theirs (the project's)\"",
        )
        assert (await attached(editor))["files"] == ["b.md"]


async def test_presets_and_what_is_attached_outlive_the_server(root: Path, tmp_path: Path) -> None:
    env = {**scripted(tmp_path, done(), done()), "XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env=env, settings=SETTINGS) as editor:
        await ready(editor)
        uri = editor.open("a.md")
        # A preset is for one question; a preset of the settings may name missing files.
        text = await sent(editor, uri=uri, preset="notes")
        assert '<file_contents path="b.md"' in text
        turn = await run(editor, "Why?", uri=uri, preset="notes")
        assert turn["notes"] == ["preset 'notes': There is no file or folder 'gone.md'."]
        assert (await attached(editor))["files"] == []
        # A saved preset overrides one of the settings.
        await attached(editor, {"add": ["docs/c.md", "docs/d.md"], "save": "notes"})
        await attached(editor, {"scope": "folder", "save": "Mine"})
        await attached(editor, {"clear": True, "add": "b.md"})
        assert await presets(editor) == [
            ("api", "settings"),
            ("Mine", "saved"),
            ("notes", "saved"),
            ("theirs (the project's)", "project"),
        ]
        renamed = lsp.FileRename(editor.uri("b.md"), editor.uri("new/b.md"))
        moved = lsp.FileRename(editor.uri("docs"), editor.uri("papers"))
        (root / "new").mkdir()
        (root / "b.md").rename(root / "new" / "b.md")
        (root / "docs").rename(root / "papers")
        editor.from_server("b.md", "new/b.md")
        editor.from_server(*(f"{each}/{n}.md" for each in ("docs", "papers") for n in "cd"))
        editor.workspace_did_rename_files(lsp.RenameFilesParams([renamed, moved]))
        assert (await attached(editor))["files"] == ["new/b.md"]
    async with FakeEditor.start(root, env=env, settings=SETTINGS) as editor:
        await ready(editor)
        uri = editor.open("a.md")
        answer = await attached(editor)
        assert (answer["files"], answer["problems"]) == (["new/b.md"], [])
        loaded = await attached(editor, {"load": "mine"})
        assert (loaded["files"], loaded["scope"]) == (["papers/c.md", "papers/d.md"], "folder")
        deleted = lsp.FileDelete(editor.uri("papers/c.md"))
        editor.workspace_did_delete_files(lsp.DeleteFilesParams([deleted]))
        assert (await attached(editor))["files"] == ["papers/d.md"]
        (root / "papers" / "d.md").unlink()
        editor.from_server("papers/d.md")
        answer = await attached(editor)
        assert answer["problems"] == ["papers/d.md: There is no file or folder 'papers/d.md'."]
        assert "(papers/d.md: There is no file 'papers/d.md'.)" in await sent(editor, uri=uri)
        await attached(editor, {"delete": "notes"})
        assert ("notes", "settings") in await presets(editor)
