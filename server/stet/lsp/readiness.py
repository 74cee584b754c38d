"""Commands that wait until the server is ready, in the order in which they came."""

import asyncio
from collections.abc import Callable

from stet.lsp.lsp_errors import RequestFailed

READY_SECONDS = 10.0
"""How long a command waits for what earlier runs have kept."""


class Readiness:
    """Whether settings are read and proposals, chats and presets of earlier runs are back."""

    def __init__(self) -> None:
        self._ready = asyncio.Event()
        self._n_waiting = 0

    def set(self) -> None:
        """Let everybody go on who waits."""
        self._ready.set()

    async def wait(self) -> None:
        """Wait as long as it takes."""
        await self._ready.wait()

    def enqueue(self) -> "QueuedCommand | None":
        """Give a command its place among those that wait; None if it needs none."""
        if self._ready.is_set() and not self._n_waiting:
            return None
        self._n_waiting += 1
        return QueuedCommand(self._ready, self._leave)

    def _leave(self) -> None:
        self._n_waiting -= 1


class QueuedCommand:
    """What one command waits at."""

    def __init__(self, ready: asyncio.Event, leave: Callable[[], None]) -> None:
        """Create the place where a command waits, which is left when `ready` is set; then `leave`
        is called.
        """
        self._ready = ready
        self._leave = leave

    async def wait(self) -> None:
        """Wait until it is this command's turn.

        Raises:
            RequestFailed: If the server is not ready in time.
        """
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._ready.wait()
        except TimeoutError:
            raise RequestFailed(
                f"Stet has not read the proposals and chats of earlier runs within {READY_SECONDS:g} s; "
                "nothing was done. Try again in a moment; its log says what takes so long."
            ) from None
        finally:
            self._leave()
