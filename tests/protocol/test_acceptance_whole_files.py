"""Files that are created, moved, removed and renamed while they have pending hunks."""

import contextlib
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import states, wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose

TEXT = "one\ntwo\nand\nthree\n"
WANTED = {"edit": "a.txt", "changes": [["two", "2"], ["three", "3"]]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


def text_at(uri: str) -> str:
    """Read a file by its URI."""
    return Path(uri.removeprefix("file://")).read_text()


async def hunk_of(editor: FakeEditor, hunk: str) -> dict[str, Any]:
    """Return a hunk as `stet.proposals` lists it."""
    listed = await editor.command("stet.proposals")
    return next(one for one in listed if one["hunk"] == hunk)


async def test_of_what_the_editor_took_only_in_part_the_rest_waits(root: Path) -> None:
    async with FakeEditor.start(
        root, client="vscode", quirk=Quirk.PARTIAL, command=PROPOSING_SERVER
    ) as editor:
        uri = editor.open("a.txt")
        first, second = await propose(editor, WANTED)
        await editor.command("stet.accept", {"uri": uri})
        await editor.wait_for_message("not applied")
        assert await states(editor) == {first: "accepted", second: "pending"}
        assert editor.text(uri) == "one\n2\nand\nthree\n"
        await editor.command("stet.accept", {"hunk": second})
        await wait_for_states(editor, **{second: "accepted"})
        assert editor.text(uri) == "one\n2\nand\n3\n"


async def test_what_is_refused_twice_is_shown_as_a_patch(root: Path) -> None:
    async with FakeEditor.start(root, quirk=Quirk.REFUSE, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        first, _ = await propose(editor, WANTED)
        await editor.command("stet.accept", {"hunk": first})
        await editor.wait_for_message("without a reason")
        await editor.command("stet.accept", {"hunk": first})
        await editor.wait_for_message("It was saved to")
        [shown] = editor.shown_documents
        assert text_at(shown.uri) == (
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n and\n three\n"
        )


async def test_the_hunks_of_a_file_go_with_it_when_the_user_renames_it(root: Path) -> None:
    async with FakeEditor.start(root, client="helix", command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        first, _ = await propose(editor, WANTED)
        new = editor.rename("a.txt", "b.txt", reports=True)
        await editor.wait_for_diagnostics(new, lambda shown: len(shown) == 2)
        editor.type(new, 0, 0, "zero\n")
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        assert editor.text(new) == "zero\none\n2\nand\nthree\n"


@pytest.mark.parametrize("name", ["\ud800", "http://x/a", ""])
async def test_hunks_stay_where_they_are_when_their_file_is_renamed_to_what_is_no_file(
    root: Path, name: str
) -> None:
    async with FakeEditor.start(root, client="helix", command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        first, second = await propose(editor, WANTED)
        editor.workspace_did_rename_files(lsp.RenameFilesParams([lsp.FileRename(uri, name)]))
        editor.type(uri, 0, 0, "zero\n")
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        assert editor.text(uri) == "zero\none\n2\nand\nthree\n"
        await editor.command("stet.reject", {"hunk": second})
        await wait_for_states(editor, **{second: "rejected"})


async def test_a_name_with_half_a_character_keeps_nothing_from_the_disk(root: Path) -> None:
    odd = ("\ud800", "file://\ud800/a", "file:///\ud800", "untitled:\ud800", "git:\ud800")
    async with FakeEditor.start(root, client="helix", command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        first, second = await propose(editor, WANTED)
        for one in odd:
            item = lsp.TextDocumentItem(one, "text", 1, "x\ud800\n")
            editor.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
            editor.workspace_did_create_files(lsp.CreateFilesParams([lsp.FileCreate(one)]))
            renamed = lsp.FileRename(one, f"{one}b")
            editor.workspace_did_rename_files(lsp.RenameFilesParams([renamed]))
            editor.workspace_did_delete_files(lsp.DeleteFilesParams([lsp.FileDelete(one)]))
            for command in ("stet.focus", "stet.carryOut", "stet.showContext", "stet.next"):
                for name in ("uri", "file"):
                    with contextlib.suppress(JsonRpcException):
                        await editor.command(command, {name: one})
        away = lsp.FileRename(uri, f"file://\ud800/{uri.rpartition('/')[2]}")
        editor.workspace_did_rename_files(lsp.RenameFilesParams([away]))
        back = lsp.FileRename(away.new_uri, uri)
        editor.workspace_did_rename_files(lsp.RenameFilesParams([back]))
        await editor.command("stet.reject", {"hunk": second})
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted", second: "rejected"})
        assert editor.text(uri) == "one\n2\nand\nthree\n"


@pytest.mark.parametrize("client", ["neovim", "vscode", "eglot"])
async def test_the_hunks_of_a_text_go_with_it_when_it_is_saved_as_another_file(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        first, _ = await propose(editor, WANTED)
        new = editor.save_as("a.txt", "sub/b.txt")
        await editor.wait_for_diagnostics(new, lambda shown: len(shown) == 2)
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        assert editor.text(new) == "one\n2\nand\nthree\n"
    assert (root / "a.txt").read_text() == TEXT


@pytest.mark.parametrize("client", ["kakoune", "eglot", "kate"])
async def test_what_the_editor_still_shows_of_a_moved_file_is_reported(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        [move] = await propose(editor, {"move": "a.txt", "to": "b.txt", "links": {}})
        editor.type("a.txt", 0, 0, "typed\n")
        await editor.command("stet.accept", {"hunk": move})
        await editor.wait_for_message("save or revert them")
        assert await states(editor) == {move: "pending"}
        editor.save("a.txt")
        await editor.command("stet.accept", {"hunk": move})
        await editor.wait_for_message("close its old buffer")
        await wait_for_states(editor, **{move: "accepted"})
        editor.from_server("a.txt", "b.txt")
    assert (root / "b.txt").read_text() == "typed\n" + TEXT
    assert not (root / "a.txt").exists()


@pytest.mark.parametrize("client", ["kakoune", "eglot", "kate"])
async def test_a_file_that_is_open_is_kept_by_an_editor_that_deletes_none_until_it_is_closed(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        [removal] = await propose(editor, {"remove": "a.txt"})
        await editor.command("stet.accept", {"hunk": removal})
        reported = "a.txt is open in the editor; it will be deleted when you close it"
        await editor.wait_for_message(reported)
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["state"], hunk["reason"]) == ("sent", reported)
        assert (root / "a.txt").read_text() == TEXT
        # An editor closes and opens a file to reload it.
        editor.close("a.txt")
        editor.open("a.txt")
        await editor.command("test.jump", 1)
        await editor.command("stet.undo", {"hunk": removal})
        assert await states(editor) == {removal: "pending"}
        editor.close("a.txt")
        await editor.command("stet.status")
        editor.open("a.txt")
        await editor.command("stet.accept", {"hunk": removal})
        await editor.wait_until(
            lambda: sum(reported in one.message for one in editor.messages) == 2
        )
        editor.close("a.txt")
        await editor.command("test.jump", 1)
        await wait_for_states(editor, **{removal: "accepted"})
        editor.from_server("a.txt")
        assert not (root / "a.txt").exists()
        await editor.command("stet.undo", {"hunk": removal})
        await wait_for_states(editor, **{removal: "undone"})
        editor.from_server("a.txt")
        assert (root / "a.txt").read_text() == TEXT


@pytest.mark.parametrize("client", ["neovim", "helix", "vscode", "eglot", "kakoune"])
async def test_a_file_that_came_in_between_is_never_emptied(root: Path, client: str) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        hunks = await propose(
            editor,
            {"create": "b.txt", "text": "new\n"},
            {"move": "a.txt", "to": "c.txt", "links": {}},
        )
        for name in ("b.txt", "c.txt"):
            editor.write(root / name, "theirs\n")
        for hunk in hunks:
            await editor.command("stet.accept", {"hunk": hunk})
            await editor.wait_for_message("not applied")
            editor.messages.clear()
        assert await states(editor) == dict.fromkeys(hunks, "pending")
        assert editor.applied == []
    assert [(root / f"{name}.txt").read_text() for name in "abc"] == [TEXT, "theirs\n", "theirs\n"]


async def test_links_stay_as_they_are_when_the_file_could_not_be_moved(root: Path) -> None:
    (root / "index.txt").write_text("see a.txt\n")
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        move, link = await propose(
            editor,
            {"move": "a.txt", "to": "c.txt", "links": {"index.txt": [["a.txt", "c.txt"]]}},
        )
        editor.write(root / "c.txt", "theirs\n")
        await editor.command("stet.accept", {"turn": "t1"})
        await editor.wait_for_message("not applied")
        assert await states(editor) == {move: "pending", link: "pending"}
        assert (await hunk_of(editor, move))["reason"]
    assert (root / "index.txt").read_text() == "see a.txt\n"


async def test_a_link_that_took_the_place_of_a_file_is_not_written_through(
    root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text(TEXT)
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        first, second = await propose(editor, WANTED)
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to(outside)
        await editor.command("stet.accept", {"all": True})
        await editor.wait_for_message("not applied")
        assert await states(editor) == {first: "pending", second: "pending"}
        assert editor.applied == []
    assert outside.read_text() == TEXT
