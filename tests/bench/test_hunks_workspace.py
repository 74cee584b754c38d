"""The server of the benchmark of hunks decides as a real one does."""

import asyncio
from pathlib import Path

import pytest

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
