"""The longest time for which one callback blocks the event loop."""

import asyncio
import gc
from collections.abc import Awaitable
from time import thread_time


async def longest_stall(work: Awaitable[str]) -> tuple[float, str]:
    """Return the longest time that the event loop works on one callback meanwhile, in seconds of
    processor time; and the result.
    """
    # Otherwise a collection of the garbage of thousands of other tests would be measured.
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
