"""The open `state.db`: writing, loading and tidying, in SQL.

Importing sqlite3 takes milliseconds, so this module is imported only when the database is opened.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from stet.review.journal import RestoredState
from stet.review.proposal import Hunk
from stet.storage.hunk_rows import (
    MAX_NUMBER,
    StoredText,
    hunk_fields,
    is_live,
    spans_to_json,
)
from stet.storage.schema import (
    SHORT_WAIT_MS,
    RunOwner,
    connect,
    exclusive,
    open_database,
    set_aside,
    transaction,
    translate_errors,
)
from stet.storage.tables import load_chats, load_presets, load_requests, load_state, write_rows
from stet.storage.write_batch import ChatRows, WriteBatch
from stet.storage.write_failures import DatabaseDamaged

log = logging.getLogger(__name__)

_UPSERT_HUNK = """
    INSERT INTO hunk (id, owner, live, kept, fields, old, new, base, proposed)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
        live = excluded.live, kept = excluded.kept, fields = excluded.fields, old = excluded.old,
        new = excluded.new, base = excluded.base, proposed = excluded.proposed
    WHERE owner = excluded.owner
"""
_UPDATE_HUNK_STATE = """
    UPDATE hunk SET live = ?3, kept = ?4, fields = ?5
    WHERE id = ?1 AND owner = ?2 AND old = ?6 AND new = ?7 AND base = ?8 AND proposed = ?9
"""
_INSERT_SNAPSHOT = "INSERT INTO footing (owner, file, fields, text) VALUES (?, ?, ?, ?)"
_DROP_SNAPSHOT = "DELETE FROM footing WHERE owner = ? AND file = ?"
_TAKE_NUMBERS = "INSERT INTO counter VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET next = next + ?"
_RAISE_NUMBER = """
    INSERT INTO counter VALUES (?, ?)
    ON CONFLICT (kind) DO UPDATE SET next = max(next, excluded.next)
"""
_PROBE = """
    INSERT INTO counter VALUES ('attempt', 1)
    ON CONFLICT (kind) DO UPDATE SET next = next % 1000 + 1
"""
"""Always another value: SQLite does not write an unchanged row."""
_USED = """
    SELECT old FROM hunk UNION SELECT new FROM hunk UNION SELECT base FROM hunk
    UNION SELECT proposed FROM hunk UNION SELECT text FROM footing UNION SELECT text FROM heard
"""
_UNUSED_TEXTS = f"SELECT hash FROM text WHERE hash NOT IN ({_USED})"  # noqa: S608 (our own words)
_DROP_TEXTS = f"DELETE FROM text WHERE hash IN ({{}}) AND hash NOT IN ({_USED})"  # noqa: S608
_KNOWN_TEXTS = "SELECT hash FROM text WHERE hash IN ({})"
_MOST_AT_ONCE = 500
"""The maximum number of values in one statement; old builds of SQLite allow 999."""


class Database:
    """The writing connection of one run; used by one thread at a time.

    Attributes:
        set_aside: The path to which a damaged database was moved, if there was one.
    """

    def __init__(self, folder: Path, patience: float) -> None:
        """Open `state.db` in `folder`; both are created if necessary, for this user only.

        Args:
            folder: The state folder of the workspace.
            patience: How many seconds to wait for another server that opens the database.

        Raises:
            DatabaseBusy: If another process holds a lock for longer; nothing is opened then.
            StoreError: If the database can't be opened.
        """
        self.set_aside: Path | None = None
        self._path = folder / "state.db"
        with translate_errors():
            for missing in (folder.parent, folder):
                missing.mkdir(mode=0o700, exist_ok=True)
            with exclusive(folder / "opening.lock", patience), ExitStack() as undo:
                self._connection = undo.enter_context(closing(self._open()))
                self._owner = RunOwner(folder / "owners")
                undo.callback(self._owner.release)
                _ = self._owner.adopt(self._connection)
                _ = undo.pop_all()  # opened without an error: keep it open
        self._synchronous = ""

    def adopt(self) -> bool:
        """Take over the rows of runs that have ended since; return whether there were any.

        Raises:
            StoreError: If no row was taken over.
        """
        with translate_errors():
            return self._owner.adopt(self._connection)

    def number(self, kind: str, n: int) -> int:
        """Return the first of `n` numbers that are unused.

        Raises:
            StoreError: If the numbers can't be written.
        """
        with translate_errors():
            self._sync("NORMAL")
            with transaction(self._connection):
                self._connection.execute(_TAKE_NUMBERS, (kind, 1 + n, n))
                select = "SELECT next FROM counter WHERE kind = ?"
                [next_number] = self._connection.execute(select, (kind,)).fetchone()
        if type(next_number) is not int or not n < next_number <= MAX_NUMBER:
            raise DatabaseDamaged(f"no number of a {kind}: {next_number!r}")
        return next_number - n

    def write(self, batch: WriteBatch, now: float) -> tuple[str, ...]:
        """Write the whole batch or nothing.

        Args:
            batch: The rows to write.
            now: Seconds since the epoch.

        Returns:
            The ids of hunks that another run has taken over, which are not written.

        Raises:
            StoreError: If nothing was written.
        """
        of_hunks: dict[str, StoredText] = {}
        rows = [self._row_of(hunk, now, of_hunks) for hunk in batch.hunks.values()]
        texts: dict[str, StoredText] = {}
        owner, snapshots = self._owner.run, []
        for file, snapshot in batch.anchor_snapshots.items():
            if snapshot.lines:
                ahead = batch.packed.get(file)
                text = ahead.hash if ahead else _name_text(snapshot.text, texts)
                snapshots.append((owner, file, spans_to_json(snapshot), text))
        chat_texts = {
            text: _name_text(text, texts)
            for chat in batch.chats.values()
            for text in chat.texts.values()
        }
        with translate_errors():
            self._sync("FULL" if batch.decision else "NORMAL")
            with transaction(self._connection):
                self._write_texts((*texts.values(), *batch.packed.values()))
                many = self._connection.executemany
                lost: tuple[str, ...] = ()
                if not self._update_states(rows):
                    self._write_texts(of_hunks.values())
                    n_written = many(_UPSERT_HUNK, rows).rowcount
                    lost = self._foreign_hunks(batch.hunks) if n_written < len(rows) else ()
                many(_DROP_SNAPSHOT, ((owner, file) for file in batch.anchor_snapshots))
                many(_INSERT_SNAPSHOT, snapshots)
                many(_RAISE_NUMBER, batch.numbers.items())
                if batch.has_probe:
                    self._connection.execute(_PROBE)
                write_rows(self._connection, owner, now, batch, chat_texts)
        return lost

    def load(self, now: float) -> RestoredState:
        """Load the state of this run; drop decided hunks beyond the bounds first.

        Uses a separate connection, for any thread.

        Args:
            now: Seconds since the epoch.

        Raises:
            StoreError: If the state can't be read.
        """
        with self._reading() as connection:
            return load_state(connection, self._owner.run, now)

    def load_chats(self, now: float) -> ChatRows:
        """Load the turns and chats of this run; for any thread, as `load`.

        Raises:
            StoreError: If the rows can't be read.
        """
        with self._reading() as connection:
            return load_chats(connection, self._owner.run, now)

    def load_presets(self) -> tuple[dict[str, str], str | None]:
        """Load all presets and the attachments of this run; for any thread, as `load`.

        Raises:
            StoreError: If the rows can't be read.
        """
        with self._reading() as connection:
            return load_presets(connection, self._owner.run)

    def load_requests(self, now: float) -> tuple[str, ...]:
        """Load the requests that any server of the workspace has sent; for any thread, as `load`.

        Raises:
            StoreError: If the rows can't be read.
        """
        with self._reading() as connection:
            return load_requests(connection, now)

    def vacuum_texts(self) -> None:
        """Drop unused texts, and move the content of the log file to the database.

        Uses a separate connection, for any thread; others may write meanwhile.

        Raises:
            StoreError: If this fails.
        """
        with self._reading() as connection:
            unused = [name for (name,) in connection.execute(_UNUSED_TEXTS)]
            for some in _in_batches(unused):
                # Drop a few at a time, so that other writers need not wait for all. The statement
                # checks again, because a text may be in use by now.
                began = time.perf_counter()
                with transaction(connection):
                    connection.execute(_DROP_TEXTS.format(_marks(some)), some)
                # Other processes that wait for the lock poll it only now and then.
                threading.Event().wait(time.perf_counter() - began)
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            # The rest of the log is short, so other writers hardly wait.
            connection.execute(f"PRAGMA busy_timeout = {SHORT_WAIT_MS}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def log_bytes(self) -> int:
        """The size of the log file beside the database."""
        try:
            return self._path.with_name(f"{self._path.name}-wal").stat().st_size
        except OSError:
            return 0

    def close(self) -> None:
        """Merge the log into the database file, and leave the rows to the next run.

        Raises:
            StoreError: If this fails; written data is not lost.
        """
        with translate_errors():
            try:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self._connection.close()
                self._owner.release()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Yield another connection, for the calling thread."""
        with translate_errors(), closing(connect(self._path)) as connection:
            yield connection

    def _open(self) -> sqlite3.Connection:
        try:
            return open_database(self._path)
        except DatabaseDamaged as damage:
            log.error("%s is damaged: %s", self._path, damage)
            self.set_aside = set_aside(self._path)
            return open_database(self._path)

    def _sync(self, how: str) -> None:
        """Set whether commits wait for the disk (`FULL`) or only for the system (`NORMAL`)."""
        if self._synchronous != how:
            self._connection.execute(f"PRAGMA synchronous = {how}")
            self._synchronous = how

    def _row_of(self, hunk: Hunk, now: float, texts: dict[str, StoredText]) -> tuple[object, ...]:
        old, new = _name_text(hunk.old, texts), _name_text(hunk.new, texts)
        # Unless a user has typed within the hunk, these texts are the same.
        base = old if hunk.base == hunk.old else _name_text(hunk.base, texts)
        proposed = new if hunk.proposed == hunk.new else _name_text(hunk.proposed, texts)
        state_values = (hunk.id, self._owner.run, is_live(hunk), now, hunk_fields(hunk))
        return (*state_values, old, new, base, proposed)

    def _update_states(self, rows: Sequence[tuple[object, ...]]) -> bool:
        """Update hunks that are stored with the same texts, as most decided hunks are. Return False
        if not all of them are; then any of them may have been updated.
        """
        # If the first hunk has no such row, the others are not tried.
        for some in (rows[:1], rows[1:]):
            if some and self._connection.executemany(_UPDATE_HUNK_STATE, some).rowcount < len(some):
                return False
        return True

    def _write_texts(self, texts: Iterable[StoredText]) -> None:
        """Write the texts that are not stored yet."""
        by_hash = {text.hash: text for text in texts}
        for some in _in_batches(tuple(by_hash)):
            for (known,) in self._connection.execute(_KNOWN_TEXTS.format(_marks(some)), some):
                del by_hash[known]
        rows = ((text.hash, text.packed()) for text in by_hash.values())
        self._connection.executemany("INSERT INTO text (hash, packed) VALUES (?, ?)", rows)

    def _foreign_hunks(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return the ids among `ids` of hunks that belong to another run."""
        other = "SELECT 1 FROM hunk WHERE id = ? AND owner <> ?"
        find, run = self._connection.execute, self._owner.run
        return tuple(one for one in ids if find(other, (one, run)).fetchone() is not None)


def _name_text(text: str, texts: dict[str, StoredText]) -> bytes:
    """Return the name of a text, and note the text in `texts`."""
    if (noted := texts.get(text)) is None:
        noted = texts[text] = StoredText.make(text)
    return noted.hash


def _in_batches(names: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield `names` in batches for one statement each."""
    for start in range(0, len(names), _MOST_AT_ONCE):
        yield names[start : start + _MOST_AT_ONCE]


def _marks(values: Sequence[bytes]) -> str:
    return ", ".join("?" * len(values))
