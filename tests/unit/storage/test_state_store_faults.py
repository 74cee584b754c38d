"""What becomes of hunks when the disk fails, is full, is read-only, or holds something else."""

import dataclasses
import resource
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.storage.schema import MIGRATIONS, open_database
from stet.storage.write_batch import SKIPPED
from stet.storage.write_failures import RETRY_SECONDS, DatabaseTooNew, StoreError
from tests.support.hunks import URI, hunks_between, make_hunk
from tests.support.state_stores import TestedStore, query, store_in

pytestmark = pytest.mark.slow


def numbered(number: int, size: int = 1) -> Hunk:
    """A hunk about a whole file, which needs no anchor snapshot; its text can't be packed."""
    text = "".join(chr(0x4E00 + (n * n * 7919 + number) % 20_000) for n in range(size))
    return make_hunk(number, HunkKind.REMOVE, old=text)


@contextmanager
def files_no_larger_than(n_bytes: int) -> Iterator[None]:
    """As on a disk that is full: writes after `n_bytes` of any file fail."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_disk_is_reported_once_and_rows_are_written_when_there_is_room(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist([numbered(store.number("hunk"))])
        with files_no_larger_than(store.file.with_name("state.db-wal").stat().st_size):
            for n in (2, 3):
                store.persist([numbered(n, 1000)], decision=True)
            late = store.number("hunk", 2)
            assert late == 2 + SKIPPED
            assert store.number("hunk") == late + 2
        assert len(store.messages) == 1
        assert "disk" in store.messages[0]
        store.persist([numbered(4)])  # too early to try again
        assert query(store.file, "SELECT count(*) FROM hunk") == [(1,)]
        store.system.ahead = RETRY_SECONDS
        store.persist([numbered(late)])
        assert store.number("hunk") == late + 3
        assert len(store.messages) == 1
    with store_in(tmp_path) as store:
        expected = (numbered(1), numbered(2, 1000), numbered(3, 1000), numbered(4), numbered(late))
        assert store.load() == RestoredState(expected)


def test_a_probe_notices_each_time_that_the_disk_is_full(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist([numbered(1)])
        store.probe()
        store.probe()
        assert store.not_persisted == ""
        with files_no_larger_than(store.file.with_name("state.db-wal").stat().st_size):
            store.probe()
            assert store.not_persisted in store.messages[0]
        store.system.ahead = RETRY_SECONDS
        store.probe()
        assert store.not_persisted == ""
        assert len(store.messages) == 1


def test_no_bytecode_is_written_once_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter takes a cut write of bytecode for a whole one; the module then never
    loads.
    """
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with store_in(tmp_path) as store:
        store.persist([numbered(1)])
        assert not sys.dont_write_bytecode
        with files_no_larger_than(store.file.with_name("state.db-wal").stat().st_size):
            store.persist([numbered(2, 1000)])
        assert sys.dont_write_bytecode


def test_what_waits_for_room_is_written_at_the_end(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist([numbered(1)])
        with files_no_larger_than(store.file.with_name("state.db-wal").stat().st_size):
            store.persist([numbered(2, 1000)])
    with store_in(tmp_path) as store:
        assert store.load().hunks == (numbered(1), numbered(2, 1000))


def test_another_server_that_writes_for_long_is_waited_for(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist([numbered(1)])
        with closing(sqlite3.connect(store.file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            store.persist([numbered(2)])
            store.persist([numbered(3)])
        assert store.messages == []
        store.system.ahead = RETRY_SECONDS
        store.flush()
        assert query(store.file, "SELECT count(*) FROM hunk") == [(3,)]


def test_disk_that_is_full_from_the_start_is_reported_once(tmp_path: Path) -> None:
    with files_no_larger_than(100), store_in(tmp_path) as store:
        works_in_memory(store)


def a_file_for_a_folder(store: TestedStore) -> None:
    """Nobody can make a folder there, not even root."""
    store.system.state_folder().joinpath("workspaces").touch()


def a_file_for_the_state_folder(store: TestedStore) -> None:
    """The platform's state folder itself can't be made."""
    folder = store.system.state_folder()
    folder.rmdir()
    folder.touch()


def a_folder_for_a_file(store: TestedStore) -> None:
    """It can't be opened."""
    store.file.mkdir(parents=True)


def a_locked_door(store: TestedStore) -> None:
    """The lock can't be taken."""
    (store.folder / "opening.lock").mkdir(parents=True)


def a_newer_stet(store: TestedStore) -> None:
    """Another version has been here."""
    store.folder.mkdir(parents=True)
    query(store.file, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


@pytest.mark.parametrize(
    "hindrance",
    [
        a_file_for_a_folder,
        a_file_for_the_state_folder,
        a_folder_for_a_file,
        a_locked_door,
        a_newer_stet,
    ],
)
def test_without_a_database_everything_goes_on_in_memory(
    hindrance: Callable[[TestedStore], None], tmp_path: Path
) -> None:
    with store_in(tmp_path / "state") as store:
        hindrance(store)
        works_in_memory(store)


def works_in_memory(store: TestedStore) -> None:
    """Assert that nothing is lost but by the end of the server, and that it is said once."""
    assert store.load() == RestoredState()
    first, second, third = (store.number("hunk", n) for n in (1, 2, 1))
    assert (second, third) == (first + 1, first + 3)
    for n in range(3):
        store.persist([numbered(n)], decision=True)
    store.flush()
    [message] = store.messages
    assert "Stet can't save its proposals and decisions to disk" in message
    assert store.not_persisted in message


def test_newer_schema_is_left_unchanged_and_reported_with_a_remedy(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        a_newer_stet(store)
        before = store.file.read_bytes()
        store.persist([numbered(1)])
        assert "update Stet" in store.messages[0]
    assert store.file.read_bytes() == before


@pytest.mark.parametrize("damage", [b"", b"no database at all\n" * 500, b"SQLite format 3\0"])
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(damage: bytes, tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        for n in range(100):
            store.persist([numbered(n, 500)])
    whole = store.file.read_bytes()
    # With nothing else to go by: pages in the middle are gone.
    broken = damage or whole[:8192] + b"\xff" * 20_000 + whole[28_192:]
    for number in (1, 2):
        store.file.write_bytes(broken)
        with store_in(tmp_path) as store:
            assert store.load() == RestoredState()
            store.persist([numbered(1)])
            aside = store.folder / f"state.damaged-{number}.db"
            assert aside.read_bytes() == broken
            [message] = store.messages
            assert str(aside) in message
        with store_in(tmp_path) as store:
            assert store.load().hunks == (numbered(1),)
            assert store.messages == []


@pytest.mark.parametrize("how", ["empty", "empty beside its log", "gone but for its log"])
def test_empty_database_file_is_reported(how: str, tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist([numbered(1, 500)])
        log = store.file.with_name("state.db-wal")
        written = log.read_bytes()
    assert store.messages == []  # a new one is nothing to speak of
    if how.startswith("empty"):
        store.file.write_bytes(b"")
    else:
        store.file.unlink()
    if how != "empty":
        log.write_bytes(written)
    with store_in(tmp_path) as store:
        assert store.load() == RestoredState()
        [message] = store.messages
        assert "lost" in message
        assert str(store.folder / "state.damaged-1.db") in message
        store.persist([numbered(2)])
    kept = store.folder / "state.damaged-1.db-wal"
    assert how == "empty" or kept.read_bytes() == written
    with store_in(tmp_path) as store:
        assert store.load().hunks == (numbered(2),)
        assert store.messages == []


def test_a_server_that_dies_while_it_makes_the_file_leaves_no_empty_one(tmp_path: Path) -> None:
    with files_no_larger_than(1000), store_in(tmp_path) as store:
        assert store.load() == RestoredState()
    assert not store.file.exists()
    with store_in(tmp_path) as store:
        store.persist([numbered(1)])
        assert store.messages == []


def test_a_file_that_would_run_something_of_its_own_is_set_aside(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.persist([numbered(1)])
    query(store.file, "CREATE TRIGGER evil AFTER INSERT ON hunk BEGIN DELETE FROM text; END")
    with store_in(tmp_path) as store:
        store.persist([numbered(2)])
        assert store.load().hunks == (numbered(2),)
        assert len(store.messages) == 1


# Rows that make no sense

BROKEN = [
    "UPDATE hunk SET id = ''",
    "UPDATE hunk SET id = x'ff'",
    "UPDATE hunk SET id = CAST(x'68ff31' AS TEXT)",
    "UPDATE hunk SET fields = 5",
    "UPDATE hunk SET fields = '[]'",
    "UPDATE hunk SET fields = '{'",
    "UPDATE hunk SET fields = CAST(x'7b22ff7d' AS TEXT)",
    "UPDATE hunk SET fields = replace(hex(zeroblob(50000)), '0', '[')",
    """UPDATE hunk SET fields = replace(fields, '"pending"', '"eaten"')""",
    """UPDATE hunk SET fields = replace(fields, '"replace"', '"explode"')""",
    """UPDATE hunk SET fields = replace(fields, '"replace"', '"move"')""",
    """UPDATE hunk SET fields = replace(fields, '"file:', '"git:')""",
    """UPDATE hunk SET fields = replace(fields, '"t1"', '["t1"]')""",
    """UPDATE hunk SET fields = replace(fields, '"turn"', '"tern"')""",
    """UPDATE hunk SET fields = replace(fields, '"range": [', '"range": [-1, ')""",
    """UPDATE hunk SET fields = replace(fields, '"range": [', '"range": [[')""",
    """UPDATE hunk SET fields = replace(fields, '"range": [1,', '"range": [1.5,')""",
    """UPDATE hunk SET fields = replace(fields, '"range": [1,', '"range": [9,')""",
    """UPDATE hunk SET fields = replace(fields, '"range"', '"rage"')""",
    """UPDATE hunk SET fields = replace(fields, '"changed": 0', '"changed": true')""",
    """UPDATE hunk SET fields = replace(fields, '"changed": 0', '"changed": 1e999')""",
    "UPDATE hunk SET old = 'text'",
    "UPDATE hunk SET old = zeroblob(32)",
    "DELETE FROM text",
    "UPDATE text SET packed = x'00'",
    "UPDATE text SET packed = 'text'",
    "UPDATE text SET packed = substr(packed, 1, length(packed) - 6)",
    "UPDATE text SET packed = (SELECT packed FROM text WHERE hash <> (SELECT old FROM hunk))",
]


@pytest.mark.parametrize("change", BROKEN)
def test_a_broken_row_is_left_out_and_the_others_load(change: str, tmp_path: Path) -> None:
    [broken] = hunks_between("a\nb\nc\n", "a\nB\nc\n")
    with store_in(tmp_path) as store:
        store.persist([broken], AnchorSnapshot(URI, "a\nb\nc\n", {broken.id: (1, 2)}))
    query(store.file, change)
    with store_in(tmp_path) as store:
        store.persist([numbered(2)])
        assert store.load() == RestoredState((numbered(2),))
        assert store.messages == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM footing",
        "UPDATE footing SET fields = 'null'",
        "UPDATE footing SET fields = replace(fields, '[1, 2]', '[1]')",
        "UPDATE footing SET fields = replace(fields, '[1, 2]', '[1, \"2\"]')",
        "UPDATE footing SET fields = replace(fields, 'h1', 'h2')",
        "UPDATE footing SET fields = replace(fields, 'a.txt', 'b.txt')",
        "UPDATE footing SET text = zeroblob(32)",
    ],
)
def test_hunk_without_a_position_is_withdrawn(change: str, tmp_path: Path) -> None:
    [lost] = hunks_between("a\nb\nc\n", "a\nB\nc\n")
    rejected = dataclasses.replace(lost, id="h7", state=HunkState.REJECTED)
    with store_in(tmp_path) as store:
        store.persist([lost, rejected], AnchorSnapshot(URI, "a\nb\nc\n", {lost.id: (1, 2)}))
    query(store.file, change)
    with store_in(tmp_path) as store:
        kept = store.load()
    withdrawn = dataclasses.replace(
        lost, state=HunkState.WITHDRAWN, reason="its location is unknown"
    )
    assert kept == RestoredState((withdrawn, rejected))


def test_positions_after_the_end_of_a_text_are_clamped(tmp_path: Path) -> None:
    [hunk] = hunks_between("a\nb\nc\n", "a\nB\nc\n")
    with store_in(tmp_path) as store:
        store.persist([hunk], AnchorSnapshot(URI, "a\n", {hunk.id: (5, 2**52)}))
    with store_in(tmp_path) as store:
        [kept] = store.load().hunks
        assert (kept.range.start.line, kept.range.end.line) == (1, 1)


@pytest.mark.parametrize("owner", ["'../../evil'", "''", "x'ff'", "'é'", "hex(zeroblob(200))"])
def test_rows_of_an_owner_that_can_be_none_are_left_alone(owner: str, tmp_path: Path) -> None:
    with store_in(tmp_path / "state") as store:
        store.persist([numbered(1)])
    query(store.file, f"UPDATE hunk SET owner = {owner}")
    before = sorted(tmp_path.rglob("*"))
    with store_in(tmp_path / "state") as store:
        assert store.load() == RestoredState()
        assert store.messages == []
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("value", ["'x'", "-5", "1e300", "9223372036854775807"])
def test_a_counter_that_is_none_is_counted_on_in_memory(value: str, tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.number("hunk")
        query(store.file, f"UPDATE counter SET next = {value}")
        numbers = [store.number("hunk") for _ in range(3)]
        assert numbers == [2 + SKIPPED, 3 + SKIPPED, 4 + SKIPPED]


# Migrations

STEPS = (
    "CREATE TABLE note (id TEXT PRIMARY KEY, body TEXT)",
    "ALTER TABLE note ADD COLUMN author TEXT DEFAULT 'nobody'; UPDATE note SET body = upper(body)",
    "CREATE INDEX note_by_author ON note (author)",
)


def test_an_old_layout_is_brought_up_to_date_with_all_that_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    query(file, STEPS[0])
    query(file, "INSERT INTO note VALUES ('n1', 'remember')")
    query(file, "PRAGMA user_version = 1")
    for _ in range(2):
        with closing(open_database(file, STEPS)) as connection:
            assert connection.execute("SELECT * FROM note").fetchall() == [
                ("n1", "REMEMBER", "nobody")
            ]
            assert connection.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_step_that_fails_leaves_the_file_at_the_step_before(tmp_path: Path) -> None:
    file = tmp_path / "old.db"
    broken = (*STEPS[:2], "DELETE FROM note; CREATE TABLE note (again TEXT)")
    with pytest.raises(StoreError, match="already exists"):
        open_database(file, broken)
    assert query(file, "PRAGMA user_version") == [(2,)]
    with closing(open_database(file, STEPS)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    with pytest.raises(DatabaseTooNew):
        open_database(file, STEPS[:1])


def test_the_released_layout_stays_as_it_was(tmp_path: Path) -> None:
    """Version 1 as its first users have it: it can only be added to."""
    with closing(open_database(tmp_path / "new.db", MIGRATIONS[:1])) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        columns = {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            for (table,) in tables.fetchall()
        }
    assert columns == {
        "counter": ["kind", "next"],
        "text": ["hash", "packed"],
        "hunk": [
            *("nth", "id", "owner", "live", "kept", "fields"),
            *("old", "new", "base", "proposed"),
        ],
        "footing": ["nth", "owner", "file", "fields", "text"],
    }
    assert sqlite3.sqlite_version_info >= (3, 24)  # upsert
