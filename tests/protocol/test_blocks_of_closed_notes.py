"""`ai-edit` blocks in closed notes become hunks when the user names the note, or it changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, provider, run, scripted, wait_for_states
from tests.support.openai_server import OpenAIServer

STYLES = ("margin", "inline")
BAD = '```ai-edit\n{"id":"a","type":"move","before":"","after":"x"}\n```\n'


def block(block_id: str, kind: str, before: str, after: str, fence: str = "```") -> str:
    """Format a block like another program, without a tag."""
    fields = {"id": block_id, "type": kind, "before": before, "after": after}
    return f"{fence}ai-edit\n{json.dumps(fields)}\n{fence}\n"


TEXT = (
    f"# Note\n{block('p1', 'add', '', 'added')}middle\n{block('p2', 'replace', 'old', 'new')}last\n"
)
RESOLVED = "# Note\nadded\nmiddle\nnew\nlast\n"
PLAIN = "# Note\nmiddle\nold\nlast\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with a note that has blocks, and one without."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    (folder / "b.md").write_text("other\n")
    return folder


async def of_file(editor: FakeEditor, name: str) -> list[Any]:
    """Return the hunks that `stet.proposals` lists for a note."""
    hunks: list[Any] = await editor.command("stet.proposals", {"file": name})
    return hunks


async def reads(editor: FakeEditor, name: str, text: str) -> None:
    """Wait until the editor has a note open with this text."""
    uri = editor.uri(name)
    await editor.wait_until(lambda: uri in editor.documents and editor.documents[uri].text == text)


@pytest.mark.parametrize("kind", STYLES)
async def test_blocks_of_a_note_that_is_named_are_proposals(root: Path, kind: str) -> None:
    async with FakeEditor.start(root, settings={"edit": {"reviewStyle": kind}}) as editor:
        assert await editor.command("stet.proposals") == []
        first, second = await of_file(editor, "a.md")
        assert (first["author"], first["new"], second["old"]) == ("imported", "added\n", "old\n")
        assert (root / "a.md").read_text() == TEXT
        await editor.command("stet.accept", {"hunk": first["hunk"]})
        await wait_for_states(editor, **{first["hunk"]: "accepted"})
        await editor.command("stet.reject", {"hunk": second["hunk"]})
        await wait_for_states(editor, **{second["hunk"]: "rejected"})
        assert editor.text("a.md") == "# Note\nadded\nmiddle\nold\nlast\n"


@pytest.mark.parametrize(("command", "text"), [("stet.accept", RESOLVED), ("stet.reject", PLAIN)])
async def test_all_of_a_closed_note_is_decided_by_its_name(
    root: Path, command: str, text: str
) -> None:
    async with FakeEditor.start(root) as editor:
        answer = await editor.command(command, {"file": "a.md"})
        assert len(answer["hunks"]) == 2
        await reads(editor, "a.md", text)


async def test_a_note_that_the_model_only_reads_gets_no_proposals(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(("read_file", {"file": "a.md"})), done())
    async with FakeEditor.start(root, env=env) as editor:
        await run(editor, "Read it", uri=editor.open("b.md"))
        assert await editor.command("stet.proposals") == []


@pytest.mark.parametrize("kind", STYLES)
async def test_a_note_that_the_model_changes_shows_its_blocks_too(
    root: Path, tmp_path: Path, kind: str
) -> None:
    env = scripted(tmp_path, calls(edit("a.md", "middle", "MIDDLE")), done())
    settings = {"edit": {"reviewStyle": kind}, "context": {"scope": "folder"}}
    async with FakeEditor.start(root, settings=settings, env=env) as editor:
        turn = await run(editor, "Change it", uri=editor.open("b.md"))
        assert len(turn["hunks"]) == 1, turn
        await editor.wait_for_diagnostics("a.md", lambda shown: len(shown) == 3)
        hunks = await of_file(editor, "a.md")
        assert [hunk["author"] == "imported" for hunk in hunks] == [True, False, True]
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        assert editor.text("a.md") == TEXT.replace("middle", "MIDDLE")
        await editor.command("stet.accept", {"file": "a.md"})
        await editor.wait_until(lambda: editor.text("a.md") == RESOLVED.replace("middle", "MIDDLE"))


async def test_context_of_a_closed_note_lists_its_pending_hunks(root: Path) -> None:
    replies = [api.call("done", summary="Done.")]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        await run(editor, "What is this?", file="a.md")
        asked = json.dumps(server.requests[0].body)
        assert "ai-edit" not in asked
        assert "adds lines before line 2" in asked
        assert len(await editor.command("stet.proposals")) == 2


async def test_blocks_of_an_attached_note_are_proposals(root: Path, tmp_path: Path) -> None:
    env = scripted(tmp_path, done())
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("b.md")
        await editor.command("stet.context", {"add": ["a.md"]})
        await run(editor, "What is this?", uri=editor.uri("b.md"))
        assert len(await editor.command("stet.proposals")) == 2


async def test_a_closed_note_is_read_again_each_time_it_is_named(root: Path) -> None:
    async with FakeEditor.start(root) as editor:
        assert len(await of_file(editor, "a.md")) == 2
        editor.write(root / "a.md", f"above\n{TEXT}{block('p3', 'delete', 'gone', '')}")
        hunks = await of_file(editor, "a.md")
        assert [hunk["kind"] for hunk in hunks] == ["add", "replace", "delete"]
        assert [hunk["range"]["start"]["line"] for hunk in hunks] == [2, 6, 10]
        editor.write(root / "a.md", PLAIN)
        editor.write(root / "b.md", TEXT)
        states = [hunk["state"] for hunk in await of_file(editor, "a.md")]
        assert states == ["rejected", "rejected", "accepted"]
        assert len(await of_file(editor, "b.md")) == 2


async def test_the_same_hunks_wait_when_the_note_is_opened_and_after_a_restart(
    root: Path, tmp_path: Path
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env=env) as editor:
        before = [hunk["hunk"] for hunk in await of_file(editor, "a.md")]
        editor.open("a.md")
        await editor.wait_for_diagnostics("a.md", lambda shown: len(shown) == 2)
        assert [hunk["hunk"] for hunk in await of_file(editor, "a.md")] == before
    async with FakeEditor.start(root, env=env) as editor:
        assert [hunk["hunk"] for hunk in await of_file(editor, "a.md")] == before
        editor.open("a.md")
        await editor.command("stet.accept", {"all": True})
        await editor.wait_until(lambda: editor.text("a.md") == RESOLVED)


async def test_what_can_not_be_read_is_reported_once_for_a_closed_note(root: Path) -> None:
    (root / "a.md").write_text(TEXT + BAD)
    async with FakeEditor.start(root) as editor:
        assert len(await of_file(editor, "a.md")) == 2
        assert len(await of_file(editor, "a.md")) == 2
        editor.open("a.md")
        await editor.wait_for_diagnostics("a.md", lambda shown: len(shown) == 2)
        assert len([one for one in editor.messages if "block is invalid" in one.message]) == 1


@pytest.mark.parametrize("name", ["none.md", "a.txt", ".env.md", "folder.md"])
async def test_a_name_without_a_note_to_read_answers_as_before(root: Path, name: str) -> None:
    (root / "a.txt").write_text(TEXT)
    (root / "folder.md").mkdir()
    (root / ".env.md").write_bytes(b"\0" + TEXT.encode())
    async with FakeEditor.start(root) as editor:
        assert await of_file(editor, name) == []
        assert [one.message for one in editor.messages] == []


async def test_a_note_that_was_just_opened_is_answered_with_its_blocks(root: Path) -> None:
    async with FakeEditor.start(root) as editor:
        editor.open("a.md")
        assert len(await of_file(editor, "a.md")) == 2
        editor.change("a.md", "last\n", f"last\n{block('p3', 'delete', 'gone', '', '`````')}")
        assert len(await of_file(editor, "a.md")) == 3
