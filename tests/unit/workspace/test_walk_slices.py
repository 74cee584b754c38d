"""Long work in slices: all of it, and no more of it after a cancel."""

import asyncio
import itertools
import threading
from collections.abc import Iterator

import pytest

from stet.system.system import System
from stet.workspace.walk import run_in_slices


async def test_all_that_the_work_gives_is_gathered_in_order() -> None:
    assert await run_in_slices(iter(range(1000)), System()) == list(range(1000))
    assert await run_in_slices(iter(()), System()) == []


async def test_a_cancel_ends_work_that_has_no_end() -> None:
    loop = asyncio.get_running_loop()
    ended = threading.Event()

    async def cancelled_once_begun() -> None:
        async with asyncio.timeout(None) as limit:

            def endless() -> Iterator[int]:
                try:
                    loop.call_soon_threadsafe(limit.reschedule, loop.time())
                    yield from itertools.count()
                finally:
                    ended.set()

            await run_in_slices(endless(), System())

    with pytest.raises(TimeoutError):
        await cancelled_once_begun()
    assert await asyncio.to_thread(ended.wait, 5)
