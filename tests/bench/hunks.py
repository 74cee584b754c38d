"""The cost of a thousand pending hunks for a key, an answer and a decision, in one process."""

import asyncio
import gc
import os
import tempfile
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

from tests.bench.hunks_review import FEW, MANY, BenchReview, change
from tests.bench.hunks_works import WORKS
from tests.bench.hunks_workspace import HunksWorkspace
from tests.bench.table import Row, at_most

ROUNDS = 3
STROKES = 50
KEYSTROKE_BUDGET, KEYSTROKE_AIM = 1_000, 50
"""Microseconds that hunks may add to a keystroke: the limit and the aim."""
HOLD_BUDGET = 100
"""Milliseconds that a keystroke may wait while all hunks are processed; a person does not notice
such a delay."""


def rows() -> Iterator[Row]:
    """Yield the rows of keystrokes, answers and decisions."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = folder
        try:
            yield from asyncio.run(_rows())
        finally:
            if before is None:
                del os.environ["XDG_STATE_HOME"]
            else:
                os.environ["XDG_STATE_HOME"] = before


async def _rows() -> list[Row]:
    workspace = HunksWorkspace()
    await workspace.begin()
    try:
        return [
            *await _keystrokes(workspace),
            *await _answers(workspace),
            *await _decisions(workspace),
        ]
    finally:
        await workspace.end()


async def _keystrokes(workspace: HunksWorkspace) -> list[Row]:
    bare, pending, both = (
        BenchReview(workspace, 0),
        BenchReview(workspace, MANY),
        BenchReview(workspace, MANY),
    )
    await workspace.decide("stet.accept", uri=both.uri)
    await both.becomes("accepted")
    both.propose(5)
    pages = {"1,000 pending": pending, "1,000 pending and 1,000 accepted": both}
    strokes: dict[str, Callable[[BenchReview, int], dict[str, Any]]] = {
        "outside": lambda _, n: change(20 * n + 8, 3, "x"),
        "inside a hunk": lambda page, n: change(page.inside(n), 3, "x"),
        # From the bottom up, so that each change hits its intended line.
        "100 lines pasted": lambda _, n: change(9008 - 20 * n, 0, "pasted\n" * 100),
        "a new line at the top": lambda *_: change(0, 0, "\n"),
    }
    made, worst = [], 0.0
    for what, stroke in strokes.items():
        times = await _in_turns([bare, *pages.values()], stroke)
        for name, ours in zip(pages, times[1:], strict=True):
            worst = max(worst, ours - times[0])
            row = Row(f"{what}, {name}", "µs", ours, times[0], "no hunks", in_detail=True)
            made.append(row)
    for page in pages.values():
        waiting = workspace.state.ledger.live(page.uri)
        assert sum(hunk.old != hunk.base for hunk in waiting) >= STROKES, "typed beside the hunks"
    what = "1,000 pending hunks: the most they add to a keystroke"
    bars = at_most(KEYSTROKE_BUDGET), at_most(KEYSTROKE_AIM)
    made.append(Row(what, "µs", worst, must=bars[0], aim=bars[1]))
    return made


async def _in_turns(
    pages: list[BenchReview], stroke: Callable[[BenchReview, int], dict[str, Any]]
) -> list[float]:
    """Return the median microseconds of a stroke in each page."""
    times: list[list[float]] = [[] for _ in pages]
    for number in range(STROKES):
        for page, spent in zip(pages, times, strict=True):
            typed = stroke(page, number)
            started = perf_counter()
            page.tool_context.change(page.uri, typed)
            spent.append((perf_counter() - started) * 1e6)
    await asyncio.sleep(0)
    return [median(spent) for spent in times]


async def _answers(workspace: HunksWorkspace) -> list[Row]:
    pages = [BenchReview(workspace, MANY), BenchReview(workspace, FEW)]
    place = {"line": 2, "character": 1}
    here = {"start": place, "end": place}
    publisher: Any = workspace.state.review.publisher

    def document(page: BenchReview) -> dict[str, Any]:
        return {"textDocument": {"uri": page.uri}}

    asked: dict[str, Callable[[BenchReview], Any]] = {
        "code actions": lambda page: workspace.ask(
            "textDocument/codeAction",
            {**document(page), "range": here, "context": {"diagnostics": []}},
        ),
        "code lenses": lambda page: workspace.ask("textDocument/codeLens", document(page)),
        "hover": lambda page: workspace.ask(
            "textDocument/hover", {**document(page), "position": place}
        ),
        "stet.proposals": lambda page: workspace.command("stet.proposals", uri=page.uri),
        "stet.next": lambda page: workspace.command("stet.next", uri=page.uri),
        "diagnostics": lambda page: publisher._publish(page.uri),
    }
    made = []
    for what, ask in asked.items():
        times: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for page, spent in zip(pages, times, strict=True):
                gc.collect()
                started = perf_counter()
                ask(page)
                spent.append((perf_counter() - started) * 1000)
        ours, peer = map(median, times)
        made.append(Row(what, "ms", ours, peer, f"{FEW} hunks", in_detail=True))
    return made


async def _decisions(workspace: HunksWorkspace) -> list[Row]:
    made = []
    for what, work in WORKS.items():
        many, few = [], []
        for _ in range(ROUNDS):
            many.append(await work(workspace, MANY))
            few.append(await work(workspace, FEW))
        (total, held), (few_total, _) = map(_medians, (many, few))
        made.append(Row(what, "ms", total, few_total, f"{FEW} hunks", in_detail=True))
        held_for = f"{what}: loop held"
        made.append(Row(held_for, "ms", held, must=at_most(HOLD_BUDGET), in_detail=True))
    return made


def _medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the medians of the first and of the second numbers."""
    first, second = zip(*times, strict=True)
    return median(first), median(second)
