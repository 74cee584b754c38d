"""What was accepted goes with a file that gets another name while it is carried out."""

import asyncio
from collections.abc import Callable

import pytest

from stet.lsp.capabilities import ClientCapabilities
from tests.support.edit_applier_harness import TEXT, URI, ApplyHarness


async def test_a_move_is_undone_to_the_name_that_its_folder_got_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor = ClientCapabilities(apply_edit=True, document_changes=True)
    world, renamed = ApplyHarness(editor=editor), "file:///ws/c.txt"
    hunk = world.move()
    assert await world.accept(hunk) == ["accepted"]

    async def rename_first(ask: Callable[..., object], *given: object) -> object:
        if world.ledger.hunk(hunk).uri == URI:
            world.ledger.renamed(URI, renamed, with_folder=True)
        return ask(*given)

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "to_thread", rename_first)
        assert await world.undo(hunk) == ["undone"]
    names = ("/ws/a.txt", "/ws/n/b.txt", "/ws/c.txt")
    assert [world.disk(name) for name in names] == [None, None, TEXT]
