"""Tests of the fake editor: it follows the protocol, except for its declared faults."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES, Quirk
from tests.support.raw_peer import WIRE_SERVER


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


async def server_text(editor: FakeEditor, uri: str) -> object:
    return await editor.request("test/text", {"uri": uri})


async def outcome(editor: FakeEditor) -> str:
    """Return the answer to the last edit of the server."""
    await editor.wait_for_message("outcome")
    state = await editor.request("test/state")
    return str(state.outcomes[-1])


@pytest.mark.parametrize("client", PROFILES)
async def test_each_editor_and_the_server_agree_on_the_text_and_its_edits(
    root: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, command=WIRE_SERVER) as editor:
        uri = editor.open("a.txt")
        editor.type("a.txt", 1, 3, "𝄞")
        editor.change("a.txt", "two𝄞", "𝄞\r2")
        editor.type("a.txt", 1, 1, "!")
        assert editor.text("a.txt") == "one\n𝄞!\r2\n"
        assert await server_text(editor, uri) == "one\n𝄞!\r2\n"
        editor.close("a.txt")
        assert await server_text(editor, uri) is None
        # The edit follows the reply.
        editor.open("a.txt")
        version = editor.documents[uri].version
        assert await editor.command("wire.apply", uri, version) == {"sent": True}
        assert await outcome(editor) == "True"
        assert await server_text(editor, uri) == "applied one\ntwo\n"


@pytest.mark.parametrize(
    ("client", "reported"),
    [
        ("neovim", "True"),
        ("helix", "False document has changed"),
        (
            "eglot",
            "False The editor returned an error: Edits require another version",
        ),
        ("vscode", "False The editor rejected the edit without a reason."),
    ],
)
async def test_each_editor_has_its_own_answer_to_a_stale_edit(
    root: Path, client: str, reported: str
) -> None:
    async with FakeEditor.start(root, client=client, command=WIRE_SERVER) as editor:
        uri = editor.open("a.txt")
        for letter in "ab":
            editor.type(uri, 0, 0, letter)
        await editor.command("wire.apply", uri, 1)
        assert await outcome(editor) == reported
        assert editor.text(uri) == "baone\ntwo\n"


async def test_a_slow_editor_sends_its_change_with_the_next_request(root: Path) -> None:
    async with FakeEditor.start(root, quirk=Quirk.SLOW, command=WIRE_SERVER) as editor:
        uri = editor.open("a.txt")
        await editor.command("wire.apply", uri, 0)
        assert await outcome(editor) == "True"
        assert editor.text(uri) == "applied one\ntwo\n"
        assert (await editor.command("wire.echo", uri)) == [uri]  # a request sends the change
        assert await server_text(editor, uri) == "applied one\ntwo\n"


@pytest.mark.parametrize(
    ("client", "reported", "text"),
    [
        ("neovim", "True", "created\n\n"),
        ("vscode", "True", "created\n"),
        ("eglot", "False This editor can't create files for a language server.", None),
    ],
)
async def test_a_file_is_created_through_the_editor_or_not_at_all(
    root: Path, client: str, reported: str, text: str | None
) -> None:
    async with FakeEditor.start(root, client=client, command=WIRE_SERVER) as editor:
        uri = editor.uri("new/b.txt")
        await editor.command("wire.create", uri)
        assert await outcome(editor) == reported
        assert await server_text(editor, uri) == text


async def test_settings_are_reported_and_documents_shown(root: Path) -> None:
    settings = {"model": {"name": "x"}}
    async with FakeEditor.start(root, settings=settings, command=WIRE_SERVER) as editor:
        await editor.command("wire.configure")
        assert await outcome(editor) == repr(settings)
        editor.messages.clear()
        await editor.command("wire.show", editor.uri("a.txt"))
        assert await outcome(editor) == "True"
        assert [shown.uri for shown in editor.shown_documents] == [editor.uri("a.txt")]


async def test_progress_of_work_that_has_ended_is_not_begun(root: Path) -> None:
    async with FakeEditor.start(root, command=WIRE_SERVER) as editor:
        over = (await editor.command("wire.work"))["token"]
        running = (await editor.command("wire.work", "wait"))["token"]
        await editor.wait_until(lambda: editor.progress_of(running))
        [begin] = editor.progress_of(running)
        assert (begin.title, begin.cancellable) == ("Working", True)
        assert editor.progress_of(over) == []
        state = await editor.request("test/state")
        assert state.tokens == 1


async def test_progress_can_be_stopped_from_the_editor(root: Path) -> None:
    async with FakeEditor.start(root, command=WIRE_SERVER) as editor:
        token = (await editor.command("wire.work", "wait"))["token"]
        await editor.wait_until(lambda: len(editor.progress_of(token)) == 1)
        editor.stop_progress(token)
        await editor.wait_until(lambda: len(editor.progress_of(token)) == 2)
        assert editor.progress_of(token)[-1].message == "stopped"
        state = await editor.request("test/state")
        assert state.tokens == 0


async def test_write_that_bypasses_the_editor_is_detected(root: Path) -> None:
    with pytest.raises(AssertionError, match="changed behind the editor"):
        async with FakeEditor.start(root, command=WIRE_SERVER):
            (root / "a.txt").write_text("other\n")


async def test_saving_and_creating_are_the_editors_own_writes(root: Path) -> None:
    async with FakeEditor.start(root, command=WIRE_SERVER) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one", "1")
        editor.save("a.txt")
    assert (root / "a.txt").read_text() == "1\ntwo\n"


async def test_a_wait_ends_when_the_server_does(root: Path) -> None:
    async def leave_and_wait() -> None:
        async with FakeEditor.start(root, command=WIRE_SERVER) as editor:
            editor.exit(None)
            await editor.wait_until(lambda: False)

    with pytest.raises(AssertionError, match="the server ended with 1"):
        await leave_and_wait()


async def test_an_editor_without_version_check_applies_where_the_numbers_lead(root: Path) -> None:
    async with FakeEditor.start(root, client="kakoune", command=WIRE_SERVER) as editor:
        uri = editor.open("a.txt")
        for letter in "ab":
            editor.type(uri, 0, 0, letter)
        await editor.command("wire.apply", uri, 0)
        assert await outcome(editor) == "True"
        assert editor.text(uri) == "applied baone\ntwo\n"
        assert await server_text(editor, uri) == editor.text(uri)


async def test_an_editor_may_take_edits_only_right_after_a_command(root: Path) -> None:
    async with FakeEditor.start(root, client="kate", command=WIRE_SERVER) as editor:
        uri = editor.open("a.txt")
        await editor.command("wire.apply", uri, 0)
        assert await outcome(editor) == "True"
        assert editor.applied[0].edit.document_changes is None
        editor.messages.clear()
        editor.edits_within = 1e-9
        await editor.command("wire.apply", uri, 0)
        assert await outcome(editor) == "False The editor rejected the edit without a reason."
        assert editor.text(uri) == "applied one\ntwo\n"


@pytest.mark.parametrize(
    ("quirk", "text"), [(Quirk.LIE, "one\ntwo\n"), (Quirk.PARTIAL, "applied one\ntwo\n")]
)
async def test_editor_may_claim_an_edit_that_it_did_not_apply(
    root: Path, quirk: Quirk, text: str
) -> None:
    async with FakeEditor.start(root, quirk=quirk, command=WIRE_SERVER) as editor:
        uri = editor.open("a.txt")
        await editor.command("wire.apply", uri, 0)
        assert await outcome(editor) == "True"
        assert editor.text(uri) == text


@pytest.mark.parametrize(
    ("client", "reported", "text"),
    [
        ("neovim", "True", "created\n\n"),
        ("helix", "True", "created\n"),
        ("vscode", "False The editor rejected the edit without a reason.", "kept\n"),
        ("sublime", "False The editor returned an error", "kept\n"),
    ],
)
async def test_some_editors_empty_a_file_that_they_are_to_create(
    root: Path, client: str, reported: str, text: str
) -> None:
    path = root / "there.txt"
    path.write_text("kept\n")
    async with FakeEditor.start(root, client=client, command=WIRE_SERVER) as editor:
        await editor.command("wire.create", editor.uri("there.txt"))
        assert (await outcome(editor)).startswith(reported)
        if path.read_text() == "":
            assert editor.text("there.txt") == text
        else:
            assert path.read_text() == text


async def test_what_the_server_wrote_for_the_user_is_taken_over_by_name(root: Path) -> None:
    async with FakeEditor.start(root, command=WIRE_SERVER) as editor:
        (root / "b.txt").write_text("b")
        (root / "a.txt").unlink()
        editor.from_server("a.txt", "b.txt")
