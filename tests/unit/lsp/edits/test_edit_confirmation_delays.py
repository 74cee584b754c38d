"""Edits that were given up, and come after all."""

import asyncio
from collections.abc import Sequence

import pytest
from lsprotocol import types as lsp

from stet.lsp.editor_client import ApplyOutcome
from tests.support.edit_applier_harness import SILENT, URI, YES, ApplyHarness


@pytest.mark.slow
async def test_late_edit_is_accepted() -> None:
    world = ApplyHarness(acts=[lambda *_: SILENT])
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


@pytest.mark.slow
@pytest.mark.parametrize("text_and_changes", LATE.values(), ids=LATE)
@pytest.mark.parametrize("is_second_first", [False, True])
@pytest.mark.parametrize("how", ["together", "one by one", "the first alone"])
async def test_timed_out_edit_is_accepted_when_it_arrives_with_the_next(
    text_and_changes: tuple[str, tuple[str, str], tuple[str, str]],
    *,
    is_second_first: bool,
    how: str,
) -> None:
    text, *changes = text_and_changes
    world = ApplyHarness({"/ws/a.txt": text})
    world.open(text=text)
    hunks = world.propose_apart(*changes)
    if is_second_first:
        hunks = hunks[::-1]
    document = world.workspace.snapshot().show(URI)
    first, both = (world.ledger.edit_of(document, some).apply(text) for some in (hunks[:1], hunks))

    def late(world: ApplyHarness, uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
        for one in {"together": [both], "one by one": [first, both]}.get(how, [first]):
            world.put(one)
        return YES

    world.acts = [lambda *_: YES, late]
    states = await asyncio.gather(*(world.accept(hunk) for hunk in hunks))
    assert states[1] == ["accepted"]
    assert [str(world.ledger.hunk(hunk).state) for hunk in hunks] == ["accepted", "accepted"]
    assert world.text() == both


async def test_each_timed_out_edit_is_accepted_when_it_arrives() -> None:
    world = ApplyHarness(acts=[lambda *_: YES, lambda *_: YES, lambda *_: YES])
    world.open()
    hunks = world.propose_apart(("one", "1"), ("two", "2"), ("three", "3"))
    for hunk in hunks:
        assert await world.accept(hunk) == ["pending"]
    world.put("1\ntwo\nand\n3\n")
    states = [str(world.ledger.hunk(hunk).state) for hunk in hunks]
    assert states == ["accepted", "pending", "accepted"]


async def test_rejected_hunk_stays_rejected_when_its_timed_out_edit_arrives() -> None:
    world = ApplyHarness(acts=[lambda *_: YES])
    world.open()
    [hunk] = world.propose(("two", "2"))
    assert await world.accept(hunk) == ["pending"]
    world.ledger.reject(hunk)
    world.put("one\n2\nand\nthree\n")
    assert world.ledger.hunk(hunk).state == "rejected"
