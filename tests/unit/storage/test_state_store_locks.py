"""A database that somebody else has locked is waited for, and nothing in it is written over."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from stet.review.journal import RestoredState
from stet.review.proposal import HunkKind
from stet.storage import database, schema, tables
from stet.storage import state_store as store
from stet.storage import write_failures as failures
from stet.system.file_lock import FileLock
from tests.support.hunks import make_hunk
from tests.support.state_stores import TestedStore, query, store_in

pytestmark = pytest.mark.slow


LEFT = make_hunk(1, HunkKind.REMOVE, old="left\n")
OWN = make_hunk(2, HunkKind.REMOVE, old="own\n")


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """The state folder of a server that was killed; its hunk waits there."""
    dead = TestedStore(tmp_path)
    assert LEFT.id == f"h{dead.number('hunk')}"
    dead.persist([LEFT])
    file = dead.file
    # Its lock is gone with it, and its file is still there.
    dead.close()
    query(file, "UPDATE hunk SET owner = 'dead'")
    return tmp_path


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(tables, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(store, "OPENING_SECONDS", 0.01)
    monkeypatch.setattr(store, "SHORT_SECONDS", 0.01)
    monkeypatch.setattr(failures, "_LOOK_SECONDS", 0.01)


@contextmanager
def another_writes(store: TestedStore) -> Iterator[None]:
    """Another process has begun to write and does not end."""
    with closing(sqlite3.connect(store.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def another_opens(store: TestedStore) -> Iterator[None]:
    """Another server is opening the database."""
    lock = FileLock.acquire(store.folder / "opening.lock")
    assert lock is not None
    yield
    lock.release()


@contextmanager
def another_has_all(store: TestedStore) -> Iterator[None]:
    """Another process lets nobody even read."""
    with closing(sqlite3.connect(store.file, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        yield


Lock = Callable[[TestedStore], AbstractContextManager[None]]
LOCKS = pytest.mark.parametrize("lock", [another_writes, another_opens, another_has_all])


@LOCKS
def test_locked_database_is_awaited_and_reported_once(
    lock: Lock, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "WARN_SECONDS", 0.0)
    reported = threading.Event()
    with store_in(left) as store, ThreadPoolExecutor(1) as worker:

        def report(text: str) -> None:
            store.messages.append(text)
            reported.set()

        monkeypatch.setattr(store._failures, "_say", report)
        with lock(store):
            loaded = worker.submit(store.load)
            assert reported.wait(30)
            assert not loaded.done()
        assert loaded.result(30).hunks == (LEFT,)
        assert store.number("hunk") == 2
        [message] = store.messages
        assert "locked" in message


@LOCKS
def test_wait_for_a_locked_database_blocks_nobody_and_loses_nothing(
    lock: Lock, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "WARN_SECONDS", 0.0)
    with store_in(left) as store, ThreadPoolExecutor(1) as worker:
        with lock(store):
            loaded = worker.submit(store.load)
            number = store.number("hunk")
            assert number > 1_000_000
            assert store.number("hunk") == number + 1
            store.persist([OWN])
            assert not loaded.done()
        assert LEFT in loaded.result(30).hunks
        assert store.number("hunk") == 2
    assert query(store.file, "SELECT id FROM hunk ORDER BY id") == [("h1",), ("h2",)]


@LOCKS
def test_database_that_stays_locked_is_left_unchanged(
    lock: Lock, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "LOCKED_SECONDS", 0.05)
    with store_in(left) as store:
        with lock(store):
            assert store.load() == RestoredState()
        store.persist([OWN, make_hunk(1, HunkKind.REMOVE, old="another\n")])
        store.flush()
        assert len(store.messages) == 1
    with store_in(left) as store:
        assert store.load().hunks == (LEFT,)


def test_who_asks_while_a_worker_opens_it_waits_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "SHORT_SECONDS", 30.0)
    begun, go = threading.Event(), threading.Event()

    class Slow(database.Database):
        def __init__(self, folder: Path, patience: float) -> None:
            begun.set()
            assert go.wait(30)
            super().__init__(folder, patience)

    monkeypatch.setattr(database, "Database", Slow)
    with store_in(tmp_path) as kept, ThreadPoolExecutor(2) as workers:
        loaded = workers.submit(kept.load)
        assert begun.wait(30)
        number = workers.submit(kept.number, "turn")
        go.set()
        assert number.result(60) == 1
        assert loaded.result(30) == RestoredState()


def test_texts_that_nothing_refers_to_are_dropped_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_dropped: list[int] = []

    @contextmanager
    def counted(connection: sqlite3.Connection) -> Iterator[None]:
        before = connection.total_changes
        with schema.transaction(connection):
            yield
        n_dropped.append(connection.total_changes - before)

    with store_in(tmp_path) as store:
        store.persist([LEFT])
        rows = [(n.to_bytes(32, "big"), b"x") for n in range(1200)]
        with closing(sqlite3.connect(store.file)) as other, other:
            other.executemany("INSERT INTO text VALUES (?, ?)", rows)
        monkeypatch.setattr(database, "transaction", counted)
        store.flush()
        assert query(store.file, "SELECT count(*) FROM text") == [(2,)]
    assert (sum(n_dropped), max(n_dropped)) == (1200, 500)
