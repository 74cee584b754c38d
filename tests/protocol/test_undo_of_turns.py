"""`stet.undo` of a turn that changed one file in several ways: all is undone in one step."""

from pathlib import Path

import pytest

from tests.support.accepted_turns import TEXT, do, two_files, undo
from tests.support.editor import FakeEditor
from tests.support.live_turns import states, wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose

NEW = "x\ny\nz\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    return two_files(tmp_path / "ws")


CREATE = {"create": "new.txt", "text": NEW}
EDIT_NEW = {"edit": "new.txt", "changes": [["y\n", "Y\nYY\n"]]}


@pytest.mark.parametrize("saves", [True, False])
@pytest.mark.parametrize("client", ["neovim", "vscode", "helix", "eglot", "kakoune", "sublime"])
async def test_a_new_file_that_was_edited_later_goes_with_its_turn(
    root: Path, client: str, *, saves: bool
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        editor.open("a.txt")
        edit = {"edit": "a.txt", "changes": [["two", "2"]]}
        hunks = await do(editor, CREATE, edit, EDIT_NEW, saves=saves)
        await undo(editor, hunks, closes="new.txt" if client == "eglot" else "")
        assert not (root / "new.txt").exists()
        assert editor.text("a.txt") == TEXT
        editor.from_server("new.txt")


async def test_a_new_file_that_was_edited_later_goes_after_a_restart(
    root: Path, tmp_path: Path
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with FakeEditor.start(root, command=PROPOSING_SERVER, env=env) as editor:
        hunks = await do(editor, CREATE, EDIT_NEW)
    async with FakeEditor.start(root, command=PROPOSING_SERVER, env=env) as editor:
        assert await propose(editor) == []
        await undo(editor, hunks)
        assert not (root / "new.txt").exists()


async def test_a_new_file_that_the_user_has_written_in_stays_with_what_they_wrote(
    root: Path,
) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        create, edit = await do(editor, CREATE, EDIT_NEW)
        editor.type("new.txt", 0, 0, "mine\n")
        await editor.command("stet.undo", {"turn": "t1"})
        await editor.wait_for_message("You have edited new.txt since; delete it yourself.")
        await wait_for_states(editor, **{create: "accepted", edit: "undone"})
        assert editor.text("new.txt") == f"mine\n{NEW}"


async def test_what_is_to_be_undone_before_a_new_file_is_named(root: Path) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        create, edit = await do(editor, CREATE, EDIT_NEW)
        await editor.command("stet.undo", {"hunk": create})
        await editor.wait_for_message(f"new.txt was changed by {edit}: undo that first")
        assert set((await states(editor)).values()) == {"accepted"}
        await editor.command("stet.undo", {"hunk": edit})
        await wait_for_states(editor, **{edit: "undone"})
        await editor.command("stet.undo", {"hunk": create})
        await wait_for_states(editor, **{create: "undone"})
        assert not (root / "new.txt").exists()


async def test_a_new_file_that_was_edited_and_moved_goes_with_its_turn(root: Path) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        move = {"move": "new.txt", "to": "sub/new.txt", "links": {}}
        hunks = await do(editor, CREATE, EDIT_NEW, move)
        await undo(editor, hunks)
        assert not (root / "new.txt").exists()
        assert not (root / "sub" / "new.txt").exists()


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix"])
async def test_a_file_that_was_moved_twice_goes_back_all_the_way(root: Path, client: str) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        index = editor.open("index.txt")
        links = {"index.txt": [["c.txt", "d.txt"]]}
        hunks = await do(
            editor,
            {"edit": "a.txt", "changes": [["two", "2"]]},
            {"move": "a.txt", "to": "c.txt", "links": {}},
            {"move": "c.txt", "to": "d.txt", "links": links},
        )
        assert editor.text(index) == "see d.txt\n"
        await undo(editor, hunks)
        assert editor.text("a.txt") == TEXT
        assert editor.text(index) == "see c.txt\n"
        assert not (root / "c.txt").exists()
        assert not (root / "d.txt").exists()


async def test_a_new_file_under_the_old_name_of_another_makes_room_for_it(root: Path) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        hunks = await do(
            editor,
            {"move": "a.txt", "to": "c.txt", "links": {}},
            {"create": "a.txt", "text": NEW},
        )
        await undo(editor, hunks)
        assert (root / "a.txt").read_text() == TEXT
        assert not (root / "c.txt").exists()


async def test_a_file_that_was_made_edited_and_removed_is_gone_and_can_come_back(
    root: Path,
) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        create, edit, remove = await do(editor, CREATE, EDIT_NEW, {"remove": "new.txt"})
        await editor.command("stet.undo", {"hunk": remove})
        await wait_for_states(editor, **{remove: "undone"})
        assert (root / "new.txt").read_text() == NEW.replace("y\n", "Y\nYY\n")
        editor.from_server("new.txt")
        await undo(editor, [create, edit])
        assert not (root / "new.txt").exists()
