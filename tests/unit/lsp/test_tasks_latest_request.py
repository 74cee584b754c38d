"""Of requests that follow each other closely only the newest is worked on."""

import asyncio

import pytest

from stet.lsp.tasks import LatestRequest, Tasks


class Work:
    """Work that waits to be let go, and says what became of it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.has_begun = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, name: str) -> str:
        self.log.append(f"{name} begins")
        self.has_begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.log.append(f"{name} stopped")
            raise
        return name


async def test_a_newer_request_stops_the_one_before_which_is_answered_at_once() -> None:
    work, tasks = Work(), Tasks()
    latest: LatestRequest[str] = LatestRequest(tasks.spawn, "test")
    older = tasks.spawn(latest.run(work("older"), "nothing"), "older")
    await work.has_begun.wait()
    newer = tasks.spawn(latest.run(work("newer"), "nothing"), "newer")
    assert await older == "nothing"
    work.may_end.set()
    assert await newer == "newer"
    assert sorted(work.log) == ["newer begins", "older begins", "older stopped"]


async def test_a_cancelled_request_stops_its_work_and_stays_cancelled() -> None:
    work, tasks = Work(), Tasks()
    latest: LatestRequest[str] = LatestRequest(tasks.spawn, "test")
    asked = tasks.spawn(latest.run(work("asked"), "nothing"), "asked")
    await work.has_begun.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await tasks.close()
    assert work.log == ["asked begins", "asked stopped"]


async def test_error_of_the_work_is_raised_to_the_caller() -> None:
    async def broken() -> str:
        raise ValueError("a bug")

    latest: LatestRequest[str] = LatestRequest(Tasks().spawn, "test")
    with pytest.raises(ValueError, match="a bug"):
        await latest.run(broken(), "nothing")
