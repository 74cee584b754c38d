"""The persistent journal: proposals and decisions in a SQLite database of the workspace.

    store = StateStore(system, lambda: workspace.folders, say)
    restored = await asyncio.to_thread(store.load)   # opens the database
    store.persist(hunks, snapshot)                      # written when it returns
    store.note_snapshots(snapshots)                  # to be written by `flush`
    await asyncio.to_thread(store.flush)
    await asyncio.to_thread(store.close)

Hunks in a very long text (`stet.text.large_document`) are written together with the text by
`flush`, which `persist` requests by `wake`. A kill before the flush loses the latest change of
these hunks.

A failure of the disk never reaches the caller. Data that could not be written stays in memory and
is written again with the next write and by `flush`, which `wake` requests; the user is notified
once, and `not_persisted` gives the reason. `load` waits for a lock of another process; until the
database has been opened nothing is written, so nothing in it can be overwritten. If the disk
refuses to open or read the database, nothing is written (`has_missed`) until it has been loaded and
`caught_up` is called. The import is cheap: SQLite is imported when the database is opened.

Hunks in very long texts are held until a worker has compressed the texts (`DeferredWrites`): the
compression takes too long for a keystroke.
"""

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import Hunk
from stet.storage.write_batch import (
    ChatRow,
    ChatRows,
    DeferredWrites,
    NumberAllocator,
    TurnRow,
    WriteBatch,
)
from stet.storage.write_failures import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseTooNew,
    MissedLoads,
    StoreError,
    WriteFailures,
)
from stet.system.system import System
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.storage.database import Database


log = logging.getLogger(__name__)

Loaded = TypeVar("Loaded")

OPENING_SECONDS = 2.0
"""How long a worker waits for another server that opens the database, before it tries again."""
SHORT_SECONDS = 1.0
"""How long the event loop waits for another server, or a worker, that opens the database."""
TIDY_WRITES = 200
"""The number of writes after which the log file is emptied and unused texts are dropped."""
MAX_LOG_BYTES = 4_000_000
"""The size of the log file at which the store is tidied earlier."""
_TIDY_PAUSE = 8
"""The minimum number of writes between two times of tidying."""
_MAX_SENT = 10_000
"""The maximum number of sent requests in memory while the disk fails; the latest are kept."""
_FINAL = (DatabaseDamaged, DatabaseTooNew)
"""The errors after which this run does not try to open the file again."""
NOT_OPEN = "the database of earlier proposals is not open yet"


class StateStore:
    """The store of the state for one set of roots; any thread may use it."""

    def __init__(
        self,
        system: System,
        roots: Callable[[], Iterable[str]],
        say: Callable[[str], None],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Create the store; the database is opened later.

        Args:
            system: The system, for the state folder and the clock.
            roots: A function that returns the URIs of the workspace's folders, called when the
                database is opened; all servers without folders share one database.
            say: A function that shows the user one message; called in any thread.
            wake: A function that requests a `flush` soon, and more of them as long as
                `has_unwritten`; called in any thread.
        """
        self._system = system
        self._roots = roots
        self._lock = threading.RLock()
        self._opened = threading.Condition(self._lock)
        self._is_opening = False
        self._wake = wake
        self._is_open = False
        self._reopens = False
        """Whether opening has failed with a temporary error: then `flush` tries again."""
        self._database: Database | None = None
        self._batch = WriteBatch()
        self._deferred = DeferredWrites()
        self._numbers = NumberAllocator()
        self._missed = MissedLoads()
        self._failures = WriteFailures(system.monotonic, say)
        # A killed server does not tidy up at its end, so the next one does at its start.
        self._n_writes = TIDY_WRITES

    def number(self, kind: str, n: int = 1) -> int:
        """Return a number as `Journal` does; if the disk fails, it is unique in this process."""
        with self._lock:
            if self._batch.numbers:
                self._write()  # otherwise the database would give the numbers in memory again
            # While state is missed, numbers that were given in memory can't be written.
            is_counted_here = self._missed.is_any and kind in self._batch.numbers
            if (database := self._usable_database()) and not is_counted_here:
                try:
                    first = database.number(kind, n)
                except StoreError as fault:
                    self._failures.add(fault)
                else:
                    self._numbers.record_allocated(kind, first + n)
                    return first
            if not self._is_open:
                # Earlier numbers are not known yet; no count has reached the clock.
                return self._numbers.allocate_from(kind, n, int(self._system.now()))
            first = self._numbers.allocate(kind, n, alone=self._database is None)
            self._batch.numbers[kind] = first + n
            return first

    def persist(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        """Store hunks as `Journal` does."""
        with self._lock:
            if self._deferred.add_if_long(hunks, snapshots, decision=decision):
                self._wake()
                return
            self._deferred.supersede(hunks, snapshots, self._batch)
            self._batch.add(hunks, snapshots, decision=decision)
            self._write()

    def note_snapshots(self, snapshots: Sequence[AnchorSnapshot]) -> None:
        """Record the present places of the hunks of some files for the next `flush` or
        `persist`.
        """
        with self._lock:
            others = [
                snapshot for snapshot in snapshots if not self._deferred.add_if_long((), [snapshot])
            ]
            self._deferred.supersede((), others, self._batch)
            self._batch.add((), others, decision=False)

    def load(self) -> RestoredState:
        """Load the state of this server and of dead servers.

        This takes long if the state is large, or if another process has locked the file, and blocks
        no other thread meanwhile: call it in a worker thread.
        """
        return self._load(lambda one: one.load(self._system.now()), RestoredState(), "hunks")

    def adopt(self) -> RestoredState:
        """Take over the state of servers that have ended since the start.

        Call it in a worker thread.

        Returns:
            The state of this server and of those; an empty state if none has left any.
        """
        try:
            with self._lock:
                database = None if self._missed.is_any else self._usable_database()
                if database is None or not database.adopt():
                    return RestoredState()
            # The event loop may write meanwhile: reading has a connection of its own.
            return database.load(self._system.now())
        except StoreError as fault:
            log.warning("the hunks of another editor could not be taken over: %s", fault)
        return RestoredState()

    def persist_turn(self, row: TurnRow) -> None:
        """Store the present state of a turn; it is written when this returns."""
        with self._lock:
            self._batch.turns[row.id] = row
            self._write()

    def persist_chat(self, row: ChatRow) -> None:
        """Store the present state of a chat; call in a worker thread if it has many texts."""
        with self._lock:
            self._batch.chats[row.id] = row
            self._write()

    def load_chats(self) -> ChatRows:
        """Load the turns and chats of this server and of dead servers; for a worker thread, as
        `load`.
        """
        return self._load(lambda one: one.load_chats(self._system.now()), ChatRows(), "chats")

    def persist_presets(
        self, presets: Mapping[str, str | None], attached: str | None = None
    ) -> None:
        """Store presets by name (None drops a preset), and the attachments if they have changed.

        The rows are written when this returns; presets survive a power cut, as decisions do.
        """
        with self._lock:
            self._batch.presets.update(presets)
            self._batch.attached = self._batch.attached if attached is None else attached
            self._batch.decision |= bool(presets)
            self._write()

    def load_presets(self) -> tuple[dict[str, str], str | None]:
        """Load all presets by name, and the last attachments of dead servers as JSON, or None.

        Call it in a worker thread, as `load`.
        """
        nothing: tuple[dict[str, str], str | None] = ({}, None)
        return self._load(lambda database: database.load_presets(), nothing, "presets")

    def persist_request(self, fields: str) -> None:
        """Store the note of a sent request; it is written when this returns."""
        with self._lock:
            self._batch.sent.append(fields)
            del self._batch.sent[:-_MAX_SENT]
            self._write()

    def load_requests(self) -> tuple[str, ...]:
        """Load the requests that all servers of the workspace have sent, oldest first; for a worker
        thread, as `load`.
        """
        return self._load(lambda database: database.load_requests(self._system.now()), ())

    def flush(self) -> None:
        """Write the waiting rows, and tidy up after many writes; slow, for a worker thread."""
        if self._reopens and self._open(OPENING_SECONDS):
            self._failures.postpone()
        self._deferred.pack(self._lock, lambda: self._batch)
        with self._lock:
            self._write()
            database = self._usable_database() if self._is_untidy else None
            self._n_writes = 0 if database else self._n_writes
        if database:
            try:
                database.vacuum_texts()
            except StoreError as fault:
                log.warning("the state could not be tidied: %s", fault)

    @property
    def has_unwritten(self) -> bool:
        """Whether rows wait for a disk that has refused them, and may be written later."""
        with self._lock:
            has_failed = self._reopens or bool(self._failures.reason and self._database)
            waits = (has_failed and not self._batch.is_empty) or not self._deferred.is_empty
            return waits or self._missed.is_any

    @property
    def has_missed(self) -> bool:
        """Whether the state of earlier runs could not be loaded, and may be loaded later."""
        return self._missed.is_any

    @property
    def can_catch_up(self) -> bool:
        """Whether missed state may be loaded now, because the file is open."""
        with self._lock:
            return self._missed.is_any and self._database is not None

    def caught_up(self) -> None:
        """Write again, because the missed state has been merged by its owners."""
        with self._lock:
            if self._missed.caught_up():
                self.probe()

    @property
    def not_persisted(self) -> str:
        """Why the latest data would not survive a kill, as a phrase; empty if it would."""
        if self._failures.reason:
            return self._failures.reason
        return NOT_OPEN if self._missed.is_any or self._batch.has_promised_writes else ""

    def probe(self) -> None:
        """Test with a small write whether decisions can be written; see `not_persisted`."""
        with self._lock:
            self._batch.has_probe = self._batch.decision = True
            self._write()

    def close(self) -> None:
        """Write the remaining data and close the file; later data is kept in memory."""
        if self._reopens or not self._deferred.is_empty:
            _ = self._open(SHORT_SECONDS)
        with self._lock:
            self._deferred.move_to(self._batch)
            database, self._is_open = self._database, True
            if database is not None and self._missed.is_any:
                self._leave_earlier_chats(database)
            self._missed.clear()
            if database is None:
                return
            self._failures.retry()
            self._write()
            self._database = None
            try:
                database.close()
            except StoreError as fault:
                log.warning("the state could not be closed: %s", fault)

    def _leave_earlier_chats(self, database: "Database") -> None:
        """Discard unwritten chats of earlier runs that this run could not load."""
        try:
            earlier = {row.id for row in database.load_chats(self._system.now()).chats}
        except StoreError as fault:
            log.warning("the state of chats was not written: %s", fault)
            earlier = set(self._batch.chats)
        for chat in earlier & self._batch.chats.keys():
            del self._batch.chats[chat]

    @property
    def folder(self) -> Path:
        """The folder of the database of these roots.

        Raises:
            OSError: If the state folder can't be created.
        """
        roots = sorted({canonical(uri) for uri in self._roots()})
        data = "\n".join(roots).encode("utf-8", "surrogatepass")
        name = hashlib.sha256(data).hexdigest()[:20] if roots else "none"
        return self._system.state_folder() / "workspaces" / name

    def _load(
        self, read: "Callable[[Database], Loaded]", nothing: Loaded, part: str = ""
    ) -> Loaded:
        """Return the result of `read`, after a wait for another process's lock.

        Call it in a worker thread. Without the result this run would know nothing of the earlier
        state, so the wait is long. If the disk refuses, `part` is missed; a part that is not missed
        is not loaded again later.
        """
        if part and self._missed.is_known(part):
            return nothing
        since = self._system.monotonic()
        while True:
            if (fault := self._open(OPENING_SECONDS, waits=True)) is None:
                try:
                    found = read(self._database) if self._database else nothing
                except StoreError as error:
                    fault = error
                else:
                    self._note_loaded(part, is_missed=self._reopens)
                    return found
            if not isinstance(fault, DatabaseBusy) or not self._failures.waits(since, fault):
                break
        is_final = isinstance(fault, _FINAL)
        with self._lock:
            if self._is_open:
                self._failures.add(fault, is_unread=not is_final)
                self._note_loaded(part, is_missed=not is_final)
            else:
                self._is_open = True  # this run does not know these rows and leaves them alone
                self._failures.notify(fault)
        return nothing

    def _note_loaded(self, part: str, *, is_missed: bool) -> None:
        """Record whether `part`, if not empty, could not be loaded and may be loaded later."""
        with self._lock:
            if part and is_missed:
                self._missed.add(part)
                self._wake()
            else:
                self._missed.discard(part)

    def _usable_database(self) -> "Database | None":
        """Return the database if it exists and may be tried now; open it the first time."""
        is_to_be_opened = not (self._is_open or self._reopens or self._failures.is_too_early)
        if is_to_be_opened and self._open(SHORT_SECONDS):
            self._failures.postpone()
        return None if self._failures.is_too_early else self._database

    def _open(self, patience: float, *, waits: bool = False) -> Exception | None:
        """Open the database unless it is open; return the error that shows that it is locked.

        Args:
            patience: How many seconds to wait for another server that opens it.
            waits: Whether to wait without limit for a thread of this server that opens it.
        """
        with self._opened:
            # Waiting releases the lock, which the thread that opens the database needs.
            if not self._opened.wait_for(lambda: not self._is_opening, None if waits else patience):
                return DatabaseBusy("it is being opened")
            if self._is_open:
                return None
            self._is_opening = True
        try:
            return self._try_to_open(patience)
        finally:
            with self._opened:
                self._is_opening = False
                self._opened.notify_all()

    def _try_to_open(self, patience: float) -> Exception | None:
        """Try to open the database, for one thread at a time."""
        database = None
        try:
            from stet.storage.database import Database

            database = Database(self.folder, patience)
        except ImportError as fault:  # a Python built without SQLite
            self._failures.notify(fault, passes=False)
        except (OSError, StoreError) as fault:
            if isinstance(fault, DatabaseBusy):
                return fault
            if not isinstance(fault, _FINAL):
                self._reopen_later(fault)
                return None
            self._failures.notify(fault, passes=False)
        with self._lock:
            self._database, self._is_open, self._reopens = database, True, False
            self._failures.retry()
            if database is None:
                self._missed.clear()
            if database and database.set_aside:
                self._failures.notify_damage(database.set_aside)
            self._write()
        return None

    def _reopen_later(self, fault: Exception) -> None:
        """Keep the state in memory until `flush` can open the file."""
        with self._lock:
            self._reopens = True
            self._failures.add(fault, is_unread=True)
        self._wake()

    @property
    def _is_untidy(self) -> bool:
        """Whether the log file is long, or many writes have left unused texts."""
        if self._database is None or self._n_writes < _TIDY_PAUSE:
            return False
        return self._n_writes >= TIDY_WRITES or self._database.log_bytes > MAX_LOG_BYTES

    def _write(self) -> None:
        """Write all waiting rows or nothing."""
        database = self._usable_database()
        if self._is_open and self._database is None:
            self._batch = WriteBatch()
        if database is None or self._batch.is_empty or self._missed.is_any:
            return
        try:
            lost = database.write(self._batch, self._system.now())
        except StoreError as fault:
            self._failures.add(fault)
            self._wake()
            return
        self._batch = WriteBatch()
        self._failures.succeeded()
        self._n_writes += 1
        if self._is_untidy:
            self._wake()
        if lost:
            log.error("another server now owns %s: not written", ", ".join(lost))
