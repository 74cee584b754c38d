"""The server of the benchmark of hunks decides as a real one does."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from stet.lsp.presentation.hunk_selection import PIECE
from tests.bench.hunks_review import BenchReview
from tests.bench.hunks_workspace import HunksWorkspace


@pytest.mark.parametrize(
    "steps",
    [
        {"stet.accept": "accepted"},
        {"stet.reject": "rejected"},
        {"stet.accept": "accepted", "stet.undo": "undone"},
    ],
    ids="+".join,
)
def test_decide_waits_for_the_answer(
    steps: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    async def run() -> None:
        workspace = HunksWorkspace()
        await workspace.begin()
        review = BenchReview(workspace, 10)
        for command, state in steps.items():
            await workspace.decide(command, uri=review.uri)
            await review.becomes(state, 10)
            hunks = workspace.state.ledger.hunks(uri=review.uri)
            assert [hunk.state for hunk in hunks] == [state] * 10
        await workspace.end()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("earlier", "command", "goal"),
    [((), "stet.reject", "rejected"), (("stet.reject",), "stet.restore", "pending")],
    ids=["reject", "restore"],
)
def test_other_messages_are_handled_while_very_many_hunks_are_decided(
    earlier: tuple[str, ...],
    command: str,
    goal: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    decided = [0]

    async def run() -> None:
        workspace = HunksWorkspace()
        await workspace.begin()
        review = BenchReview(workspace, 1_000)
        for first in earlier:
            await workspace.decide(first, uri=review.uri)
        loop = asyncio.get_running_loop()

        def message() -> None:
            hunks = workspace.state.ledger.hunks(uri=review.uri)
            decided.append(sum(hunk.state == goal for hunk in hunks))
            if decided[-1] < len(hunks):
                loop.call_soon(message)

        loop.call_soon(message)
        answer = await workspace.decide(command, uri=review.uri)
        assert (len(answer["hunks"]), answer["refused"]) == (1_000, [])
        await review.becomes(goal, 1_000)
        await workspace.end()

    asyncio.run(run())
    assert max(now - before for before, now in pairwise(decided)) == PIECE
