"""Long work on the disk, a slice at a time, so that a cancel ends it soon."""

import asyncio
from collections.abc import Iterator
from typing import TypeVar

from stet.system.system import System

SECONDS = 0.05
"""How long one slice works."""

_T = TypeVar("_T")


async def run_in_slices(work: Iterator[_T], system: System) -> list[_T]:
    """All that `work` gives; it goes on in worker threads, one slice behind the other.

    `work` must come by often: where it has nothing to give for long, it can't be stopped.
    """

    def slice_() -> tuple[list[_T], bool]:
        found: list[_T] = []
        until = system.monotonic() + SECONDS
        for each in work:
            found.append(each)
            if system.monotonic() >= until:
                return found, True
        return found, False

    every: list[_T] = []
    goes_on = True
    while goes_on:
        some, goes_on = await asyncio.to_thread(slice_)
        every += some
    return every
