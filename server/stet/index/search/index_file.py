"""The index as a file: whether it is sound, and how it goes away."""

import sqlite3
from contextlib import closing
from pathlib import Path


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
