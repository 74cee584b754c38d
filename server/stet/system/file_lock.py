"""A file lock that the operating system releases at the end of the process."""

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class FileLock:
    """A lock on a file, held by this process and created by `acquire`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path) -> "FileLock | None":
        """Acquire the lock on `path`, creating the file if missing; return None if it is held.

        Raises:
            OSError: If the file can't be opened, or the file system has no locks.
        """
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return None
            raise
        return cls(path, descriptor)

    def release(self, *, remove: bool = False) -> None:
        """Release the lock; with `remove`, delete its file, if no process will lock it again.

        Raises:
            OSError: If the file can't be removed.
        """
        os.close(self._descriptor)
        if remove:
            self._path.unlink(missing_ok=True)


def _lock(descriptor: int) -> None:
    """Lock an open file without waiting.

    Raises:
        BlockingIOError: If the lock is held.
        OSError: If the file system has no locks.
    """
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
