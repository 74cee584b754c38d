"""Requests of which only the newest counts: an editor asks with every letter that is typed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Spawn = Callable[[Coroutine[Any, Any, T], str], "asyncio.Task[T]"]


class LatestRequest(Generic[T]):
    """One kind of request. Touched on the event loop only."""

    def __init__(self, spawn: Spawn[T], name: str) -> None:
        """Nothing runs yet; `name` is what the log calls the work."""
        self._spawn = spawn
        self._name = name
        self._running: asyncio.Task[T] | None = None

    def stop(self) -> None:
        """End the work of the request before, if it goes on."""
        if self._running is not None:
            self._running.cancel()

    async def run(self, work: Coroutine[Any, Any, T], otherwise: T) -> T:
        """Return the outcome of `work`, or `otherwise` once a newer request has come."""
        self.stop()
        task = self._running = self._spawn(work, self._name)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:  # the editor has cancelled this very request
            task.cancel()
            raise
        return otherwise if task.cancelled() else task.result()
