"""The handlers of the log: standard error and a file. Neither fails or blocks the code that logs.

Each process has a log file of its own, a `RotatingFileHandler` of the standard library. The file is
created with the first record and is private. If it cannot be written, it is tried again after a
while.
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
    """A handler that drops a record that it fails to write.

    In the standard library, an error in `emit` reaches the caller of `log.warning`: a full disk
    would end the work that was logged.
    """

    def handle(self, record: logging.LogRecord) -> bool:
        """Write the record if it passes the filters. Return whether it was written."""
        try:
            return bool(super().handle(record))
        except Exception:  # noqa: BLE001 (the boundary: a failure of the log can't be logged)
            return False


PIECE = 4096
"""The bytes that a writable pipe accepts without blocking (PIPE_BUF)."""


class StderrHandler(SafeHandler):
    """A handler that writes what standard error accepts at once, and drops the rest.

    An editor that starts a server and never reads its stderr would otherwise stop it after 64 kB.
    The descriptor stays blocking: the editor may share it, and the mode would change there too.
    """

    def __init__(self, descriptor: int = 2) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._n_dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, or count it as dropped."""
        text = self.format(record)
        if self._n_dropped:
            text = f"({self._n_dropped} log lines dropped: stderr was not read)\n{text}"
        is_written = self._write(f"{text}\n".encode(errors="replace"))
        self._n_dropped = 0 if is_written else self._n_dropped + 1

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
        if sys.platform == "win32":  # `select` takes only sockets there
            return True
        return bool(select.select([], [self._descriptor], [], 0)[1])


log = logging.getLogger(__name__)

_MAX_BYTES = 1_000_000
_MAX_ROTATED = 3
"""Number of older files of one process that are kept."""
MAX_FILES = 10
"""The most files of one kind, of all processes, that a process leaves when it begins its file."""
RETRY_SECONDS = 30.0
"""The wait before a file that can't be written is tried again."""


class LazyLogFile(SafeHandler):
    """A log file in the platform's log folder, readable by its owner only, rotated at 1 MB.

    If the file can't be written or rotated, the log says so once on stderr, and the file is tried
    again after a while: a full disk may have room again.
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
        self._retry_at = 0.0
        self._has_warned = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, opening the file first if this is the first one."""
        if self._clock() < self._retry_at:
            return
        try:
            self._target = self._target or self._open()
            self._target.handle(record)
        except OSError as error:
            self._retry_at = self._clock() + RETRY_SECONDS
            self._release()
            if not self._has_warned:
                self._has_warned = True
                # Through the log: it does not wait for an editor that never reads stderr.
                log.warning("Can't write a log file: %s", error)

    def close(self) -> None:
        """Close the file if it was opened."""
        self._release()
        super().close()

    def _release(self) -> None:
        """Close the file. Text that a full disk refuses is lost."""
        target, self._target = self._target, None
        if target is not None:
            with suppress(OSError):
                target.close()

    def _open(self) -> logging.Handler:
        """Open the log file in a folder that belongs to Stet alone.

        Raises:
            OSError: If the file or the folder can't be created.
        """
        # Late: it imports sockets and queues.
        from stet.observability.owner_only_file import OwnerOnlyFile

        path = self._path or log_file_path()
        make_private(path.parent)
        target = OwnerOnlyFile(path, maxBytes=self._max_bytes, backupCount=_MAX_ROTATED)
        target.setFormatter(self.formatter)
        _drop_oldest(path)
        return target


def log_folder() -> Path:
    """Return the folder of the logs of all processes; it need not exist."""
    import platformdirs  # late: most runs log nothing

    return platformdirs.user_log_path("stet")


def log_file_path(kind: str = "stet") -> Path:
    """Return the path of this process's log, or of its file of another kind; it need not exist."""
    return log_folder() / f"{kind}-{os.getpid()}.log"


def log_files(folder: Path, kind: str) -> list[Path]:
    """Return the files of one kind, of all processes, the last modified first.

    Raises:
        OSError: If a file is removed meanwhile.
    """
    files = folder.glob(f"{kind}*.log*")
    return sorted(files, key=lambda file: file.lstat().st_mtime, reverse=True)


def _drop_oldest(path: Path) -> None:
    """Remove the oldest files of the kind of `path`; a server that writes one creates it again."""
    with suppress(OSError):  # another server may remove files too
        for old in log_files(path.parent, path.name.rpartition("-")[0])[MAX_FILES:]:
            old.unlink()
