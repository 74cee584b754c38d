"""`stet.preview`: one edit, of which the user selects parts, for editors that support this."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import calls, done, edit, run, scripted, states, wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose

TEXT = "one\ntwo\nthree\nfour\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text(TEXT)
    return folder


def edits(folder: Path) -> dict[str, str]:
    """Return the environment of a model that edits two files and creates a third."""
    return scripted(
        folder,
        calls(
            edit("a.txt", "two", "2", "Two"),
            edit("a.txt", "four", "4", "Four"),
            edit("b.txt", "one\n", "one\none and a half\n", "Half"),
            ("create_file", {"file": "c.txt", "content": "c\n"}),
        ),
        done(),
    )


async def test_all_that_is_ticked_is_accepted_in_one_edit(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, client="vscode", env=edits(tmp_path)) as editor:
        first, second = editor.open("a.txt"), editor.open("b.txt")
        turn = await run(editor, "Digits", uri=first)
        await editor.wait_for_diagnostics(first)
        await editor.choose(first, "two", "Stet: Preview turn")
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")
        assert (editor.text(first), editor.text(second)) == (
            TEXT.replace("two", "2").replace("four", "4"),
            TEXT.replace("one\n", "one\none and a half\n"),
        )
        assert (await states(editor))[turn["hunks"][3]] == "pending"
        [applied] = editor.applied
        assert applied.edit.change_annotations == {
            hunk: lsp.ChangeAnnotation(label, needs_confirmation=True, description=hunk)
            for hunk, label in (("h1", "Two"), ("h2", "Four"), ("h3", "Half"))
        }


async def test_what_is_not_ticked_waits_on(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(
        root, client="vscode", quirk=Quirk.PARTIAL, env=edits(tmp_path)
    ) as editor:
        uri = editor.open("a.txt")
        editor.open("b.txt")
        await run(editor, "Digits", uri=uri)
        answer = await editor.command("stet.preview", {"turn": "t1"})
        assert (answer["hunks"], [one["hunk"] for one in answer["refused"]]) == (
            ["h1", "h2", "h3"],
            ["h4"],
        )
        await wait_for_states(editor, h1="accepted", h2="pending", h3="accepted", h4="pending")
        assert editor.text(uri) == TEXT.replace("two", "2")
        await editor.command("stet.accept", {"hunk": "h2"})
        await wait_for_states(editor, h2="accepted")


@pytest.mark.parametrize("quirk", [Quirk.REFUSE, Quirk.NULL, Quirk.LIE])
async def test_a_preview_that_is_discarded_changes_nothing(
    root: Path, tmp_path: Path, quirk: Quirk
) -> None:
    async with FakeEditor.start(root, client="vscode", quirk=quirk, env=edits(tmp_path)) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        await editor.command("stet.preview", {"uri": uri})
        await editor.wait_until(lambda: editor.applied)
        await wait_for_states(editor, h1="pending", h2="pending")
        assert editor.text(uri) == TEXT


@pytest.mark.parametrize("client", ["neovim", "neovim-0.12", "helix", "eglot", "kakoune"])
async def test_no_other_editor_is_sent_such_an_edit(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=edits(tmp_path)) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        offered = [action.title for action in await editor.actions(uri, "two")]
        assert [title for title in offered if "Preview" in title] == []
        with pytest.raises(Exception, match="can't preview edits"):
            await editor.command("stet.preview", {"turn": "t1"})
        assert editor.applied == []


async def test_of_hunks_that_touch_the_one_that_is_not_ticked_waits_on(root: Path) -> None:
    async with FakeEditor.start(root, client="vscode", command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        changes = (("one\n", "1\n"), ("two\n", "2\n2a\n"), ("three\n", ""))
        hunks = []
        for nth, change in enumerate(changes):
            hunks += await propose(
                editor, {"edit": "a.txt", "turn": f"t{nth}", "changes": [change]}
            )
        ticked = set(hunks[:2])
        editor.ticks = lambda one: one.annotation_id in ticked
        await editor.command("stet.preview", {"uri": uri})
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="pending")
        assert editor.text(uri) == "1\n2\n2a\nthree\nfour\n"
