"""Accepting with an editor that says what it likes, at once: every wait is cut short here."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.client import ApplyOutcome
from stet.lsp.delivering import arrival, file_sight
from stet.lsp.delivering.in_order import accept_in_order
from stet.lsp.delivering.not_done import NotDone
from tests.support.delivered import ALL, NO, SILENT, TEXT, URI, YES, World, applies
from tests.support.editor_documents import with_edits


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARRIVAL_SECONDS", "OUTRUN_SECONDS", "UNSEEN_SECONDS", "SHOWN_SECONDS"):
        monkeypatch.setattr(arrival, name, 0.02)
    monkeypatch.setattr(file_sight, "SEEN_SECONDS", 0.02)
    monkeypatch.setattr(arrival, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(file_sight, "LOOK_SECONDS", 0.001)


# -- edits -----------------------------------------------------------------------------------------


async def test_a_lie_is_found_out() -> None:
    world = World(acts=[lambda *_: YES])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert world.ledger.hunk(hunk).reason.startswith("The editor said that it applied the edit")
    assert await world.accept(hunk) == ["accepted"]


async def test_a_no_to_what_was_done_counts_as_done() -> None:
    def grumbles(world: World, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.edit(uri, edits)
        return NO

    world = World(acts=[grumbles])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["accepted"]
    assert world.said == []


async def test_of_a_part_each_hunk_is_judged_by_its_own_text() -> None:
    def half(world: World, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.edit(uri, edits[:1])
        return YES

    world = World(acts=[half])
    world.open()
    hunks = world.propose(("two", "2"), ("three", "3"))
    assert await world.accept(*hunks) == ["accepted", "pending"]
    assert world.text() == "one\n2\nand\nthree\n"
    assert await world.accept(hunks[1]) == ["accepted"]
    assert world.text() == "one\n2\nand\n3\n"


async def test_text_that_comes_after_all_counts_as_accepted() -> None:
    world = World(acts=[lambda *_: SILENT])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    world.put("one\n2\nand\nthree\n")
    assert await world.accept(hunk) == ["accepted"]
    assert world.text() == "one\n2\nand\nthree\n"


LATE = {
    "apart": ("c0\nc1\nc2\nc3\n", ("c1", "1"), ("c3", "3")),
    "side by side": ("c0\nc1\nc2\nc3\n", ("c1", "1"), ("c2", "2")),
    "alike": ("\na\n}\nc3\n", ("}\n", "2\n"), ("c3\n", "}\n3\nc3\n")),
    "longer and gone": ("c0\nc1\nc2\nc3\n", ("c1", "1\n\n1b"), ("c2\n", "")),
}


@pytest.mark.parametrize("text_and_changes", LATE.values(), ids=LATE)
@pytest.mark.parametrize("is_second_first", [False, True])
@pytest.mark.parametrize("how", ["together", "one by one", "the first alone"])
async def test_an_edit_given_up_is_known_when_its_text_comes_with_that_of_the_next(
    text_and_changes: tuple[str, tuple[str, str], tuple[str, str]],
    *,
    is_second_first: bool,
    how: str,
) -> None:
    text, *changes = text_and_changes
    world = World({"/ws/a.txt": text})
    world.open(text=text)
    hunks = world.propose_apart(*changes)
    if is_second_first:
        hunks = hunks[::-1]
    document = world.workspace.snapshot().show(URI)
    first, both = (world.ledger.edit_of(document, some).apply(text) for some in (hunks[:1], hunks))

    def late(world: World, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        for one in {"together": [both], "one by one": [first, both]}.get(how, [first]):
            world.put(one)
        return YES

    world.acts = [lambda *_: YES, late]
    states = await asyncio.gather(*(world.accept(hunk) for hunk in hunks))
    assert states[1] == ["accepted"]
    assert [str(world.ledger.hunk(hunk).state) for hunk in hunks] == ["accepted", "accepted"]
    assert world.text() == both


async def test_of_edits_given_up_one_after_the_other_each_is_known_when_it_comes() -> None:
    world = World(acts=[lambda *_: YES, lambda *_: YES, lambda *_: YES])
    world.open()
    hunks = world.propose_apart(("one", "1"), ("two", "2"), ("three", "3"))
    for hunk in hunks:
        assert await world.accept(hunk) == ["pending"]
    world.put("1\ntwo\nand\n3\n")
    states = [str(world.ledger.hunk(hunk).state) for hunk in hunks]
    assert states == ["accepted", "pending", "accepted"]


async def test_a_rejected_hunk_stays_rejected_when_the_edit_given_up_comes() -> None:
    world = World(acts=[lambda *_: YES])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    world.ledger.reject(hunk)
    world.put("one\n2\nand\nthree\n")
    assert world.ledger.hunk(hunk).state == "rejected"


async def test_a_closed_file_that_nobody_shows_is_not_believed_and_not_edited_twice() -> None:
    world = World(acts=[lambda *_: YES, lambda *_: YES])
    first, second = world.propose(("two", "2"), ("three", "3"))
    assert await world.accept(first) == ["pending"]
    assert world.shown == [URI]
    assert "Open it, or save it" in world.said[-1]
    assert await world.accept(second) == ["pending"]
    assert "before, and it was not seen" in world.said[-1]
    assert len(world.acts) == 1
    world.open(text="one\n2\nand\nthree\n")
    assert await world.accept(second) == ["pending"]
    assert world.acts == []
    assert await world.accept(second) == ["accepted"]
    assert world.text() == "one\n2\nand\n3\n"
    assert world.ledger.hunk(first).state == "accepted"


async def test_a_closed_file_that_is_opened_and_left_alone_is_not_edited_again_by_itself() -> None:
    def opens(world: World, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.open()
        return YES

    world = World(acts=[opens])
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert world.shown == []
    world.put("one\n2\nand\nthree\n")
    assert world.ledger.hunk(hunk).state == "accepted"


async def test_an_edit_put_in_the_wrong_place_is_taken_back_and_done_again() -> None:
    def outrun(world: World, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.put("zero\n" + world.text())
        world.edit(uri, edits)
        return YES

    world = World(acts=[outrun])
    world.open()
    hunks = world.propose(("two", "2\n2b"), ("three", "3"))
    assert await world.accept(*hunks) == ["accepted", "accepted"]
    assert world.text() == "zero\none\n2\n2b\nand\n3\n"


async def test_what_is_refused_twice_is_offered_as_a_page() -> None:
    world = World(acts=[lambda *_: NO, lambda *_: NO])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert world.shown == []
    assert await world.accept(hunk) == ["pending"]
    assert world.shown == [f"file:///state/refused-{hunk}.patch"]
    page = f"/state/refused-{hunk}.patch"
    assert world.said == [
        "Stet: not applied. It does not want to.",
        f"Stet: not applied. It does not want to. It is written down in {page}.",
    ]
    assert world.disk(page) == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n and\n three\n"
    )


async def test_an_editor_that_takes_no_edits_is_offered_the_page_at_once() -> None:
    world = World(editor=ClientCapabilities(), acts=[lambda *_: NO])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert len(world.shown) == 1


async def test_a_closed_file_that_the_editor_wrote_itself_is_seen_on_the_disk() -> None:
    def writes(world: World, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.system.put("/ws/a.txt", with_edits(TEXT, edits[:1], "utf-16"))
        return YES

    world = World(acts=[writes])
    hunks = world.propose(("two", "2"), ("three", "3"))
    assert await world.accept(*hunks) == ["accepted", "pending"]


async def test_no_block_is_written_through_a_link_put_in_the_place_of_a_file() -> None:
    world = World({"/ws/a.txt": TEXT, "/etc/passwd": TEXT})
    world.open()
    [hunk] = world.propose(("two", "2"))
    world.system.remove("/ws/a.txt")
    world.system.link("/ws/a.txt", "/etc/passwd")
    blocks = world.ledger.blocks
    with pytest.raises(NotDone):
        await world.delivery.write(URI, lambda text: blocks.show(text, [hunk]), "show")
    assert (world.ledger.hunk(hunk).state, world.ledger.hunk(hunk).inline) == ("pending", False)
    assert world.text() == TEXT


async def test_a_link_put_in_the_place_of_a_file_is_not_written_through() -> None:
    world = World({"/ws/a.txt": TEXT, "/etc/passwd": TEXT})
    [hunk] = world.propose(("two", "2"))
    world.system.remove("/ws/a.txt")
    world.system.link("/ws/a.txt", "/etc/passwd")
    assert await world.accept(hunk) == ["pending"]
    assert len(world.said) == 1
    assert world.disk("/etc/passwd") == TEXT


async def test_an_undo_that_is_refused_leaves_the_hunk_accepted() -> None:
    world = World(acts=[applies, lambda *_: NO])
    world.open()
    [hunk] = world.propose(("two", "2"))
    await world.accept(hunk)
    assert await world.undo(hunk) == ["accepted"]
    assert world.said == ["Stet: not undone. It does not want to."]
    assert await world.undo(hunk) == ["undone"]
    assert world.text() == TEXT


async def test_what_the_user_has_written_over_is_not_undone() -> None:
    world = World()
    world.open()
    [hunk] = world.propose(("two", "2"))
    await world.accept(hunk)
    world.put("one\nmine\nand\nthree\n")
    assert await world.undo(hunk) == ["accepted"]
    assert "changed these lines since" in world.said[0]
    assert world.text() == "one\nmine\nand\nthree\n"


# -- whole files -----------------------------------------------------------------------------------

EDITORS = pytest.mark.parametrize("operations", [ALL, frozenset[str]()], ids=["editor", "server"])


def with_operations(operations: frozenset[str]) -> ClientCapabilities:
    return ClientCapabilities(
        apply_edit=True, document_changes=True, resource_operations=operations
    )


@EDITORS
async def test_a_new_file_is_made_and_taken_back(operations: frozenset[str]) -> None:
    world = World(editor=with_operations(operations))
    hunk = world.create()
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/n/b.txt") == "new\n"
    assert world.shown == ([] if operations else ["file:///ws/n/b.txt"])
    assert await world.undo(hunk) == ["undone"]
    assert world.disk("/ws/n/b.txt") is None


@EDITORS
async def test_a_new_file_never_replaces_one_that_has_come(operations: frozenset[str]) -> None:
    world = World(editor=with_operations(operations))
    hunk = world.create()
    world.system.put("/ws/n/b.txt", "theirs\n")
    assert await world.accept(hunk) == ["pending"]
    assert world.disk("/ws/n/b.txt") == "theirs\n"
    assert world.operations == []
    assert len(world.said) == 1


@pytest.mark.parametrize("text", ["new", "new\r\n", ""])
async def test_a_new_file_that_neovim_would_write_otherwise_is_made_for_it(text: str) -> None:
    editor = ClientCapabilities(name="neovim", apply_edit=True, resource_operations=ALL)
    world = World(editor=editor)
    hunk = world.create(text)
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/n/b.txt") == text
    assert (world.operations, world.shown) == ([], ["file:///ws/n/b.txt"])


async def test_a_new_file_that_was_only_promised_is_still_pending() -> None:
    world = World(editor=with_operations(ALL), lies=True)
    hunk = world.create()
    assert await world.accept(hunk) == ["pending"]
    assert world.ledger.hunk(hunk).reason


async def test_a_new_file_is_not_taken_back_once_the_user_has_written_in_it() -> None:
    world = World()
    hunk = world.create()
    await world.accept(hunk)
    world.system.put("/ws/n/b.txt", "new\nand mine\n")
    assert await world.undo(hunk) == ["accepted"]
    assert world.disk("/ws/n/b.txt") == "new\nand mine\n"


@EDITORS
async def test_a_file_is_moved_with_its_hunks_and_back(operations: frozenset[str]) -> None:
    world = World(editor=with_operations(operations))
    [other] = world.propose(("two", "2"))
    hunk = world.move()
    assert await world.accept(hunk) == ["accepted"]
    assert (world.disk("/ws/a.txt"), world.disk("/ws/n/b.txt")) == (None, TEXT)
    assert world.ledger.hunk(other).uri == "file:///ws/n/b.txt"
    assert await world.accept(other) == ["accepted"]
    assert world.text("file:///ws/n/b.txt") == "one\n2\nand\nthree\n"
    world.system.put("/ws/n/b.txt", world.text("file:///ws/n/b.txt"))
    assert await world.undo(hunk) == ["undone"]
    assert world.disk("/ws/a.txt") == "one\n2\nand\nthree\n"
    assert world.ledger.hunk(other).uri == URI


@EDITORS
async def test_a_file_is_not_moved_over_another(operations: frozenset[str]) -> None:
    world = World(editor=with_operations(operations))
    hunk = world.move()
    world.system.put("/ws/n/b.txt", "theirs\n")
    assert await world.accept(hunk) == ["pending"]
    assert (world.disk("/ws/a.txt"), world.disk("/ws/n/b.txt")) == (TEXT, "theirs\n")
    assert world.operations == []


@pytest.mark.parametrize("kind", ["move", "remove"])
async def test_a_file_with_unsaved_text_stays_and_the_user_is_told_what_to_do(kind: str) -> None:
    world = World()
    world.open()
    world.put("one\ntyped\n")
    hunk = world.move() if kind == "move" else world.remove()
    assert await world.accept(hunk) == ["pending"]
    assert "save it" in world.said[0]
    assert world.disk("/ws/a.txt") == TEXT
    world.system.put("/ws/a.txt", "one\ntyped\n")
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/a.txt") is None
    assert "close its old buffer" in world.said[1]


@EDITORS
async def test_a_removed_file_lies_in_the_trash_and_comes_back(operations: frozenset[str]) -> None:
    world = World({"/ws/a.txt": b"\xef\xbb\xbfx\r\n"}, editor=with_operations(operations))
    hunk = world.remove("x\r\n")
    assert await world.accept(hunk) == ["accepted"]
    assert world.disk("/ws/a.txt") is None
    assert await world.undo(hunk) == ["undone"]
    assert world.system.read_bytes(Path("/ws/a.txt"), 100) == b"\xef\xbb\xbfx\r\n"
    assert world.said == ["Stet: a.txt is back from the trash."]


async def test_a_removal_that_was_only_promised_is_still_pending() -> None:
    world = World(editor=with_operations(ALL), lies=True)
    assert await world.accept(world.remove()) == ["pending"]
    assert world.disk("/ws/a.txt") == TEXT


async def test_a_removed_file_does_not_come_back_over_another() -> None:
    world = World()
    hunk = world.remove()
    await world.accept(hunk)
    world.system.put("/ws/a.txt", "another\n")
    assert await world.undo(hunk) == ["accepted"]
    assert world.disk("/ws/a.txt") == "another\n"
    assert "/state/trash/" in world.said[0]


async def test_a_file_removed_in_an_earlier_run_is_found_by_the_text_it_had() -> None:
    world = World()
    hunk = world.remove()
    await world.accept(hunk)
    world.system.put("/ws/a.txt", "another\n")
    world.system.trash(Path("/ws/a.txt"))
    world.delivery._files._trashed.clear()  # as in a process that has just begun
    assert await world.undo(hunk) == ["undone"]
    assert world.disk("/ws/a.txt") == TEXT


async def test_our_own_client_is_believed_because_it_saves_later() -> None:
    editor = ClientCapabilities(apply_edit=True, resource_operations=ALL, saves_later=True)
    world = World(editor=editor, lies=True)
    assert await world.accept(world.remove()) == ["accepted"]


async def test_an_edit_of_a_file_that_can_not_be_moved_is_carried_out_all_the_same() -> None:
    world = World()
    world.open(text=TEXT + "not saved\n")
    [edit] = world.propose(("two", "2"))
    move = world.move()
    await accept_in_order(world.ledger, world.delivery, [move, edit])
    assert {h.id: h.state for h in world.ledger.hunks()} == {edit: "accepted", move: "pending"}
