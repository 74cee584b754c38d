"""Who looks after which hunks, when several servers run on one workspace.

Every row has an owner: one run of a server. A run holds an OS lock on a file of its own for as long
as it lives, so whoever can take that lock knows that it is dead, however it died, and takes its rows
over. Both happen only behind the one lock of `exclusive`.
"""

import logging
import re
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stet.storage.schema import DatabaseBusy, transaction
from stet.system.file_lock import FileLock

log = logging.getLogger(__name__)

_OWNED = ("hunk", "footing", "turn", "chat", "heard", "attached")
_NAME = re.compile("[0-9a-z]{1,32}")
_TRY_SECONDS = 0.02


class RunOwner:
    """This run.

    Attributes:
        run: Its name, which no other run ever has.
    """

    def __init__(self, folder: Path) -> None:
        """Begin the run; its file is in `folder`, which is made.

        Raises:
            OSError: If there can be no file or no lock.
        """
        folder.mkdir(mode=0o700, exist_ok=True)
        self.run = uuid.uuid4().hex
        self._folder = folder
        lock = FileLock.acquire(self._file_of(self.run))
        assert lock is not None, "nobody else knows the name yet"
        self._lock = lock

    def adopt(self, connection: sqlite3.Connection) -> None:
        """Take over what belongs to the dead.

        Raises:
            sqlite3.Error, OSError: If it can't be done; then nothing is taken.
        """
        every = " UNION ".join(f"SELECT owner FROM {table}" for table in _OWNED)  # noqa: S608 (our own names)
        owners = {owner for (owner,) in connection.execute(every)}
        # Also those that had nothing: their files would stay for ever.
        names = {path.stem for path in self._folder.glob("*.lock")} | owners
        dead = {name: lock for name in names - {self.run} if (lock := self._lock_of(name))}
        done = False
        try:
            if left := dead.keys() & owners:
                self._take_over(connection, left)
            done = True
        finally:
            for lock in dead.values():
                lock.release(remove=done)  # else it is for whoever tries next, perhaps this run

    def _take_over(self, connection: sqlite3.Connection, names: Iterable[str]) -> None:
        """Let the rows of these runs be this one's, all or none."""
        with transaction(connection):
            for name in names:
                for table in _OWNED:
                    update = f"UPDATE {table} SET owner = ? WHERE owner = ?"  # noqa: S608 (our own names)
                    connection.execute(update, (self.run, name))

    def release(self) -> None:
        """End the run: what it owns is for whoever comes next.

        Raises:
            OSError: If its file can't be removed.
        """
        self._lock.release(remove=True)

    def _lock_of(self, name: object) -> FileLock | None:
        """Return the lock of a dead run; None if the run lives, or the name in the database is
        invalid.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            log.warning("an owner of rows that can be none: %r", name)
            return None
        return FileLock.acquire(self._file_of(name))

    def _file_of(self, run: str) -> Path:
        return self._folder / f"{run}.lock"


@contextmanager
def exclusive(path: Path, seconds: float) -> Iterator[None]:
    """Be the only server that opens the database now; another one is waited for that long.

    Raises:
        Busy: If it is still at it then.
        OSError: If there can be no lock.
    """
    pause = threading.Event()
    for _ in range(max(int(seconds / _TRY_SECONDS), 1)):
        if lock := FileLock.acquire(path):
            break
        pause.wait(_TRY_SECONDS)
    else:
        raise DatabaseBusy("another server is opening it")
    try:
        yield
    finally:
        # The file stays: whoever waits for its lock has it open.
        lock.release()
