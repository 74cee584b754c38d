"""Tasks that outlive the message that started them: referenced, errors logged, cancelled at
shutdown.

asyncio keeps only weak references to tasks and reports their errors when they are collected. This
is the only module that creates tasks. `LatestRequest` runs requests that a newer one makes
obsolete, as an editor sends a request with every letter.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")


class Tasks:
    """All tasks of one server; used on the event loop only."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, coroutine: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start `coroutine`; its first step runs after the message being handled.

        After `cancel` the task is cancelled before its first step.

        Args:
            coroutine: The work.
            name: The name of the task in the log.
        """
        task = asyncio.create_task(coroutine, name=name)  # noqa: TID251 (this is the place)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        if self._closed:
            task.cancel()
        return task

    def start(self, coroutine: Coroutine[Any, Any, object], name: str) -> None:
        """Call `spawn` for work whose result is not awaited."""
        _ = self.spawn(coroutine, name)

    def cancel(self) -> None:
        """Cancel all tasks; later tasks are cancelled before their first step."""
        self._closed = True
        for task in self._tasks:
            task.cancel()

    async def close(self, seconds: float = 2.0) -> None:
        """Cancel all tasks and wait for their ends, at most `seconds`; log the tasks that still
        run.
        """
        self.cancel()
        if not self._tasks:
            return
        _, left = await asyncio.wait(tuple(self._tasks), timeout=seconds)
        for task in left:
            log.warning("%s did not end within %s s of being cancelled", task.get_name(), seconds)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s failed", task.get_name(), exc_info=error)


Start = Callable[[Coroutine[Any, Any, None], str], object]
Spawn = Callable[[Coroutine[Any, Any, T], str], "asyncio.Task[T]"]


class LatestRequest(Generic[T]):
    """One kind of request, of which only the latest counts; used on the event loop only."""

    def __init__(self, spawn: Spawn[T], name: str) -> None:
        """Start without a request; `name` is the name of the task in the log."""
        self._spawn = spawn
        self._name = name
        self._running: asyncio.Task[T] | None = None

    def stop(self) -> None:
        """Stop the work of the previous request, if it is still running."""
        if self._running is not None:
            self._running.cancel()

    async def run(self, work: Coroutine[Any, Any, T], otherwise: T) -> T:
        """Return the result of `work`, or `otherwise` if a newer request arrives first."""
        self.stop()
        task = self._running = self._spawn(work, self._name)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:  # the editor has cancelled this request
            task.cancel()
            raise
        return otherwise if task.cancelled() else task.result()
