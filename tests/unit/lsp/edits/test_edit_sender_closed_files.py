"""Edits of files that are not open, or became links."""

from collections.abc import Sequence

import pytest
from lsprotocol import types as lsp

from stet.lsp.editor_client import ApplyOutcome
from stet.lsp.edits.edit_sender import EditError
from tests.support.edit_applier_harness import TEXT, URI, YES, ApplyHarness
from tests.support.editor_documents import with_edits


async def test_unconfirmed_edit_of_a_closed_file_is_not_sent_twice() -> None:
    world = ApplyHarness(acts=[lambda *_: YES, lambda *_: YES])
    first, second = world.propose(("two", "2"), ("three", "3"))
    assert await world.accept(first) == ["pending"]
    assert world.shown == [URI]
    assert "Open or save it" in world.messages[-1]
    assert await world.accept(second) == ["pending"]
    assert "its text never showed it" in world.messages[-1]
    assert len(world.acts) == 1
    world.open(text="one\n2\nand\nthree\n")
    assert await world.accept(second) == ["pending"]
    assert world.acts == []
    assert await world.accept(second) == ["accepted"]
    assert world.text() == "one\n2\nand\n3\n"
    assert world.ledger.hunk(first).state == "accepted"


async def test_a_closed_file_that_is_opened_and_left_alone_is_not_edited_again_by_itself() -> None:
    def opens(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.open()
        return YES

    world = ApplyHarness(acts=[opens])
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert world.shown == []
    world.put("one\n2\nand\nthree\n")
    assert world.ledger.hunk(hunk).state == "accepted"


async def test_a_closed_file_that_the_editor_wrote_itself_is_seen_on_the_disk() -> None:
    def writes(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.system.add_file("/ws/a.txt", with_edits(TEXT, edits[:1], "utf-16"))
        return YES

    world = ApplyHarness(acts=[writes])
    hunks = world.propose(("two", "2"), ("three", "3"))
    assert await world.accept(*hunks) == ["accepted", "pending"]


async def test_no_block_is_written_through_a_link_put_in_the_place_of_a_file() -> None:
    world = ApplyHarness({"/ws/a.txt": TEXT, "/etc/passwd": TEXT})
    world.open()
    [hunk] = world.propose(("two", "2"))
    world.system.remove("/ws/a.txt")
    world.system.add_link("/ws/a.txt", "/etc/passwd")
    blocks = world.ledger.blocks
    with pytest.raises(EditError):
        await world.delivery.write(URI, lambda text: blocks.show(text, [hunk]), "show")
    assert (world.ledger.hunk(hunk).state, world.ledger.hunk(hunk).inline) == ("pending", False)
    assert world.text() == TEXT


async def test_a_link_put_in_the_place_of_a_file_is_not_written_through() -> None:
    world = ApplyHarness({"/ws/a.txt": TEXT, "/etc/passwd": TEXT})
    [hunk] = world.propose(("two", "2"))
    world.system.remove("/ws/a.txt")
    world.system.add_link("/ws/a.txt", "/etc/passwd")
    assert await world.accept(hunk) == ["pending"]
    assert len(world.messages) == 1
    assert world.disk("/etc/passwd") == TEXT
