import asyncio
import logging

import pytest

from stet.lsp.tasks import Tasks


async def test_the_first_step_runs_after_the_caller_has_gone_on() -> None:
    order: list[str] = []

    async def work() -> None:
        order.append("work")

    tasks = Tasks()
    task = tasks.spawn(work(), "work")
    order.append("reply")
    await task
    assert (order, len(tasks)) == (["reply", "work"], 0)


async def test_an_error_is_logged_with_the_name_and_ends_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise ZeroDivisionError("why")

    ended = asyncio.Event()

    async def go_on() -> None:
        await asyncio.wait([failing])
        ended.set()

    tasks = Tasks()
    failing = tasks.spawn(fail(), "failing work")
    tasks.start(go_on(), "other work")
    await ended.wait()
    assert [(record.message, record.levelno) for record in caplog.records] == [
        ("failing work failed", logging.ERROR)
    ]


async def test_closing_cancels_all_and_lets_nothing_new_begin() -> None:
    began: list[str] = []

    async def wait() -> None:
        began.append("old")
        await asyncio.Event().wait()

    async def never() -> None:
        began.append("new")

    tasks = Tasks()
    waiting = tasks.spawn(wait(), "waiting")
    await asyncio.wait([waiting], timeout=0)
    await tasks.close()
    late = tasks.spawn(never(), "late")
    await asyncio.wait([late])
    assert (waiting.cancelled(), late.cancelled(), began) == (True, True, ["old"])


async def test_close_does_not_wait_for_a_task_that_hangs(caplog: pytest.LogCaptureFixture) -> None:
    release = asyncio.Event()

    async def hang_on() -> None:
        try:
            await release.wait()
        except asyncio.CancelledError:
            await release.wait()

    tasks = Tasks()
    task = tasks.spawn(hang_on(), "stubborn")
    await asyncio.wait([task], timeout=0)
    await tasks.close(seconds=0.01)
    assert "stubborn did not end within 0.01 s of being cancelled" in caplog.text
    release.set()
    await task
