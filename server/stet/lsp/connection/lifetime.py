"""How long the server lives: until the editor says so, leaves, dies, or the system asks."""

import asyncio
import logging
import os
import signal
import sys
import threading

from stet.system.os_system import is_alive

log = logging.getLogger(__name__)

PARENT_CHECK_SECONDS = 3.0
CLOSING_SECONDS = 5.0
"""How long the end of a run may take in all: whatever of it hangs is no longer waited for."""
HARD_EXIT_SECONDS = 3.0
"""When a worker thread that hangs is no longer waited for."""


class Lifetime:
    """One run of the server."""

    def __init__(self) -> None:
        self.signal: int | None = None
        """The signal that ended it, if one did."""
        self._over = asyncio.Event()
        self._parent: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether the run has been ended."""
        return self._over.is_set()

    def end(self) -> None:
        """End the run; `wait` returns soon after."""
        self._over.set()

    def end_with(self, process_id: int) -> None:
        """End when that process does.

        One that is not there now lives in another container and says nothing.
        """
        if is_alive(process_id):
            self._parent = process_id

    async def wait(self) -> None:
        """Return when the run is over."""
        while not self.is_over:
            try:
                async with asyncio.timeout(PARENT_CHECK_SECONDS):
                    await self._over.wait()
            except TimeoutError:
                if self._parent is not None and not is_alive(self._parent):
                    log.warning("the editor (process %d) is gone", self._parent)
                    self.end()

    def listen_to_signals(self) -> None:
        """Let the signals that ask a process to end, end the run."""
        if sys.platform == "win32":
            return
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, int(number))

    def _signalled(self, number: int) -> None:
        self.signal = number
        self.end()


def exit_within(seconds: float, code: int) -> None:
    """Make sure that the process ends: asyncio and the interpreter join hanging threads for ever."""
    guard = threading.Timer(seconds, os._exit, (code,))
    guard.daemon = True
    guard.start()
