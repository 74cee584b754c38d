"""What is decided while a preview waits for its turn."""

import asyncio

from stet.lsp.edits.apply_order import RefactorPreview
from stet.text.encoding import Encoding
from tests.support.edit_applier_harness import URI, ApplyHarness


async def test_what_was_decided_meanwhile_is_not_shown() -> None:
    world = ApplyHarness()
    world.open()
    (hunk,) = world.propose(("two", "2"))
    preview = RefactorPreview(world.ledger, world.delivery, world.client)

    async def decide() -> None:
        async with world.delivery.document_lock(URI):
            await asyncio.sleep(0)  # the preview comes to wait for the file
            world.ledger.reject(hunk)

    await asyncio.gather(decide(), preview.show([hunk], Encoding.UTF16))
    assert world.messages == [
        ("Stet: can't show the preview. None of these hunks is pending anymore.")
    ]
    assert str(world.ledger.hunk(hunk).state) == "rejected"
