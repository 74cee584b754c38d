"""Accepting hunks in closed files, whatever the editor answers: the text must have been checked."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES, Quirk
from tests.support.live_turns import states, wait_for_states
from tests.support.proposals import HURRIED_SERVER, PROPOSING_SERVER, propose

TEXT = "one\ntwo\nand\nthree\n"
WANTED = {"edit": "a.txt", "changes": [["two", "2\n2b"], ["three", "3"]]}
SHOWING = [client for client in PROFILES if client not in {"kakoune", "kate"}]
"""The clients that announce that they can show a file."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@pytest.mark.parametrize("client", PROFILES)
async def test_edit_of_a_closed_file_that_the_editor_only_claims_is_detected(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(
        root, client=client, quirk=Quirk.LIE, command=HURRIED_SERVER
    ) as editor:
        editor.opens_shown = True
        first, second = await propose(editor, WANTED)
        await editor.command("stet.accept", {"hunk": first})
        how = "Stet: not applied." if client in SHOWING else "Stet: not seen."
        shown_text = await editor.wait_for_message(how)
        assert await states(editor) == {first: "pending", second: "pending"}
        [hunk, _] = await editor.command("stet.proposals")
        assert hunk["reason"] in shown_text
        editor.quirk = None
        if client not in SHOWING:
            editor.open("a.txt")
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        assert editor.text("a.txt") == "one\n2\n2b\nand\nthree\n"
        assert len([one for one in editor.messages if how in one.message]) == 1


@pytest.mark.parametrize("client", PROFILES)
async def test_edit_of_a_closed_file_is_confirmed_without_showing_it(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        editor.opens_shown = True
        first, second = await propose(editor, WANTED)
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted", second: "pending"})
        assert editor.shown_documents == []


@pytest.mark.parametrize("client", SHOWING)
async def test_edit_in_an_unreported_buffer_is_confirmed_when_it_is_shown(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(
        root, client=client, quirk=Quirk.HIDDEN, command=HURRIED_SERVER
    ) as editor:
        editor.opens_shown = True
        first, second = await propose(editor, WANTED)
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted", second: "pending"})
        [shown] = editor.shown_documents
        assert (shown.uri, shown.take_focus) == (editor.uri("a.txt"), False)
        await editor.command("stet.accept", {"hunk": second})
        await wait_for_states(editor, **{second: "accepted"})
        assert editor.text("a.txt") == "one\n2\n2b\nand\n3\n"


@pytest.mark.parametrize("how", ["open", "save"])
@pytest.mark.parametrize("client", ["neovim", "kakoune", "eglot"])
async def test_unconfirmed_edit_is_never_sent_twice(root: Path, client: str, how: str) -> None:
    async with FakeEditor.start(
        root, client=client, quirk=Quirk.HIDDEN, command=HURRIED_SERVER
    ) as editor:
        first, second = await propose(editor, WANTED)
        await editor.command("stet.accept", {"hunk": first})
        await editor.wait_for_message("Open or save it")
        assert await states(editor) == {first: "pending", second: "pending"}
        for hunk in (first, second):
            editor.messages.clear()
            await editor.command("stet.accept", {"hunk": hunk})
            await editor.wait_for_message("its text never showed it")
        assert len(editor.applied) == 1
        if how == "open":
            editor.open("a.txt")
        else:
            uri = editor.save_hidden("a.txt")
            if editor.registered:
                event = lsp.FileEvent(uri, lsp.FileChangeType.Changed)
                editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
        await wait_for_states(editor, **{first: "accepted", second: "pending"})
        editor.quirk = None
        await editor.command("stet.accept", {"hunk": second})
        await wait_for_states(editor, **{second: "accepted"})
        in_file = (root / "a.txt").read_text()
        text = editor.text("a.txt") if editor.documents else in_file
        assert text == "one\n2\n2b\nand\n3\n"
