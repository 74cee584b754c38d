"""What could not be loaded at the start is loaded later, before anything is written over it."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stet.review.journal import RestoredState
from stet.review.proposal import HunkKind
from stet.storage.database import Database
from stet.storage.write_batch import ChatRow, TurnRow
from stet.storage.write_failures import FULL_SECONDS, DatabaseDamaged, StoreError
from tests.support.hunks import make_hunk
from tests.support.state_stores import TestedStore, query, store_in

OLD, NEW = make_hunk(1, HunkKind.REMOVE, old="old"), make_hunk(7, HunkKind.REMOVE, old="new")
TURNS = (TurnRow("t1", "main", "{}"), TurnRow("t7", "other", "{}"))
THEN, NOW = ChatRow("main", '"then"'), ChatRow("main", '"now"')


@contextmanager
def full() -> Iterator[None]:
    """No file can grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The state that an earlier run has left."""
    with store_in(tmp_path) as store:
        store.persist([OLD])
        store.persist_turn(TURNS[0])
        store.persist_chat(THEN)
        store.persist_presets({"mine": "{}", "changed": "{}"}, "{}")
    return tmp_path


def begin(store: TestedStore) -> None:
    """Load on a full disk, and go on with a chat of earlier and a new one."""
    with full():
        assert store.load() == RestoredState()
        assert store.load_chats().chats == ()
        assert store.load_presets()[0] == {}
        assert store.has_missed
        assert not store.can_catch_up
        store.persist([NEW], decision=True)
        for row in TURNS[1:]:
            store.persist_turn(row)
        for chat in (NOW, ChatRow("other", '"new"')):
            store.persist_chat(chat)
        store.persist_presets({"changed": '{"new": 1}'})
        assert store.has_unwritten
        assert store.not_persisted


def test_nothing_is_written_before_what_was_missed_has_been_merged(folder: Path) -> None:
    with store_in(folder) as store:
        begin(store)
        store.system.ahead = FULL_SECONDS
        store.flush()
        store.persist([NEW])
        assert (store.can_catch_up, store.has_unwritten) == (True, True)
        assert query(store.file, "SELECT fields FROM chat") == [(THEN.fields,)]
        assert store.load().hunks == (OLD,)
        assert store.load_chats().chats == (THEN,)
        store.caught_up()  # too early: the presets have not been loaded
        assert store.not_persisted
        assert store.load_presets()[0] == {"mine": "{}", "changed": "{}"}
        assert store.load() == RestoredState()
        store.persist_chat(ChatRow("main", '"then and now"'))
        store.caught_up()
        assert (store.has_missed, store.has_unwritten, store.not_persisted) == (False, False, "")
        assert len(store.messages) == 1
    with store_in(folder) as store:
        assert store.load().hunks == (OLD, NEW)
        assert [one.fields for one in store.load_chats().chats] == ['"then and now"', '"new"']
        assert store.load_presets()[0] == {"mine": "{}", "changed": '{"new": 1}'}


def test_a_run_that_never_loaded_what_was_there_leaves_what_its_chats_know(folder: Path) -> None:
    with store_in(folder) as store:
        begin(store)
    with store_in(folder) as store:
        assert store.load().hunks == (OLD, NEW)
        kept = store.load_chats()
        assert kept.turns == TURNS
        assert {one.id: one.fields for one in kept.chats} == {"main": '"then"', "other": '"new"'}


def test_a_start_on_a_full_disk_that_nothing_is_asked_of_is_over_once_it_is_read(
    folder: Path,
) -> None:
    with store_in(folder) as store:
        with full():
            assert store.load() == RestoredState()
        store.flush()
        assert store.load().hunks == (OLD,)
        store.caught_up()
        assert (store.has_unwritten, store.not_persisted) == (False, "")


@pytest.mark.parametrize("fault", [StoreError("disk I/O error"), DatabaseDamaged("malformed")])
def test_a_file_that_opens_and_can_not_be_read_is_read_later_unless_it_is_damaged(
    fault: StoreError, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_database: Database, _now: float) -> RestoredState:
        raise fault

    with store_in(folder) as store:
        with monkeypatch.context() as patch:
            patch.setattr(Database, "load", fails)
            assert store.load() == RestoredState()
        assert store.has_missed is not isinstance(fault, DatabaseDamaged)
        assert len(store.messages) == 1
        if store.has_missed:
            numbers = [store.number("hunk") for _ in range(3)]
            assert len({*numbers}) == 3
            assert store.load().hunks == (OLD,)
            store.caught_up()
        store.system.ahead = FULL_SECONDS
        store.persist([NEW])
        assert store.not_persisted == ""


def test_what_is_old_stays_where_the_disk_refuses_and_the_rest_is_read(folder: Path) -> None:
    with store_in(folder) as store:
        assert store.number("hunk")  # it is open
        query(store.file, "UPDATE hunk SET live = 0, kept = 0")
        with full():
            assert store.load().hunks == (OLD,)
        assert not store.has_missed
        assert store.load() == RestoredState()
