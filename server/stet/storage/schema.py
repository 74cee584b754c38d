"""The opening of the file `state.db`: its layout, its migrations, and the run that owns its rows.

Several servers may run on one workspace. Every row has an owner: one run of a server (`RunOwner`).
A run holds an OS lock on its own file until its end, so a server that can take this lock knows that
the run is dead, and takes over its rows. Both happen only under the lock of `exclusive`.

Importing sqlite3 takes milliseconds, so this module is imported only when the database is opened.
"""

import itertools
import logging
import os
import re
import sqlite3
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from stet.storage.write_failures import DatabaseBusy, DatabaseDamaged, DatabaseTooNew, StoreError
from stet.system.file_lock import FileLock

BUSY_SECONDS = 1.0
"""The maximum wait of a write for another server's write, in seconds.

Another write takes less than a millisecond, except on an overloaded disk. The event loop waits too,
because an answer before the write would be wrong."""
SHORT_WAIT_MS = 50
"""The maximum wait of tidying for another server, in milliseconds."""
CACHE_KIB = 256
"""The page cache of the connection that stays open, in KiB.

SQLite's default of 2,000 fills up within days and makes nothing faster: a write is a few pages, and
rows are read once."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE counter (kind TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE text (hash BLOB PRIMARY KEY, packed BLOB NOT NULL);
    CREATE TABLE hunk (
        nth INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        live INTEGER NOT NULL,
        kept REAL NOT NULL,
        fields TEXT NOT NULL,
        old BLOB NOT NULL,
        new BLOB NOT NULL,
        base BLOB NOT NULL,
        proposed BLOB NOT NULL
    );
    CREATE TABLE footing (
        nth INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        file TEXT NOT NULL,
        fields TEXT NOT NULL,
        text BLOB NOT NULL
    );
    CREATE INDEX footing_by_file ON footing (owner, file);
    """,
    """
    CREATE TABLE turn (
        nth INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,
        chat TEXT NOT NULL,
        kept REAL NOT NULL,
        fields TEXT NOT NULL
    );
    CREATE TABLE chat (
        nth INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        kept REAL NOT NULL,
        fields TEXT NOT NULL
    );
    CREATE INDEX chat_by_name ON chat (owner, name);
    CREATE TABLE heard (
        nth INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        chat TEXT NOT NULL,
        uri TEXT NOT NULL,
        text BLOB NOT NULL
    );
    CREATE INDEX heard_by_chat ON heard (owner, chat);
    """,
    """
    CREATE TABLE preset (
        name TEXT PRIMARY KEY,
        kept REAL NOT NULL,
        fields TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE attached (
        nth INTEGER PRIMARY KEY,
        owner TEXT NOT NULL,
        kept REAL NOT NULL,
        fields TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE sent (nth INTEGER PRIMARY KEY, kept REAL NOT NULL, fields TEXT NOT NULL);
    """,
)
"""The migrations from each version of the layout to the next, the first from an empty file.

A released migration is never changed: users have databases with its layout.

`hunk.nth` is the order of creation, `owner` the run that owns the row, and `kept` the time of the
last write in seconds since the epoch. `old`, `new`, `base`, `proposed` and `footing.text` name rows
of `text`. For `fields` see `stet.storage.hunk_rows`. `footing` has anchor snapshots, `heard` the
texts of files that a chat knows. Names of chats and URIs are JSON strings in ASCII, and so are the
names of presets, which belong to all servers of a workspace. `attached` has the attachments of each
server, `sent` the notes of the requests that all servers of a workspace have sent.
"""
log = logging.getLogger(__name__)
_OWNED = ("hunk", "footing", "turn", "chat", "heard", "attached")
_NAME = re.compile("[0-9a-z]{1,32}")
_TRY_SECONDS = 0.02


_KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_CORRUPT: DatabaseDamaged,
    sqlite3.SQLITE_NOTADB: DatabaseDamaged,
    sqlite3.SQLITE_BUSY: DatabaseBusy,
}


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise the errors of SQLite and of the system as `StoreError`.

    Raises:
        DatabaseDamaged: If the file is damaged.
        DatabaseBusy: If another process has locked the file.
        StoreError: For every other error, such as a full disk or missing rights.
    """
    try:
        yield
    except sqlite3.Error as error:
        # Extended codes carry the plain one in their last byte.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        raise _KINDS.get(code, StoreError)(str(error)) from error
    except OSError as error:
        raise StoreError(f"{error.strerror or error}: {error.filename or ''}") from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit all writes of the block, or none of them if an error is raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back if the disk was full.
        if connection.in_transaction:
            connection.rollback()
        raise


def open_database(path: Path, migrations: Sequence[str] = MIGRATIONS) -> sqlite3.Connection:
    """Return a connection to the file, which is created, checked and migrated if necessary.

    No other process may open the file meanwhile.

    Raises:
        DatabaseTooNew: If a later version of Stet has created the layout.
        DatabaseDamaged: If the file is damaged.
        StoreError: If the file can't be opened.
    """
    with translate_errors():
        if not path.exists():
            _create(path, migrations[:1])
        elif path.stat().st_size == 0:
            raise DatabaseDamaged("it is empty")
        path.chmod(0o600)
        connection = connect(path)
        try:
            version = _version(connection, len(migrations))
            _check(connection)
            connection.execute("PRAGMA journal_mode = WAL")
            _migrate(connection, migrations, version)
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except BaseException:
            connection.close()
            raise
    return connection


def _create(path: Path, migrations: Sequence[str]) -> None:
    """Create a new database, whole or not at all: an existing empty file counts as damaged.

    Raises:
        DatabaseDamaged: If the log of an earlier database exists.
        sqlite3.Error, OSError: If the database can't be created.
    """
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise DatabaseDamaged("it is missing, but its log exists")
    new = path.with_name(f"{path.stem}.new{path.suffix}")
    for left in (new, new.with_name(f"{new.name}-journal")):
        left.unlink(missing_ok=True)
    # Create the file for this user only; SQLite copies the permissions to its other files.
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(connect(new)) as connection:
        _migrate(connection, migrations, 0)
    new.rename(path)


def set_aside(path: Path) -> Path:
    """Rename a database and the files that belong to it; return the new path.

    Raises:
        OSError: If this fails.
    """
    names = (f"{path.stem}.damaged-{n}{path.suffix}" for n in itertools.count(1))
    aside = next(file for file in map(path.with_name, names) if not file.exists())
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to an existing file; any thread may use the connection, one at a time."""
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    # Text that is not UTF-8 is an invalid row, not an error that stops the loading of others.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA trusted_schema = OFF")
    # A checkpoint syncs the whole file, so it is only done in a worker (`Database.vacuum_texts`).
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection


def _check(connection: sqlite3.Connection) -> None:
    """Check the file for damage.

    Raises:
        DatabaseDamaged: If the file is damaged, or has triggers or views, which Stet never creates.
    """
    [found] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise DatabaseDamaged(str(found))
    foreign = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
    if names := connection.execute(foreign).fetchall():
        raise DatabaseDamaged(f"it contains an unexpected object: {names[0][0]!r}")


def _version(connection: sqlite3.Connection, latest: int) -> int:
    """Return the number of migrations that the file has had, before anything is written to it.

    Raises:
        DatabaseTooNew: If the number is greater than `latest`.
    """
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if not 0 <= version <= latest:
        raise DatabaseTooNew(
            f"its schema version is {version}, and this Stet supports {latest}: update Stet"
        )
    return int(version)


def _migrate(connection: sqlite3.Connection, migrations: Sequence[str], version: int) -> None:
    """Run the migrations that the file has not had yet, each whole or not at all."""
    for number, steps in enumerate(migrations[version:], version + 1):
        with transaction(connection):
            for step in steps.split(";"):
                connection.execute(step)
            connection.execute(f"PRAGMA user_version = {number}")


class RunOwner:
    """The run of this server, which owns rows.

    Attributes:
        run: The unique name of the run.
    """

    def __init__(self, folder: Path) -> None:
        """Begin the run; its lock file is in `folder`, which is created.

        Raises:
            OSError: If the file can't be created or locked.
        """
        folder.mkdir(mode=0o700, exist_ok=True)
        self.run = uuid.uuid4().hex
        self._folder = folder
        lock = FileLock.acquire(self._file_of(self.run))
        assert lock is not None, "nobody else knows the name yet"
        self._lock = lock

    def adopt(self, connection: sqlite3.Connection) -> bool:
        """Take over the rows of dead runs; return whether there were any.

        Raises:
            sqlite3.Error, OSError: If this fails; then no row is taken over.
        """
        every = " UNION ".join(f"SELECT owner FROM {table}" for table in _OWNED)  # noqa: S608 (our own names)
        owners = {owner for (owner,) in connection.execute(every)}
        # Include runs without rows, so that their files are removed too.
        names = {path.stem for path in self._folder.glob("*.lock")} | owners
        dead = {name: lock for name in names - {self.run} if (lock := self._lock_of(name))}
        done = False
        try:
            if left := dead.keys() & owners:
                with transaction(connection):
                    for name, table in itertools.product(left, _OWNED):
                        update = f"UPDATE {table} SET owner = ? WHERE owner = ?"  # noqa: S608 (our own names)
                        connection.execute(update, (self.run, name))
            done = True
        finally:
            for lock in dead.values():
                lock.release(remove=done)  # otherwise the next run tries, perhaps this one
        return bool(left)

    def release(self) -> None:
        """End the run: the next server takes over its rows.

        Raises:
            OSError: If the lock file can't be removed.
        """
        self._lock.release(remove=True)

    def _lock_of(self, name: object) -> FileLock | None:
        """Return the lock of a dead run; None if the run lives, or the name in the database is
        invalid.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            log.warning("an invalid owner of rows: %r", name)
            return None
        return FileLock.acquire(self._file_of(name))

    def _file_of(self, run: str) -> Path:
        return self._folder / f"{run}.lock"


@contextmanager
def exclusive(path: Path, seconds: float) -> Iterator[None]:
    """Be the only server that opens the database; wait `seconds` for another one.

    Raises:
        DatabaseBusy: If the other server still opens it then.
        OSError: If the lock file can't be created.
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
        # The file stays: a server that waits for its lock has it open.
        lock.release()
