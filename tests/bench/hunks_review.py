"""A document with evenly spaced hunks, for the benchmark of hunks."""

import asyncio
from itertools import count
from typing import Any

from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.edit import Replacement, TextEdit
from tests.bench.hunks_workspace import HunksWorkspace
from tests.support.review_harness import rules

N_LINES = 10_000
MANY, FEW = 1_000, 10
LINE = "the quick brown fox jumps over the lazy dog"


class BenchReview:
    """One document with evenly spaced hunks.

    Attributes:
        waiting: The first lines of the hunks proposed last, except pure insertions.
    """

    _numbers = count(1)

    def __init__(self, workspace: HunksWorkspace, n_hunks: int) -> None:
        self.tool_context = workspace
        self.number = next(self._numbers)
        self.uri = f"file:///bench/{self.number}.txt"
        self.step = N_LINES // max(n_hunks, 1)
        self.lines = [f"{LINE} {number}\n" for number in range(N_LINES)]
        workspace.open(self.uri, "".join(self.lines))
        self.waiting: list[int] = []
        if n_hunks:
            self.propose(2)

    def propose(self, at: int) -> None:
        """Propose a replacement of every `step`-th line, beginning at line `at`."""
        document = self.tool_context.state.workspace.document(self.uri)
        assert document is not None
        starts, offset = [], 0
        for line in document.lines:
            starts.append(offset)
            offset += len(line)
        edit = TextEdit(
            tuple(
                Replacement(starts[n], starts[n + 1], f"proposal {n}\nand more\n")
                for n in range(at, N_LINES, self.step)
            )
        )
        draft = EditDraft(
            turn=f"t{self.number}.{at}",
            author="m",
            document=document,
            name="a.txt",
            edit=edit,
            summary="Change a line",
        )
        hunks = self.tool_context.state.ledger.propose(prepare_draft(draft, rules()))
        assert len(hunks) == len(edit.replacements)
        self.waiting = [hunk.range.start.line for hunk in hunks if hunk.old]

    def inside(self, number: int) -> int:
        """Return the first line of a pending hunk, or any line if no hunk is pending."""
        return self.waiting[2 * number] if self.waiting else 20 * number + 2

    async def becomes(self, state: str, n: int = MANY) -> None:
        """Wait until no task is left; at least `n` hunks must then have that state."""
        while tasks := asyncio.all_tasks() - self.tool_context.lasting:
            await asyncio.wait(tasks)
        found = [str(hunk.state) for hunk in self.tool_context.state.ledger.hunks(uri=self.uri)]
        assert found.count(state) >= n, found[:3]


def change(line: int, column: int, text: str, end: int | None = None) -> dict[str, Any]:
    """Make a change as an editor reports it."""
    after = {"line": line if end is None else end, "character": column}
    return {"range": {"start": {"line": line, "character": column}, "end": after}, "text": text}
