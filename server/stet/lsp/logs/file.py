"""The log file: made when the first record comes, private, rotated; and given up where it can't be."""

import logging
import os
import sys
from io import TextIOWrapper
from pathlib import Path

log = logging.getLogger(__name__)

_MAX_BYTES = 1_000_000
_N_KEPT = 3
"""Older ones that stay beside it."""


class LazyLogFile(logging.Handler):
    """`stet.log` in the platform's log folder, for its owner's eyes only, rotated at 1 MB.

    Where it can't be written, or not be rotated, that is said once on stderr and the file is given up.
    """

    def __init__(self, path: Path | None = None, max_bytes: int = _MAX_BYTES) -> None:
        """Nothing is made yet.

        Args:
            path: The file; None: `log_file_path()`.
            max_bytes: At which another is begun.
        """
        super().__init__()
        self._path = path
        self._max_bytes = max_bytes
        self._target: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, opening the file first if this is the first one."""
        try:
            self._target = self._target or self._open()
            self._target.handle(record)
        except OSError as error:
            target, self._target = self._target, logging.NullHandler()
            # Through the log: it does not wait for an editor that never reads stderr.
            log.warning("No log file is written: %s", error)
            if target is not None:
                target.close()

    def close(self) -> None:
        """Close the file if it was opened."""
        if self._target is not None:
            self._target.close()
        super().close()

    def _open(self) -> logging.Handler:
        """The file, in a folder of ours alone.

        Raises:
            OSError: If either can't be made.
        """
        from logging.handlers import RotatingFileHandler  # late: it imports sockets and queues

        class OwnersFile(RotatingFileHandler):
            """Rotated files that only their owner can read."""

            def _open(self) -> TextIOWrapper:
                return open(self.baseFilename, "a", encoding="utf-8", opener=owners_only)

            def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's
                """Leave it to `LazyLogFile`; logging itself prints it, to a stderr nobody may read."""
                error = sys.exc_info()[1]
                if isinstance(error, OSError):
                    raise error

        path = self._path or log_file_path()
        make_private(path.parent)
        target = OwnersFile(path, maxBytes=self._max_bytes, backupCount=_N_KEPT)
        target.setFormatter(self.formatter)
        return target


def log_file_path() -> Path:
    """Where the log is; it need not exist."""
    import platformdirs  # late: most runs log nothing

    return platformdirs.user_log_path("stet") / "stet.log"


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone.

    Raises:
        OSError: If one can't be made.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would leave theirs to the umask


def owners_only(path: str, flags: int) -> int:
    """Opens a file that only its owner can read; for `open`."""
    return os.open(path, flags, 0o600)
