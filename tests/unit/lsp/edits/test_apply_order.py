"""The order in which changes of whole files are carried out."""

import pytest

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.edits.apply_order import accept_in_order
from tests.support.edit_applier_harness import ALL, TEXT, URI, ApplyHarness


@pytest.mark.parametrize("operations", [ALL, frozenset[str]()], ids=["editor", "server"])
async def test_a_file_is_moved_after_the_moved_file_with_its_new_name_is_removed(
    operations: frozenset[str],
) -> None:
    editor = ClientCapabilities(
        apply_edit=True, document_changes=True, resource_operations=operations
    )
    world = ApplyHarness({"/ws/a.txt": TEXT, "/ws/q.txt": "q\n"}, editor)
    # The removal is of /ws/n/b.txt once the first move is made.
    hunks = [world.move(), world.remove(), world.move("file:///ws/q.txt"), world.create(uri=URI)]
    await accept_in_order(world.ledger, world.delivery, hunks)
    assert world.messages == []
    assert [str(world.ledger.hunk(hunk).state) for hunk in hunks] == ["accepted"] * 4
    names = ("/ws/a.txt", "/ws/q.txt", "/ws/n/b.txt")
    assert [world.disk(name) for name in names] == ["new\n", None, "q\n"]
