"""Files that are made, moved and removed, by an editor that says what it likes or by the server."""

from pathlib import Path

import pytest

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.edits import file_hunk_applier
from stet.lsp.edits.apply_order import accept_in_order
from stet.review.proposal import Hunk
from tests.support.edit_applier_harness import ALL, TEXT, URI, ApplyHarness

EDITORS = pytest.mark.parametrize("operations", [ALL, frozenset[str]()], ids=["editor", "server"])


def with_operations(operations: frozenset[str]) -> ClientCapabilities:
    return ClientCapabilities(
        apply_edit=True, document_changes=True, resource_operations=operations
    )


@EDITORS
async def test_a_new_file_is_made_and_taken_back(operations: frozenset[str]) -> None:
    world = ApplyHarness(editor=with_operations(operations))
    hunk = world.create()
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/n/b.txt") == "new\n"
    assert world.shown == ([] if operations else ["file:///ws/n/b.txt"])
    assert await world.undo(hunk) == ["undone"]
    assert world.disk("/ws/n/b.txt") is None


@EDITORS
async def test_a_new_file_never_replaces_one_that_has_come(operations: frozenset[str]) -> None:
    world = ApplyHarness(editor=with_operations(operations))
    hunk = world.create()
    world.system.add_file("/ws/n/b.txt", "theirs\n")
    assert await world.accept(hunk) == ["pending"]
    assert world.disk("/ws/n/b.txt") == "theirs\n"
    assert world.operations == []
    assert len(world.messages) == 1


@pytest.mark.parametrize("text", ["new", "new\r\n", ""])
async def test_a_new_file_that_neovim_would_write_otherwise_is_made_for_it(text: str) -> None:
    editor = ClientCapabilities(name="neovim", apply_edit=True, resource_operations=ALL)
    world = ApplyHarness(editor=editor)
    hunk = world.create(text)
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/n/b.txt") == text
    assert (world.operations, world.shown) == ([], ["file:///ws/n/b.txt"])


async def test_new_file_that_the_editor_only_claims_is_pending() -> None:
    world = ApplyHarness(editor=with_operations(ALL), lies=True)
    hunk = world.create()
    assert await world.accept(hunk) == ["pending"]
    assert world.ledger.hunk(hunk).reason


async def test_a_new_file_is_not_taken_back_once_the_user_has_written_in_it() -> None:
    world = ApplyHarness()
    hunk = world.create()
    await world.accept(hunk)
    world.system.add_file("/ws/n/b.txt", "new\nand mine\n")
    assert await world.undo(hunk) == ["accepted"]
    assert world.disk("/ws/n/b.txt") == "new\nand mine\n"


@EDITORS
async def test_a_file_is_moved_with_its_hunks_and_back(operations: frozenset[str]) -> None:
    world = ApplyHarness(editor=with_operations(operations))
    [other] = world.propose(("two", "2"))
    hunk = world.move()
    assert await world.accept(hunk) == ["accepted"]
    assert (world.disk("/ws/a.txt"), world.disk("/ws/n/b.txt")) == (None, TEXT)
    assert world.ledger.hunk(other).uri == "file:///ws/n/b.txt"
    assert await world.accept(other) == ["accepted"]
    assert world.text("file:///ws/n/b.txt") == "one\n2\nand\nthree\n"
    world.system.add_file("/ws/n/b.txt", world.text("file:///ws/n/b.txt"))
    assert await world.undo(hunk) == ["undone"]
    assert world.disk("/ws/a.txt") == "one\n2\nand\nthree\n"
    assert world.ledger.hunk(other).uri == URI


@EDITORS
async def test_a_file_is_not_moved_over_another(operations: frozenset[str]) -> None:
    world = ApplyHarness(editor=with_operations(operations))
    hunk = world.move()
    world.system.add_file("/ws/n/b.txt", "theirs\n")
    assert await world.accept(hunk) == ["pending"]
    assert (world.disk("/ws/a.txt"), world.disk("/ws/n/b.txt")) == (TEXT, "theirs\n")
    assert world.operations == []


@pytest.mark.parametrize("kind", ["move", "remove"])
async def test_file_with_unsaved_text_stays_and_the_user_gets_a_remedy(kind: str) -> None:
    world = ApplyHarness()
    world.open()
    world.put("one\ntyped\n")
    hunk = world.move() if kind == "move" else world.remove()
    assert await world.accept(hunk) == ["pending"]
    assert "save or revert" in world.messages[0]
    assert world.disk("/ws/a.txt") == TEXT
    world.system.add_file("/ws/a.txt", "one\ntyped\n")
    if kind == "move":
        assert await world.accept(hunk) == ["accepted"]
        assert world.disk("/ws/a.txt") is None
        assert "close its old buffer" in world.messages[1]
    else:
        assert await world.accept(hunk) == ["sent"]
        assert world.disk("/ws/a.txt") == "one\ntyped\n"
        assert (
            world.messages[1]
            == "Stet: a.txt is open in the editor; it will be deleted when you close it."
        )


@EDITORS
async def test_a_removed_file_lies_in_the_trash_and_comes_back(operations: frozenset[str]) -> None:
    world = ApplyHarness({"/ws/a.txt": b"\xef\xbb\xbfx\r\n"}, editor=with_operations(operations))
    hunk = world.remove("x\r\n")
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/a.txt") is None
    assert await world.undo(hunk) == ["undone"]
    assert world.system.read_bytes(Path("/ws/a.txt"), 100) == b"\xef\xbb\xbfx\r\n"
    assert world.messages == ["Stet: a.txt was restored from the trash."]


async def test_deletion_that_the_editor_only_claims_is_pending() -> None:
    world = ApplyHarness(editor=with_operations(ALL), lies=True)
    assert await world.accept(world.remove()) == ["pending"]
    assert world.disk("/ws/a.txt") == TEXT


async def test_a_removed_file_does_not_come_back_over_another() -> None:
    world = ApplyHarness()
    hunk = world.remove()
    await world.accept(hunk)
    world.system.add_file("/ws/a.txt", "another\n")
    assert await world.undo(hunk) == ["accepted"]
    assert world.disk("/ws/a.txt") == "another\n"
    assert "/state/trash/" in world.messages[0]


async def test_a_file_removed_in_an_earlier_run_is_found_by_the_text_it_had() -> None:
    world = ApplyHarness()
    hunk = world.remove()
    await world.accept(hunk)
    world.system.add_file("/ws/a.txt", "another\n")
    world.system.trash(Path("/ws/a.txt"))
    world.delivery._files._trashed.clear()  # as in a process that has just begun
    assert await world.undo(hunk) == ["undone"]
    assert world.disk("/ws/a.txt") == TEXT


async def test_headless_client_is_trusted_because_it_saves_later() -> None:
    editor = ClientCapabilities(apply_edit=True, resource_operations=ALL, saves_later=True)
    world = ApplyHarness(editor=editor, lies=True)
    assert await world.accept(world.remove()) == ["accepted"]


async def test_an_edit_of_a_file_that_can_not_be_moved_is_carried_out_all_the_same() -> None:
    world = ApplyHarness()
    world.open(text=TEXT + "not saved\n")
    [edit] = world.propose(("two", "2"))
    move = world.move()
    await accept_in_order(world.ledger, world.delivery, [move, edit])
    assert {h.id: h.state for h in world.ledger.hunks()} == {edit: "accepted", move: "pending"}


async def test_a_deletion_that_is_withdrawn_while_another_is_carried_out_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file_hunk_applier, "CLOSED_SECONDS", 0)
    world = ApplyHarness(editor=with_operations(frozenset()))
    first = world.create()
    await world.accept(first)
    world.open(new := "file:///ws/n/b.txt", "new\n")
    await world.undo(first)
    second = world.remove("new\n", new)
    await world.accept(second)
    files = world.delivery._files
    assert list(files.deferred) == [first, second]

    async def apply_first(hunk: Hunk) -> None:
        assert hunk.id == first
        world.delivery.withdraw(second)

    monkeypatch.setattr(files, "_apply_closed", apply_first)
    world.close(new)
    await files._delete_closed(new)
    assert files.deferred == {}
