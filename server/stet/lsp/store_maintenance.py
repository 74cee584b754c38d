"""Writes what waits for the disk as soon as the disk takes it, and tidies up when that is due. What could
not be loaded at the start comes back by it too.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from stet.storage.state_store import StateStore

SOON_SECONDS = 1.0
LATER_SECONDS = 5.0
N_SOON = 60
"""How many times a disk that refuses is tried again after `SOON_SECONDS`; then after `LATER_SECONDS`."""


class StoreMaintenance:
    """Calls `StateStore.flush` in a worker for as long as the store is behind."""

    def __init__(
        self,
        store: Callable[[], StateStore],
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
        catch_up: Callable[[], Awaitable[None]],
    ) -> None:
        """Made on the event loop, before its store.

        Args:
            store: What is tended.
            spawn: Starts the work.
            catch_up: Loads and merges what the store could not load at the start; called when it can.
        """
        self._store = store
        self._catch_up = catch_up
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Begin soon, unless it is under way; from any thread."""
        with suppress(
            RuntimeError
        ):  # the loop is closed: `IndexStore.close` has written what it could
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._spawn(self._maintain(), "writing what waits for the disk")

    async def _maintain(self) -> None:
        store = self._store()
        for n in itertools.count():
            await asyncio.to_thread(store.flush)
            if store.can_catch_up:
                await self._catch_up()
            if not store.has_unwritten:
                return
            await asyncio.sleep(SOON_SECONDS if n < N_SOON else LATER_SECONDS)
