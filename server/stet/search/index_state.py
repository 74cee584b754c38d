"""The location of a workspace's index, the check of its file, and the state of its building.

`sqlite3` is imported late: the server needs only the folder and the state.
"""

import hashlib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from stet.system.file_lock import FileLock
from stet.workspace.uris import canonical


def index_folder(cache: Path, roots: Iterable[str]) -> Path:
    """Return the folder of an index below the cache folder; there is one per set of root URIs."""
    named = "\n".join(sorted(map(canonical, roots)))
    name = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return cache / "workspaces" / name


def count_contents(folder: Path) -> tuple[int, int] | None:
    """Return how many files and passages the index in `folder` has; None without an index.

    Blocks on the disk.

    Raises:
        sqlite3.DatabaseError: If the index can't be read.
    """
    path = folder / "index.db"
    if not path.is_file():
        return None
    import sqlite3  # late: see the module

    # Without `mode`, the file would be created if it has just been deleted.
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
        sql = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks)"
        n_files, n_chunks = database.execute(sql).fetchone()
    return n_files, n_chunks


STORM = 2_000
"""If more files than this change at once, all files are checked instead."""
DISK_REFUSES = "the disk can't be written"
"""The beginning of the last message of a process that ended because the disk is full."""


class Stage(StrEnum):
    """The stage of the index."""

    OFF = "off"
    """The index has not been used yet, or there is no folder to index."""
    STARTING = "starting"
    BUILDING = "building"
    """The index answers from the files that it has read so far."""
    READY = "ready"
    FAILED = "failed"
    """The index is given up; searches read the files."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """The state of the index.

    Attributes:
        stage: The stage of the index.
        files: The number of files in the index.
        total: The number of all files, as far as they are counted.
        chunks: The number of passages in the index.
        unread: The number of texts that are not embedded yet.
        message: Why the index failed, for people; empty otherwise.
    """

    stage: Stage = Stage.OFF
    files: int = 0
    total: int = 0
    chunks: int = 0
    unread: int = 0
    message: str = ""


_MAX_SLOTS = 16


def acquire_index(folder: Path) -> tuple[FileLock, Path]:
    """Return the first unused index file in `folder`, with its lock.

    Raises:
        OSError: If the folder can't be created or written, or all index files are in use.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(_MAX_SLOTS):
        stem = "index" if number == 0 else f"index-{number + 1}"
        lock = FileLock.acquire(folder / f"{stem}.lock")
        if lock is not None:
            return lock, folder / f"{stem}.db"
    raise OSError(f"{_MAX_SLOTS} servers already use the search index of {folder}")


def check_index(path: Path) -> None:
    """Check an index that is not being written. This takes a second for 100 MB.

    Raises:
        sqlite3.DatabaseError: If the index is broken.
    """
    import sqlite3  # late: see the module

    with closing(sqlite3.connect(path)) as database:
        (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        database.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def remove_index(path: Path) -> None:
    """Delete the files of a closed index.

    Raises:
        OSError: If a file can't be deleted.
    """
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
