"""Accepting and undoing with an editor that says what it likes, at once."""

from collections.abc import Sequence

import pytest
from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.editor_client import ApplyOutcome
from tests.support.edit_applier_harness import NO, TEXT, YES, ApplyHarness, applies


async def test_edit_that_the_editor_only_claims_stays_pending() -> None:
    world = ApplyHarness(acts=[lambda *_: YES])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert world.ledger.hunk(hunk).reason.startswith("The editor reported the edit as applied")
    assert await world.accept(hunk) == ["accepted"]


async def test_edit_that_was_applied_and_refused_is_accepted() -> None:
    def grumbles(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.edit(uri, edits)
        return NO

    world = ApplyHarness(acts=[grumbles])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["accepted"]
    assert world.messages == []


async def test_partially_applied_edit_accepts_the_hunks_in_the_text() -> None:
    def half(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.edit(uri, edits[:1])
        return YES

    world = ApplyHarness(acts=[half])
    world.open()
    hunks = world.propose(("two", "2"), ("three", "3"))
    assert await world.accept(*hunks) == ["accepted", "pending"]
    assert world.text() == "one\n2\nand\nthree\n"
    assert await world.accept(hunks[1]) == ["accepted"]
    assert world.text() == "one\n2\nand\n3\n"


@pytest.mark.slow
async def test_an_edit_put_in_the_wrong_place_is_taken_back_and_done_again() -> None:
    def outrun(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        world.put("zero\n" + world.text())
        world.edit(uri, edits)
        return YES

    world = ApplyHarness(acts=[outrun])
    world.open()
    hunks = world.propose(("two", "2\n2b"), ("three", "3"))
    assert await world.accept(*hunks) == ["accepted", "accepted"]
    assert world.text() == "zero\none\n2\n2b\nand\n3\n"


@pytest.mark.slow
async def test_edit_refused_twice_is_offered_as_a_patch() -> None:
    world = ApplyHarness(acts=[lambda *_: NO, lambda *_: NO])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert world.shown == []
    assert await world.accept(hunk) == ["pending"]
    assert world.shown == [f"file:///state/refused-{hunk}.patch"]
    page = f"/state/refused-{hunk}.patch"
    assert world.messages == [
        "Stet: not applied. It does not want to.",
        f"Stet: not applied. It does not want to. It was saved to {page}.",
    ]
    assert world.disk(page) == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n and\n three\n"
    )


async def test_editor_without_edits_is_offered_the_patch_at_once() -> None:
    world = ApplyHarness(editor=ClientCapabilities(), acts=[lambda *_: NO])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    assert len(world.shown) == 1


@pytest.mark.slow
async def test_an_undo_that_is_refused_leaves_the_hunk_accepted() -> None:
    world = ApplyHarness(acts=[applies, lambda *_: NO])
    world.open()
    [hunk] = world.propose(("two", "2"))
    await world.accept(hunk)
    assert await world.undo(hunk) == ["accepted"]
    assert world.messages == ["Stet: not undone. It does not want to."]
    assert await world.undo(hunk) == ["undone"]
    assert world.text() == TEXT


async def test_hunk_that_the_user_overwrote_is_not_undone() -> None:
    world = ApplyHarness()
    world.open()
    [hunk] = world.propose(("two", "2"))
    await world.accept(hunk)
    world.put("one\nmine\nand\nthree\n")
    assert await world.undo(hunk) == ["accepted"]
    assert "edited these lines since" in world.messages[0]
    assert world.text() == "one\nmine\nand\nthree\n"
