"""Writes what waits for the disk as soon as the disk takes it, and tidies up when that is due."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from stet.review.store.store import Store

SOON_SECONDS = 1.0
LATER_SECONDS = 5.0
N_SOON = 60
"""How many times a disk that refuses is tried again after `SOON_SECONDS`; then after `LATER_SECONDS`."""


class StoreTending:
    """Calls `Store.tend` in a worker for as long as the store is behind."""

    def __init__(
        self,
        store: Callable[[], Store],
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> None:
        """Made on the event loop, before its store; `spawn` starts the work."""
        self._store = store
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Begin soon, unless it is under way; from any thread."""
        with suppress(RuntimeError):  # the loop is closed: `Store.close` has written what it could
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._spawn(self._tend(), "writing what waits for the disk")

    async def _tend(self) -> None:
        store = self._store()
        for n in itertools.count():
            await asyncio.to_thread(store.tend)
            if not store.is_behind:
                return
            await asyncio.sleep(SOON_SECONDS if n < N_SOON else LATER_SECONDS)
