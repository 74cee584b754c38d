"""The log on standard error, which some editors never read."""

import logging
import os
import select
import sys

from stet.observability.safe_handler import SafeHandler

PIECE = 4096
"""In bytes (PIPE_BUF): what a pipe that is ready to be written takes without blocking."""


class StderrHandler(SafeHandler):
    """Writes what standard error takes now, and drops the rest rather than wait.

    An editor that starts a server and never reads its stderr would otherwise stop it after 64 kB.
    The descriptor stays blocking: it may be shared with the editor, whose own it would change.
    """

    def __init__(self, descriptor: int = 2) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._n_dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, or count it as dropped."""
        try:
            text = self.format(record)
        except (TypeError, ValueError):  # a wrong format string of some library
            text = f"{record.name}: {record.msg!r}"
        if self._n_dropped:
            text = f"({self._n_dropped} log lines dropped: stderr was not read)\n{text}"
        self._n_dropped = (
            0 if self._write(f"{text}\n".encode(errors="replace")) else self._n_dropped + 1
        )

    def _write(self, data: bytes) -> bool:
        try:
            for start in range(0, len(data), PIECE):
                if not self._is_ready():
                    return False
                os.write(self._descriptor, data[start : start + PIECE])
        except OSError:  # closed, or full after all
            return False
        return True

    def _is_ready(self) -> bool:
        if sys.platform == "win32":  # only sockets can be asked there
            return True
        return bool(select.select([], [self._descriptor], [], 0)[1])
