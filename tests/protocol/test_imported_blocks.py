"""`ai-edit` blocks that another program has written into notes, through the protocol."""

import json
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, provider, run, scripted, wait_for_states
from tests.support.openai_server import OpenAIServer

STYLES = ("margin", "inline")


def block(block_id: str, kind: str, before: str, after: str, *, tag: bool = True) -> str:
    """Format a block like the Obsidian plugin."""
    fields = {"id": block_id, "type": kind, "before": before, "after": after}
    return f"```ai-edit\n{json.dumps(fields)}\n```\n" + ("#ai_edit\n" if tag else "")


ADD = block("abc123", "add", "", "added\nlines")
REPLACE = block("h1", "replace", "old words", "new words", tag=False)
DELETE = block("x-9", "delete", "gone", "")
TEXT = f"# Note\n{ADD}middle\n{REPLACE}below\n{DELETE}last\n"
PLAIN = "# Note\nmiddle\nold words\nbelow\ngone\nlast\n"
RESOLVED = "# Note\nadded\nlines\nmiddle\nnew words\nbelow\nlast\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with one note."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    return folder


def style(name: str) -> dict[str, Any]:
    return {"edit": {"reviewStyle": name}}


async def found(editor: FakeEditor, name: str, n: int) -> list[Any]:
    """Return the pending hunks of a note, once there are `n`."""
    await editor.wait_for_diagnostics(name, lambda shown: len(shown) == n)
    hunks: list[Any] = await editor.command("stet.proposals", {"file": name, "state": "pending"})
    return hunks


@pytest.mark.parametrize("kind", STYLES)
async def test_blocks_become_hunks_that_commands_decide(root: Path, kind: str) -> None:
    async with FakeEditor.start(root, settings=style(kind)) as editor:
        editor.open("a.md")
        hunks = await found(editor, "a.md", 3)
        assert editor.text("a.md") == TEXT
        assert {hunk["author"] for hunk in hunks} == {"imported"}
        assert [(hunk["kind"], hunk["old"], hunk["new"]) for hunk in hunks] == [
            ("add", "", "added\nlines\n"),
            ("replace", "old words\n", "new words\n"),
            ("delete", "gone\n", ""),
        ]
        await editor.command("stet.accept", {"hunk": hunks[0]["hunk"]})
        await wait_for_states(editor, **{hunks[0]["hunk"]: "accepted"})
        await editor.command("stet.reject", {"hunk": hunks[1]["hunk"]})
        await wait_for_states(editor, **{hunks[1]["hunk"]: "rejected"})
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, **{hunks[2]["hunk"]: "accepted"})
        assert editor.text("a.md") == "# Note\nadded\nlines\nmiddle\nold words\nbelow\nlast\n"
        await editor.command("stet.undo", {"hunk": hunks[0]["hunk"]})
        await wait_for_states(editor, **{hunks[0]["hunk"]: "undone"})
        assert editor.text("a.md") == "# Note\nmiddle\nold words\nbelow\nlast\n"


async def test_block_is_decided_by_its_content_not_by_the_text_around_it(root: Path) -> None:
    gone = block("g1", "replace", "a sentence that is nowhere else", "another")
    there = block("g2", "replace", "middle", "centre")
    drop = block("g3", "delete", "two\nlines", "")
    (root / "b.md").write_text(f"- item\n{gone}middle\n{there}{drop}middle\n")
    async with FakeEditor.start(root) as editor:
        editor.open("b.md")
        first, second, third = [hunk["hunk"] for hunk in await found(editor, "b.md", 3)]
        await editor.command("stet.reject", {"hunk": first})
        await wait_for_states(editor, **{first: "rejected"})
        wanted = "- item\na sentence that is nowhere else\nmiddle\n"
        assert editor.text("b.md") == f"{wanted}{there}{drop}middle\n"
        await editor.command("stet.accept", {"hunk": second})
        await editor.command("stet.accept", {"hunk": third})
        await wait_for_states(editor, **{second: "accepted", third: "accepted"})
        assert editor.text("b.md") == f"{wanted}centre\nmiddle\n"


@pytest.mark.parametrize("kind", STYLES)
async def test_all_of_a_file_is_accepted_or_rejected_at_once(root: Path, kind: str) -> None:
    (root / "b.md").write_text(TEXT)
    async with FakeEditor.start(root, settings=style(kind)) as editor:
        for name in ("a.md", "b.md"):
            editor.open(name)
            await found(editor, name, 3)
        await editor.command("stet.accept", {"file": "a.md"})
        await editor.command("stet.reject", {"file": "b.md"})
        await editor.wait_until(lambda: editor.text("a.md") == RESOLVED)
        await editor.wait_until(lambda: editor.text("b.md") == PLAIN)


async def test_no_model_sees_a_block_and_its_edits_lead_to_the_right_lines(root: Path) -> None:
    replies = [
        api.call("read_file", file="a.md"),
        api.call("edit_file", file="a.md", position="replace:2", content="MIDDLE\n"),
        api.call("edit_file", file="a.md", old_text="last", new_text="LAST"),
        api.call("edit_file", file="a.md", old_text="old words", new_text="others"),
        api.call("done", summary="Done."),
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.md")
        await found(editor, "a.md", 3)
        turn = await run(editor, "Change it")
        sent = json.dumps([asked.body for asked in server.requests])
        assert "ai_edit" not in sent
        assert "```ai-edit" not in sent
        assert "added\\\\nlines" not in sent
        asked = json.dumps(server.requests[0].body)
        assert "- h1: adds lines before line 2\\n- h2: replaces line 3\\n" in asked
        assert "- h3: takes out line 5" in asked
        assert len(turn["hunks"]) == 2, turn
        assert editor.text("a.md") == TEXT
        for hunk in turn["hunks"]:
            await editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text("a.md") == TEXT.replace("middle", "MIDDLE").replace("last", "LAST")
        assert len(await found(editor, "a.md", 3)) == 3


async def test_a_closed_note_is_shown_and_edited_without_its_blocks(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.md"}), ("search_workspace", {"query": "added lines"})),
        calls(edit("a.md", "below", "BELOW")),
        done(),
    )
    settings = {"context": {"scope": "folder"}}
    (root / "b.md").write_text("other\n")
    async with FakeEditor.start(root, settings=settings, env=env) as editor:
        editor.open("b.md")
        turn = await run(editor, "Change it", uri=editor.uri("b.md"))
        assert len(turn["hunks"]) == 1, turn
        await editor.command("stet.accept", {"hunk": turn["hunks"][0]})
        await wait_for_states(editor, **{turn["hunks"][0]: "accepted"})
        await editor.wait_until(lambda: editor.text("a.md") == TEXT.replace("below", "BELOW"))


async def test_malformed_blocks_are_left_alone_and_reported_once(root: Path) -> None:
    bad = (
        '```ai-edit\n{"id":"a","type":"add","before":""}\n```\n'
        '```ai-edit\n{"id":"b","type":"move","before":"","after":"x"}\n```\n'
        "```ai-edit\nnot json\n```\n"
        '```ai-edit\n{"id":7,"type":"add","before":"","after":"x"}\n```\n'
        '~~~ai-edit\n{"id":"c","type":"add","before":"","after":"x"}\n~~~\n'
        f"```ai-edit\n{'[' * 100_000}\n```\n"
        f"- an item\n{indent(REPLACE, '  ')}- another\n{indent(ADD, '  ')}"
        f"````md\n{ADD}````\n"
        '```ai-edit\n{"id":"d","type":"add","before":"","after":"x"}\n'
    )
    (root / "bad.md").write_text(f"{bad}")
    async with FakeEditor.start(root) as editor:
        editor.open("bad.md")
        await editor.wait_until(lambda: any("bad.md" in one for one in messages(editor)))
        editor.open("a.md")
        await found(editor, "a.md", 3)
        assert await editor.command("stet.proposals", {"file": "bad.md"}) == []
        editor.close("bad.md")
        editor.open("bad.md")
        editor.close("a.md")
        editor.open("a.md")
        assert len([one for one in messages(editor) if "bad.md" in one]) == 1
        assert editor.text("bad.md") == bad


def messages(editor: FakeEditor) -> list[str]:
    """Return the messages shown to the user."""
    return [message.message for message in editor.messages]


async def test_blocks_are_the_same_hunks_after_a_restart(root: Path, tmp_path: Path) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.md")
        before = await found(editor, "a.md", 3)
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.md")
        after = await found(editor, "a.md", 3)
        assert [hunk["hunk"] for hunk in after] == [hunk["hunk"] for hunk in before]
        await editor.command("stet.accept", {"all": True})
        await editor.wait_until(lambda: editor.text("a.md") == RESOLVED)


@pytest.mark.parametrize("kind", STYLES)
async def test_a_block_is_decided_by_hand_and_comes_back_by_undo(root: Path, kind: str) -> None:
    async with FakeEditor.start(root, settings=style(kind)) as editor:
        editor.open("a.md")
        add, replace, delete = [hunk["hunk"] for hunk in await found(editor, "a.md", 3)]
        editor.change("a.md", ADD, "added\nlines\n")
        editor.change("a.md", REPLACE, "old words\n")
        editor.change("a.md", '"after": ""', '"after": "less"')
        await wait_for_states(editor, **{add: "accepted", replace: "rejected", delete: "pending"})
        (hunk,) = await found(editor, "a.md", 1)
        assert hunk["new"] == "less\n"
        editor.change("a.md", "old words\n", REPLACE)
        await wait_for_states(editor, **{replace: "pending"})
        await editor.command("stet.accept", {"file": "a.md"})
        await editor.wait_until(
            lambda: editor.text("a.md") == RESOLVED.replace("below\n", "below\nless\n")
        )


async def test_a_block_that_is_pasted_is_found(root: Path) -> None:
    (root / "b.md").write_text("one\ntwo\n")
    async with FakeEditor.start(root) as editor:
        editor.open("b.md")
        for letter in ADD:
            editor.change("b.md", "two\n", f"{letter}two\n")
        (hunk,) = await found(editor, "b.md", 1)
        await editor.command("stet.accept", {"hunk": hunk["hunk"]})
        await editor.wait_until(lambda: editor.text("b.md") == "one\nadded\nlines\ntwo\n")


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
async def test_twins_and_other_line_ends(root: Path, end: str) -> None:
    text = f"top\n{ADD}one\n{ADD}two\n{REPLACE}".removesuffix("\n").replace("\n", end)
    (root / "b.md").write_bytes(text.encode())
    async with FakeEditor.start(root) as editor:
        editor.open("b.md")
        first, second, third = [hunk["hunk"] for hunk in await found(editor, "b.md", 3)]
        gone = ADD.replace("\n", end)
        editor.change("b.md", f"top{end}{gone}", f"top{end}")
        await wait_for_states(editor, **{first: "rejected", second: "pending"})
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, **{second: "accepted", third: "accepted"})
        wanted = "top\none\nadded\nlines\ntwo\nnew words".replace("\n", end)
        assert editor.text("b.md") == wanted


async def test_a_hunk_of_that_id_elsewhere_stays_what_it_is(root: Path, tmp_path: Path) -> None:
    env = scripted(tmp_path, calls(edit("b.md", "two", "2")), done())
    (root / "b.md").write_text("one\ntwo\n")
    async with FakeEditor.start(root, settings=style("inline"), env=env) as editor:
        turn = await run(editor, "Do", uri=editor.open("b.md"))
        assert turn["hunks"] == ["h1"]
        editor.open("a.md")
        hunks = await found(editor, "a.md", 3)
        assert "h1" not in [hunk["hunk"] for hunk in hunks]
        await editor.command("stet.accept", {"file": "a.md"})
        await editor.wait_until(lambda: editor.text("a.md") == RESOLVED)
        await wait_for_states(editor, h1="pending")


async def test_a_block_that_the_editors_undo_brings_back_waits_again(root: Path) -> None:
    async with FakeEditor.start(root) as editor:
        editor.open("a.md")
        add, replace, _ = [hunk["hunk"] for hunk in await found(editor, "a.md", 3)]
        await editor.command("stet.accept", {"hunk": add})
        await editor.command("stet.reject", {"hunk": replace})
        await wait_for_states(editor, **{add: "accepted", replace: "rejected"})
        editor.change("a.md", "added\nlines\n", ADD)
        editor.change("a.md", "old words\n", REPLACE)
        await wait_for_states(editor, **{add: "pending", replace: "pending"})
        assert editor.text("a.md") == TEXT
        await editor.command("stet.accept", {"file": "a.md"})
        await editor.wait_until(lambda: editor.text("a.md") == RESOLVED)
        assert len(await editor.command("stet.proposals")) == 3


async def test_what_another_program_decides_while_stet_is_away_is_decided(
    root: Path, tmp_path: Path
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.md")
        hunks = [hunk["hunk"] for hunk in await found(editor, "a.md", 3)]
    note = root / "a.md"
    note.write_text("above\n" + TEXT.replace(ADD, "added\nlines\n").replace(REPLACE, "old words\n"))
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.md")
        await wait_for_states(
            editor, **dict(zip(hunks, ("accepted", "rejected", "pending"), strict=True))
        )
        (hunk,) = await found(editor, "a.md", 1)
        assert hunk["range"]["start"]["line"] == 7
        await editor.command("stet.reject", {"file": "a.md"})
        await editor.wait_until(lambda: "gone\nlast\n" in editor.text("a.md"))


async def test_protected_note_needs_its_own_approval(root: Path) -> None:
    (root / "AGENTS.md").write_text(TEXT)
    async with FakeEditor.start(root) as editor:
        editor.open("AGENTS.md")
        hunks = await found(editor, "AGENTS.md", 3)
        assert all(hunk["protected"] for hunk in hunks)
        answer = await editor.command("stet.accept", {"all": True})
        assert answer["hunks"] == []
        await editor.command("stet.accept", {"hunk": hunks[0]["hunk"], "protected": True})
        await wait_for_states(editor, **{hunks[0]["hunk"]: "accepted"})
