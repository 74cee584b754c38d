"""Work of a person on all hunks of a document: total time, and the longest event loop stall."""

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter

from tests.bench.hunks_review import N_LINES, BenchReview, change
from tests.bench.hunks_workspace import HunksWorkspace


async def _timed(work: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Return the milliseconds of the work, and of the longest stall of the event loop meanwhile."""
    loop, longest, over = asyncio.get_running_loop(), 0.0, False
    last = started = perf_counter()

    def tick() -> None:
        nonlocal longest, last
        now = perf_counter()
        longest, last = max(longest, now - last), now
        if not over:
            loop.call_soon(tick)

    loop.call_soon(tick)
    await work()
    total = perf_counter() - started
    tick()
    over = True
    return total * 1000, longest * 1000


async def _page(workspace: HunksWorkspace, n: int) -> BenchReview:
    """Open a document with `n` hunks and wait until its diagnostics are published."""
    page = BenchReview(workspace, n)
    await workspace.rests()
    return page


async def _propose(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, 0)
    page.step = N_LINES // n

    async def work() -> None:
        page.propose(2)

    return await _timed(work)


async def _accept_one(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)
    hunk = workspace.state.ledger.live(page.uri)[0].id

    async def work() -> None:
        await workspace.decide("stet.accept", hunk=hunk)
        await page.becomes("accepted", 1)

    return await _timed(work)


async def _accept_all(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)

    async def work() -> None:
        await workspace.decide("stet.accept", uri=page.uri)
        await page.becomes("accepted", n)

    return await _timed(work)


async def _reject_all(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)

    async def work() -> None:
        await workspace.decide("stet.reject", uri=page.uri)
        await page.becomes("rejected", n)

    return await _timed(work)


async def _restore_all(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)
    await workspace.decide("stet.reject", uri=page.uri)
    await page.becomes("rejected", n)
    await workspace.rests()

    async def work() -> None:
        await workspace.decide("stet.restore", uri=page.uri)
        await page.becomes("pending", n)

    return await _timed(work)


async def _undo_all(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)
    await workspace.decide("stet.accept", uri=page.uri)
    await page.becomes("accepted", n)
    await workspace.rests()

    async def work() -> None:
        await workspace.decide("stet.undo", uri=page.uri)
        await page.becomes("undone", n)

    return await _timed(work)


async def _many_changes(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)
    page.propose(page.step // 2)
    await workspace.rests()
    changes = [change(n, 0, "new line\n") for n in range(N_LINES - 2, 0, -5)]

    async def work() -> None:
        workspace.change(page.uri, *changes)

    return await _timed(work)


async def _many_from_the_top(workspace: HunksWorkspace, n: int) -> tuple[float, float]:
    page = await _page(workspace, n)
    page.propose(page.step // 2)
    await workspace.rests()
    changes = [change(n, 0, "new line\n") for n in range(2, N_LINES - 2, 5)]

    async def work() -> None:
        workspace.change(page.uri, *changes)

    return await _timed(work)


WORKS: dict[str, Callable[[HunksWorkspace, int], Awaitable[tuple[float, float]]]] = {
    "proposed at once": _propose,
    "one accepted": _accept_one,
    "all accepted": _accept_all,
    "all rejected": _reject_all,
    "all restored": _restore_all,
    "a turn undone": _undo_all,
    "2,000 changes in one message": _many_changes,
    "2,000 changes from the top down": _many_from_the_top,
}
