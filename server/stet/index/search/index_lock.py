"""Which index file a process may use: with two servers on one workspace each has its own."""

from pathlib import Path

from stet.system.file_lock import FileLock

_MOST = 16


def acquire_index(folder: Path) -> tuple[FileLock, Path]:
    """The first index file in `folder` that nobody uses, with the lock that keeps others away.

    Raises:
        OSError: If the folder can't be made or written, or every slot is taken.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(_MOST):
        stem = "index" if number == 0 else f"index-{number + 1}"
        lock = FileLock.acquire(folder / f"{stem}.lock")
        if lock is not None:
            return lock, folder / f"{stem}.db"
    raise OSError(f"{_MOST} servers use the search index of {folder} already")
