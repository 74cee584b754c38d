"""The log file: made when the first record comes, private, rotated; and given up where it can't be."""

import logging
from pathlib import Path

from stet.lsp.logs.private import make_private

log = logging.getLogger(__name__)

_MAX_BYTES = 1_000_000
_N_KEPT = 3
"""Older ones that stay beside it."""


class LazyLogFile(logging.Handler):
    """`stet.log` in the platform's log folder, for its owner's eyes only, rotated at 1 MB.

    Several servers write into it: each follows when another has begun a new one. Where it can't be written, or not be rotated, that is said once on stderr and the file is given up.
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
        from stet.lsp.logs.owners_file import OwnersFile  # late: it imports sockets and queues

        path = self._path or log_file_path()
        make_private(path.parent)
        target = OwnersFile(str(path), maxBytes=self._max_bytes, backupCount=_N_KEPT)
        target.setFormatter(self.formatter)
        return target


def log_file_path() -> Path:
    """Where the log is; it need not exist."""
    import platformdirs  # late: most runs log nothing

    return platformdirs.user_log_path("stet") / "stet.log"
