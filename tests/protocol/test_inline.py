"""The in-text review style: blocks are inserted and decided, and no model sees them."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from stet.llm.model import Completion, ToolCall
from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import (
    calls,
    done,
    edit,
    provider,
    run,
    scripted,
    states,
    wait_for_states,
)
from tests.support.openai_server import OpenAIServer

CLIENTS = ["neovim", "helix", "vscode", "eglot"]
INLINE = {"edit": {"reviewStyle": "inline"}}
TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"
EDITS = (
    edit("{}", "two", "2", "Digit"),
    edit("{}", "four\n", "", "Fewer"),
    edit("{}", "six", "six\nseven", "More"),
)
MARKED = (
    "one\n<<<<<<< yours\ntwo\n=======\n2\n>>>>>>> stet h1 (Digit)\nthree\n"
    "<<<<<<< yours\nfour\n=======\n>>>>>>> stet h2 (Fewer)\nfive\nsix\n"
    "<<<<<<< yours\n=======\nseven\n>>>>>>> stet h3 (More)\n"
)
FENCED = (
    'one\n```ai-edit\n{"id":"h1","type":"replace","before":"two","after":"2"}\n```\n#ai_edit\n'
    'three\n```ai-edit\n{"id":"h2","type":"delete","before":"four","after":""}\n```\n#ai_edit\n'
    'five\nsix\n```ai-edit\n{"id":"h3","type":"add","before":"","after":"seven"}\n```\n#ai_edit\n'
)
BLOCKED = {"a.py": MARKED, "a.md": FENCED}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of a note and a source file with the same text."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in BLOCKED:
        (folder / name).write_text(TEXT)
    return folder


def specs(name: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple((tool, {**arguments, "file": name}) for tool, arguments in EDITS)


def answer(*wanted: tuple[str, dict[str, Any]]) -> api.Reply:
    """Make a provider's answer that calls tools."""
    made = (ToolCall(f"c{n}", tool, json.dumps(found)) for n, (tool, found) in enumerate(wanted))
    return api.of(Completion("", tuple(made)))


async def proposed(editor: FakeEditor, name: str) -> Any:
    """Run a turn whose three hunks are blocks in the open text."""
    uri = editor.open(name)
    turn = await run(editor, "Do", uri=uri)
    assert len(turn["hunks"]) == 3, turn
    await editor.wait_until(lambda: editor.text(uri) == BLOCKED[name])
    return turn


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", BLOCKED)
async def test_blocks_are_decided_by_action_and_by_hand(
    root: Path, tmp_path: Path, name: str, client: str
) -> None:
    env = scripted(tmp_path, calls(*specs(name)), done())
    async with FakeEditor.start(root, client=client, settings=INLINE, env=env) as editor:
        await proposed(editor, name)
        assert len(editor.applied) == 1
        await editor.wait_for_diagnostics(name, lambda found: len(found) == 3)
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        await editor.command("stet.reject", {"hunk": "h2", "reason": "four is needed"})
        await wait_for_states(editor, h2="rejected")
        block = BLOCKED[name].partition("six\n")[2]
        editor.change(name, block, "seven\n")
        await wait_for_states(editor, h1="accepted", h2="rejected", h3="accepted")
        assert editor.text(name) == "one\n2\nthree\nfour\nfive\nsix\nseven\n"


@pytest.mark.parametrize("client", CLIENTS)
async def test_code_actions_on_a_block_decide_it(root: Path, tmp_path: Path, client: str) -> None:
    env = scripted(tmp_path, calls(*specs("a.py")), done())
    async with FakeEditor.start(root, client=client, settings=INLINE, env=env) as editor:
        await proposed(editor, "a.py")
        await editor.wait_for_diagnostics("a.py", lambda found: len(found) == 3)
        await editor.choose("a.py", "two", "Stet: Accept hunk")
        await wait_for_states(editor, h1="accepted")
        await editor.choose("a.py", ">>>>>>> stet h3", "Stet: Reject hunk")
        await wait_for_states(editor, h3="rejected")
        assert editor.text("a.py") == MARKED.replace(
            "<<<<<<< yours\ntwo\n=======\n2\n>>>>>>> stet h1 (Digit)\n", "2\n"
        ).replace("<<<<<<< yours\n=======\nseven\n>>>>>>> stet h3 (More)\n", "")


@pytest.mark.parametrize("name", BLOCKED)
async def test_closing_without_saving_decides_nothing(
    root: Path, tmp_path: Path, name: str
) -> None:
    env = scripted(tmp_path, calls(*specs(name)), done())
    async with FakeEditor.start(root, settings=INLINE, env=env) as editor:
        turn = await proposed(editor, name)
        editor.close(name)
        answer = await editor.command("stet.accept", {"turn": turn["turn"]})
        assert answer == {"hunks": ["h1", "h2", "h3"], "refused": []}
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")
        assert editor.text(name) == "one\n2\nthree\nfive\nsix\nseven\n"


@pytest.mark.parametrize("name", BLOCKED)
async def test_all_can_be_rejected_at_once_and_undone_or_restored_later(
    root: Path, tmp_path: Path, name: str
) -> None:
    env = scripted(tmp_path, calls(*specs(name)), done())
    async with FakeEditor.start(root, settings=INLINE, env=env) as editor:
        turn = await proposed(editor, name)
        await editor.command("stet.reject", {"turn": turn["turn"]})
        await wait_for_states(editor, h1="rejected", h2="rejected", h3="rejected")
        assert editor.text(name) == TEXT
        assert len(editor.applied) == 2
        await editor.command("stet.restore", {"hunk": "h1"})
        await editor.wait_until(lambda: len(editor.applied) == 3)
        assert "h1" in editor.text(name)
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        await editor.command("stet.undo", {"hunk": "h1"})
        await wait_for_states(editor, h1="undone")
        assert editor.text(name) == TEXT


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", BLOCKED)
async def test_no_model_sees_a_block_and_its_edits_lead_to_the_right_lines(
    root: Path, tmp_path: Path, name: str, client: str
) -> None:
    replies = [
        answer(*specs(name)),
        api.call("done", summary="One."),
        answer(("read_file", {"file": name}), ("search_workspace", {"query": "two yours"})),
        api.call("edit_file", file=name, position="replace:3", content="3\n"),
        api.call("done", summary="Two."),
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, client=client, settings=INLINE, env=provider(server)) as editor,
    ):
        await proposed(editor, name)
        editor.select(name, "five")
        await run(editor, "More")
        await editor.wait_until(lambda: "h4" in editor.text(name))
        sent = json.dumps([asked.body["messages"][-3:] for asked in server.requests[2:]])
        for sign in ("<<<<<<<", ">>>>>>>", "```ai-edit", "#ai_edit"):
            assert sign not in sent
        assert '<manually_added_selection path=\\"' + name + '\\" lines=\\"5-5\\">' in sent
        for hunk in ("h1", "h2", "h3", "h4"):
            await editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(name) == "one\n2\n3\nfive\nsix\nseven\n"


async def test_the_agent_may_change_what_it_has_pending_in_the_text(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(
        tmp_path,
        calls(*specs("a.py")),
        done(),
        calls(("read_file", {"file": "a.py"})),
        calls(edit("a.py", "2", "zwei", "German")),
        done(),
    )
    async with FakeEditor.start(root, settings=INLINE, env=env) as editor:
        await proposed(editor, "a.py")
        await run(editor, "German", uri=editor.uri("a.py"))
        await editor.wait_until(lambda: "stet h4 (German)" in editor.text("a.py"))
        assert await states(editor) == {
            "h1": "superseded",
            "h2": "pending",
            "h3": "pending",
            "h4": "pending",
        }
        assert editor.text("a.py") == MARKED.replace("\n2\n", "\nzwei\n").replace(
            "h1 (Digit)", "h4 (German)"
        )


async def page_of(editor: FakeEditor) -> str:
    """Open the review page in the editor."""
    uri = str((await editor.command("stet.review"))["uri"])
    await editor.wait_until(lambda: [each for each in editor.shown_documents if each.uri == uri])
    return editor.open(uri)


def save(editor: FakeEditor, page: str, *replaced: tuple[str, str]) -> None:
    """Edit a page and save it."""
    for old, new in replaced:
        editor.change(page, old, new)
    identifier = lsp.TextDocumentIdentifier(page)
    editor.text_document_did_save(lsp.DidSaveTextDocumentParams(identifier))


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", BLOCKED)
async def test_a_block_is_amended_on_the_review_page_and_follows(
    root: Path, tmp_path: Path, name: str, client: str
) -> None:
    env = scripted(tmp_path, calls(*specs(name)), done())
    async with FakeEditor.start(root, client=client, settings=INLINE, env=env) as editor:
        await proposed(editor, name)
        page = await page_of(editor)
        save(editor, page, ("+2\n", "+zwei\n+II\n"), ("+seven\n", "+sieben\n"))
        await editor.wait_for_message("Stet: 2 hunks amended.")
        within = "zwei\nII" if name == "a.py" else "zwei\\nII"
        old = "\n2\n" if name == "a.py" else '"2"'
        wanted = BLOCKED[name].replace(old, old.replace("2", within)).replace("seven", "sieben")
        assert editor.text(name) == wanted
        assert len(editor.applied) == 2
        save(editor, page, ("+zwei\n", "+zwo\n"))
        await editor.wait_for_message("Stet: 1 hunk amended.")
        assert editor.text(name) == wanted.replace("zwei", "zwo")
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")
        assert editor.text(name) == "one\nzwo\nII\nthree\nfive\nsix\nsieben\n"


async def test_lines_that_a_block_gets_on_the_page_end_as_those_of_the_file(
    root: Path, tmp_path: Path
) -> None:
    (root / "b.py").write_bytes(b"one\r\ntwo")
    env = scripted(tmp_path, calls(edit("b.py", "two", "2", "Digit")), done())
    async with FakeEditor.start(root, settings=INLINE, env=env) as editor:
        uri = editor.open("b.py")
        await run(editor, "Do", uri=uri)
        await editor.wait_until(lambda: "<<<<<<<" in editor.text(uri))
        page = await page_of(editor)
        save(editor, page, ("+2\n", "+2\n+II\n"))
        await editor.wait_for_message("Stet: 1 hunk amended.")
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted")
        assert editor.text(uri) == "one\r\n2\r\nII"


async def test_a_block_that_the_editor_does_not_amend_waits_as_it_was_and_may_be_saved_again(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(*specs("a.py")), done())
    async with FakeEditor.start(root, settings=INLINE, env=env) as editor:
        await proposed(editor, "a.py")
        page = await page_of(editor)
        editor.quirk = Quirk.REFUSE
        save(editor, page, ("+2\n", "+zwei\n"))
        message = await editor.wait_for_message("h1 unchanged")
        assert "save it again" in message
        assert editor.text("a.py") == MARKED
        assert "+zwei\n" in editor.text(page)
        editor.quirk = None
        save(editor, page)
        await editor.wait_for_message("Stet: 1 hunk amended.")
        assert editor.text("a.py") == MARKED.replace("\n2\n", "\nzwei\n")


async def test_a_block_of_a_file_that_was_closed_is_amended_all_the_same(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(*specs("a.py")), done())
    async with FakeEditor.start(root, settings=INLINE, env=env) as editor:
        await proposed(editor, "a.py")
        page = await page_of(editor)
        editor.close("a.py")
        save(editor, page, ("+2\n", "+zwei\n"))
        await editor.wait_for_message("Stet: 1 hunk amended.")
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")
        assert editor.text("a.py") == "one\nzwei\nthree\nfive\nsix\nseven\n"


@pytest.mark.parametrize("client", CLIENTS)
async def test_undoing_the_markers_in_the_editor_brings_the_conflict_back(
    root: Path, tmp_path: Path, client: str
) -> None:
    env = scripted(tmp_path, calls(edit("a.py", "two", "2", "Digit")), done())
    async with FakeEditor.start(root, client=client, env=env) as editor:
        uri = editor.open("a.py")
        await run(editor, "Digits", uri=uri)
        editor.change(uri, "two", "zwei")
        await wait_for_states(editor, h1="conflict")
        [before] = await editor.command("stet.proposals")
        await editor.command("stet.resolve", {"hunk": "h1", "how": "markers"})
        await wait_for_states(editor, h1="pending")
        block = "<<<<<<< yours\nzwei\n=======\n2\n>>>>>>> stet h1 (Digit)\n"
        for _ in range(2):
            editor.change(uri, block, "zwei\n")
            await wait_for_states(editor, h1="conflict")
            assert await editor.command("stet.proposals") == [before]
            editor.change(uri, "zwei\n", block)
            await wait_for_states(editor, h1="pending")
        editor.change(uri, block, "zwei\n")
        await wait_for_states(editor, h1="conflict")
        editor.change(uri, "zwei", "two")
        await wait_for_states(editor, h1="pending")
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        assert editor.text(uri) == TEXT.replace("two", "2")


async def test_a_conflict_is_put_into_the_text_with_markers_when_asked_for(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(edit("a.py", "two", "2", "Digit")), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.py")
        await run(editor, "Digits", uri=uri)
        assert editor.text(uri) == TEXT
        editor.change(uri, "two", "zwei")
        await wait_for_states(editor, h1="conflict")
        await editor.command("stet.resolve", {"hunk": "h1", "how": "markers"})
        await wait_for_states(editor, h1="pending")
        block = "<<<<<<< yours\nzwei\n=======\n2\n>>>>>>> stet h1 (Digit)\n"
        assert editor.text(uri) == TEXT.replace("two\n", block)
        editor.change(uri, block, "zwei oder 2\n")
        await wait_for_states(editor, h1="accepted")
        [hunk] = await editor.command("stet.proposals")
        assert hunk["reason"] == "amended by hand"


@pytest.mark.parametrize("quirk", [Quirk.REFUSE, Quirk.NULL])
async def test_where_the_editor_refuses_the_hunks_stay_in_the_margin(
    root: Path, tmp_path: Path, quirk: Quirk
) -> None:
    env = scripted(tmp_path, calls(*specs("a.py")), done())
    async with FakeEditor.start(root, settings=INLINE, env=env, quirk=quirk) as editor:
        uri = editor.open("a.py")
        await run(editor, "Do", uri=uri)
        await editor.wait_until(lambda: editor.applied)
        await editor.wait_for_diagnostics(uri, lambda found: len(found) == 3)
        editor.quirk = None
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")
        assert editor.text(uri) == "one\n2\nthree\nfive\nsix\nseven\n"


async def test_text_typed_while_the_blocks_are_on_their_way_is_kept(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(tmp_path, calls(*specs("a.py")), done())
    async with FakeEditor.start(root, client="helix", settings=INLINE, env=env) as editor:
        await proposed(editor, "a.py")
        answer = editor.command("stet.reject", {"all": True})
        # Typed before the edit arrives, so the edit's version is stale: the edit is sent once more.
        editor.type("a.py", 0, 0, "zero\n")
        await answer
        await wait_for_states(editor, h1="rejected", h2="rejected", h3="rejected")
        assert editor.text("a.py") == f"zero\n{TEXT}"


async def test_a_file_that_is_not_open_gets_its_blocks_too(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.md"})),
        calls(*specs("a.md")),
        done(),
    )
    async with FakeEditor.start(root, client="helix", settings=INLINE, env=env) as editor:
        uri = editor.open("a.py")
        await run(editor, "Do", uri=uri)
        await editor.wait_until(lambda: editor.uri("a.md") in editor.documents)
        await editor.wait_until(lambda: editor.text("a.md") == FENCED)
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")
        assert editor.text("a.md") == "one\n2\nthree\nfive\nsix\nseven\n"
