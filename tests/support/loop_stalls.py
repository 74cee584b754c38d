"""How long one thing holds the event loop."""

import asyncio
import gc
from collections.abc import Awaitable
from time import thread_time


async def longest_stall(work: Awaitable[str]) -> tuple[float, str]:
    """The longest that the event loop works on one thing meanwhile, in seconds of processor time; and
    what came.
    """
    # All that thousands of other tests have left would be looked through in between, which takes long.
    gc.collect()
    loop, longest, last, is_over = asyncio.get_running_loop(), 0.0, thread_time(), False

    def tick() -> None:
        nonlocal longest, last
        now = thread_time()
        longest, last = max(longest, now - last), now
        if not is_over:
            loop.call_soon(tick)

    gc.disable()
    try:
        tick()
        text = await work
        is_over = True
        tick()
    finally:
        gc.enable()
    return longest, text
