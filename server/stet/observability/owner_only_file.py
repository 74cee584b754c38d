"""A log file that several servers write into, and any of them renews."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from stet.observability.private_files import open_private


class OwnerOnlyFile(RotatingFileHandler):
    """Rotated files that only their owner can read."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=open_private)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record into the file that has the name now."""
        if self.stream is not None and not self._is_in_place(self.stream):
            self._reopen()
        super().emit(record)

    def doRollover(self) -> None:  # noqa: N802 - logging's
        """Begin a new file, unless another server is at it or has done so."""
        stream = self.stream
        if stream is None:
            return
        # The open file itself is locked: every process locks it before renaming it.
        with _locked(stream.fileno()) as is_ours:
            if is_ours and self._is_in_place(stream):
                super().doRollover()
            elif is_ours:
                self._reopen()

    def _is_in_place(self, stream: TextIOWrapper) -> bool:
        """Whether an open file is the one that has the name."""
        try:
            there = Path(self.baseFilename).lstat()
        except FileNotFoundError:
            return False
        return os.path.samestat(os.fstat(stream.fileno()), there)

    def _reopen(self) -> None:
        old, self.stream = self.stream, self._open()
        if old is not None:
            old.close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's
        """Leave the error to `LazyLogFile`; logging itself prints it to an unread stderr."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            raise error


@contextmanager
def _locked(descriptor: int) -> Iterator[bool]:
    """Lock an open file, if no other process has locked it. Yield whether the lock is held.

    Windows can't rename a file that another process has open, and some file systems have no locks:
    there the lock counts as held.
    """
    duplicate = os.dup(
        descriptor
    )  # which holds the lock, though the file itself is closed meanwhile
    try:
        is_held = True
        if sys.platform != "win32":
            import fcntl  # late: only a full log needs it

            try:
                fcntl.flock(duplicate, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                is_held = False
            except OSError:
                pass
        yield is_held
    finally:
        os.close(duplicate)
