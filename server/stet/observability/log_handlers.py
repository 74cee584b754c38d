"""The handlers of the log: standard error and a file. Neither fails or blocks the code that logs.

The file is created with the first record, is private and is rotated. If the file cannot be written, it
is tried again after a while.
"""

import logging
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from stet.observability.private_files import make_private


class SafeHandler(logging.Handler):
    """Drops a record that it fails to write.

    The standard library lets what `emit` raises fall on the caller of `log.warning`: a full disk would
    end the work that was logged.
    """

    def handle(self, record: logging.LogRecord) -> bool:
        """Write the record if it passes the filters; whether it did and was written."""
        try:
            return bool(super().handle(record))
        except Exception:  # noqa: BLE001 (the boundary: what fails in the log has no place to be logged)
            return False


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


log = logging.getLogger(__name__)

_MAX_BYTES = 1_000_000
_MAX_FILES = 3
"""Number of older log files that are kept."""
RETRY_SECONDS = 30.0
"""How long a file that can't be written is not tried again."""


class LazyLogFile(SafeHandler):
    """`stet.log` in the platform's log folder, for its owner's eyes only, rotated at 1 MB.

    Several servers write into it: each follows when another has started a new one. If the file can't be
    written or rotated, the log says so once on stderr, and the file is tried again after a while: a full
    disk has room again.
    """

    def __init__(
        self,
        path: Path | None = None,
        max_bytes: int = _MAX_BYTES,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Create no file yet.

        Args:
            path: The file; None: `log_file_path()`.
            max_bytes: The size at which a new file is begun.
            clock: Returns monotonic seconds.
        """
        super().__init__()
        self._path = path
        self._max_bytes = max_bytes
        self._clock = clock
        self._target: logging.Handler | None = None
        self._failed_at: float | None = None
        self._has_said = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, opening the file first if this is the first one."""
        if self._failed_at is not None and self._clock() - self._failed_at < RETRY_SECONDS:
            return
        try:
            self._target = self._target or self._open()
            self._target.handle(record)
        except OSError as error:
            self._failed_at = self._clock()
            self._release()
            if not self._has_said:
                self._has_said = True
                # Through the log: it does not wait for an editor that never reads stderr.
                log.warning("No log file is written: %s", error)
        else:
            self._failed_at = None

    def close(self) -> None:
        """Close the file if it was opened."""
        self._release()
        super().close()

    def _release(self) -> None:
        """Close the file; what a full disk does not take of it is lost."""
        target, self._target = self._target, None
        if target is not None:
            with suppress(OSError):
                target.close()

    def _open(self) -> logging.Handler:
        """Open the log file in a folder that belongs to Stet alone.

        Raises:
            OSError: If the file or the folder can't be created.
        """
        from stet.observability.owner_only_file import (
            OwnerOnlyFile,  # late: it imports sockets and queues
        )

        path = self._path or log_file_path()
        make_private(path.parent)
        target = OwnerOnlyFile(str(path), maxBytes=self._max_bytes, backupCount=_MAX_FILES)
        target.setFormatter(self.formatter)
        return target


def log_file_path() -> Path:
    """Where the log is; it need not exist."""
    import platformdirs  # late: most runs log nothing

    return platformdirs.user_log_path("stet") / "stet.log"
