"""Two sessions of another agent, Stet's own agent and the user, in one file at the same time."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.claude_tools import Claude
from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted
from tests.support.shell import Shell

SAVED = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", SAVED)
    return shell


@pytest.fixture
async def editor(shell: Shell, tmp_path: Path) -> AsyncIterator[FakeEditor]:
    """Start an editor whose model changes the lines 2 and 4 of a.txt, one in each turn."""
    model = scripted(
        tmp_path,
        calls(edit("a.txt", "four", "FOUR")), done(),
        calls(edit("a.txt", "two", "TWO")), done(),
    )  # fmt: skip
    async with FakeEditor.start(shell.folder, env={**shell.env, **model}) as editor:
        editor.open("a.txt")
        await editor.command("stet.proposals")
        yield editor


async def pending(editor: FakeEditor) -> list[tuple[str, str, str | None]]:
    """Return the author, new text and note of each pending hunk, in the order of the text."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    listed.sort(key=lambda item: item["range"]["start"]["line"])
    return [(item["author"], item["new"], item["reason"]) for item in listed]


async def test_each_agent_sees_its_own_pending_text_only(shell: Shell, editor: FakeEditor) -> None:
    first, second = Claude(shell, "first"), Claude(shell, "second")
    for one in (first, second):
        await one.prompt()
    await first.tool("Read", "a.txt")
    await second.tool("Read", "a.txt")
    await first.tool("Edit", "a.txt", old_string="one", new_string="1")
    await second.tool("Edit", "a.txt", old_string="three", new_string="3")
    await run(editor, "Change four.", uri=editor.uri("a.txt"))
    editor.change("a.txt", "five\n", "five, typed\n")
    editor.flush()

    assert await pending(editor) == [
        ("claude", "1\n", None),
        ("claude", "3\n", None),
        ("stet", "FOUR\n", None),
    ]
    assert (await first.tool("Read", "a.txt")).text == "1\ntwo\nthree\nfour\nfive, typed\n"
    assert (await second.tool("Read", "a.txt")).text == "one\ntwo\n3\nfour\nfive, typed\n"
    for item in await editor.command("stet.proposals", {"state": "pending"}):
        await editor.command("stet.accept", {"hunk": item["hunk"]})
    await editor.wait_until(lambda: editor.text("a.txt") == "1\ntwo\n3\nFOUR\nfive, typed\n")
    assert (shell.folder / "a.txt").read_text() == SAVED


async def named(editor: FakeEditor, text: str) -> Any:
    """Return the hunk with a new text."""
    listed = await editor.command("stet.proposals")
    return next(item for item in listed if item["new"] == text)


async def test_hunk_over_the_hunk_of_another_agent_names_it(
    shell: Shell, editor: FakeEditor
) -> None:
    first, second = Claude(shell, "first"), Claude(shell, "second")
    for one in (first, second):
        await one.prompt()
    await first.tool("Edit", "a.txt", old_string="two", new_string="2")
    await second.tool("Edit", "a.txt", old_string="two", new_string="II")
    was = await named(editor, "2\n")
    note = f"replaces {was['hunk']} of another session: restore it to have it instead"
    assert await pending(editor) == [("claude", "II\n", note)]
    await editor.wait_until(lambda: note in str(editor.diagnostics))
    await run(editor, "Change four.", uri=editor.uri("a.txt"))
    await run(editor, "Change two.", uri=editor.uri("a.txt"))
    second_was = await named(editor, "II\n")
    note = f"replaces {second_was['hunk']} of claude: restore it to have it instead"
    assert await pending(editor) == [("stet", "TWO\n", note), ("stet", "FOUR\n", None)]

    await editor.command("stet.restore", {"hunk": second_was["hunk"]})
    assert [new for _, new, _ in await pending(editor)] == ["II\n", "FOUR\n"]
    assert (await second.tool("Read", "a.txt")).text == SAVED.replace("two", "II")
    news = await first.prompt("Go on.")
    assert f"{was['hunk']} " in news
    assert "replaced by the proposal of another conversation" in news
    assert (await first.tool("Read", "a.txt")).text == SAVED


async def amend_on_page(editor: FakeEditor, old: str, new: str) -> None:
    """Change a line of a pending hunk on the review page."""
    uri = (await editor.command("stet.review", {}))["uri"]
    await editor.wait_until(lambda: [one for one in editor.shown_documents if one.uri == uri])
    editor.open(uri)
    editor.change(uri, f"+{old}\n", f"+{new}\n")
    page = lsp.TextDocumentIdentifier(uri)
    editor.text_document_did_save(lsp.DidSaveTextDocumentParams(page))
    await editor.wait_for_message("Stet: 1 hunk amended.")


async def test_edit_of_a_hunk_that_the_user_has_amended_is_a_conflict(
    shell: Shell, editor: FakeEditor
) -> None:
    claude = Claude(shell)
    await claude.prompt()
    await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    was = await named(editor, "2\n")
    await amend_on_page(editor, "2", "zwei")
    again = await claude.tool("Edit", "a.txt", old_string="2", new_string="II")
    conflict = await named(editor, "II\n")
    assert conflict["state"] == "conflict"
    assert conflict["reason"] == f"you changed the earlier proposal {was['hunk']}"
    assert (
        f"Your lines wait as {conflict['hunk']}, in conflict with those of the user" in again.note
    )
    assert again.note.endswith("The user's lines are now:\nzwei\n")
    await editor.wait_until(lambda: conflict["reason"] in str(editor.diagnostics))
    assert "zwei" in await claude.prompt("Go on.")

    await editor.command("stet.resolve", {"hunk": conflict["hunk"], "how": "mine"})
    assert await pending(editor) == [("claude", "zwei\n", None)]
    assert (await claude.tool("Read", "a.txt")).text == SAVED.replace("two", "zwei")
    await claude.tool("Edit", "a.txt", old_string="zwei", new_string="drei")
    assert [new for _, new, _ in await pending(editor)] == ["drei\n"]
    assert editor.text("a.txt") == SAVED
