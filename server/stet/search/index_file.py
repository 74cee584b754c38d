"""The index as a file: whether it is sound, and how it goes away."""

import sqlite3
from contextlib import closing
from pathlib import Path

from stet.system.file_lock import FileLock

_MOST = 16


def acquire_index(folder: Path) -> tuple[FileLock, Path]:
    """Return the first unused index file in `folder`, with the lock that keeps others away.

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


def check_index(path: Path) -> None:
    """Look through an index that nobody writes into just now. Takes a second for 100 MB.

    Raises:
        sqlite3.DatabaseError: If it is broken.
    """
    with closing(sqlite3.connect(path)) as database:
        (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        database.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def remove_index(path: Path) -> None:
    """Have no index there, closed before.

    Raises:
        OSError: If it can't be removed.
    """
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
