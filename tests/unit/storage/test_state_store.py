"""What was kept is there again, whoever ran before; `kill -9` is in `test_store_kill`."""

import _sqlite3
import ctypes
import dataclasses
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.storage.state_store import MAX_LOG_BYTES, TIDY_WRITES
from stet.storage.tables import MAX_DECIDED
from stet.storage.write_batch import ChatRow, TurnRow
from stet.text.position import Position, Range
from tests.support.hunks import URI, hunks_between, make_hunk
from tests.support.state_stores import TestedStore, query, store_in

OLD = "a\nb\nc\nd\n"
DAY = 86_400.0


def anchor_snapshot(hunks: list[Hunk], text: str = OLD, uri: str = URI) -> AnchorSnapshot:
    """Return a snapshot of the positions of hunks in the text that they were made for."""
    return AnchorSnapshot(
        uri, text, {hunk.id: (hunk.range.start.line, hunk.range.end.line) for hunk in hunks}
    )


def two() -> list[Hunk]:
    """Hunks of the second and the fourth line."""
    return hunks_between(OLD, "a\nB\nc\nD\n")


def numbered(number: int, state: HunkState = HunkState.PENDING) -> Hunk:
    """A hunk about a whole file, which needs no anchor snapshot."""
    return make_hunk(number, HunkKind.REMOVE, old="gone\n", state=state)


def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    first, second = two()
    odd = dataclasses.replace(
        second,
        state=HunkState.REJECTED,
        new="\ud800\0 \u2028 𝄞",
        summary="\udfff\0",
        reason="no",
        protected=True,
        inline=True,
        chat="main",
        changed=7,
    )
    move = make_hunk(3, HunkKind.MOVE, new_uri="file:///ws/b.txt")
    with store_in(tmp_path) as store:
        store.persist([first, odd], anchor_snapshot([first, odd]))
        store.persist([move])
    with store_in(tmp_path) as store:
        assert store.load() == RestoredState((first, odd, move), (anchor_snapshot([first, odd]),))
        assert store.messages == []


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.sampled_from("a/:%é\0\ud800𝄞"), max_size=6), min_size=8, max_size=8))
def test_no_half_of_a_character_in_any_text_keeps_others_from_the_disk(odd: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = two()
        uri = f"file://{odd[0]}/{odd[1]}"
        strange = dataclasses.replace(second, uri=uri, new=odd[2], reason=odd[3])
        row = ChatRow(odd[4], "{}", {odd[5]: odd[6]})
        with store_in(Path(folder)) as store:
            store.persist(
                [first, strange], anchor_snapshot([first]), anchor_snapshot([strange], uri=uri)
            )
            store.persist_chat(row)
            store.persist_presets({odd[7]: "{}"})
        with store_in(Path(folder)) as store:
            kept = store.load()
            assert set(kept.hunks) == {first, strange}
            assert {one.uri for one in kept.anchor_snapshots} == {URI, uri}
            assert store.load_presets()[0] == {odd[7]: "{}"}
            assert store.messages == []


def test_the_latest_state_counts(tmp_path: Path) -> None:
    first, second = two()
    accepted = dataclasses.replace(first, state=HunkState.ACCEPTED, changed=3)
    with store_in(tmp_path) as store:
        store.persist([first, second], anchor_snapshot([first, second]))
        store.persist([accepted], decision=True)
    with store_in(tmp_path) as store:
        assert store.load().hunks == (accepted, second)


@pytest.mark.parametrize("nth", [0, 1])
def test_hunks_that_are_as_they_were_new_ones_and_others_with_other_texts_are_kept_together(
    tmp_path: Path, nth: int
) -> None:
    first, second = two()
    third = make_hunk(3, HunkKind.REMOVE, old="gone\n", state=HunkState.PENDING)
    with store_in(tmp_path) as store:
        store.persist([first, second], anchor_snapshot([first, second]))
        decided = [
            dataclasses.replace(hunk, state=HunkState.REJECTED, changed=9)
            for hunk in (first, second)
        ]
        decided[nth] = dataclasses.replace(decided[nth], new=f"another {'text' * 99}\n", old="")
        store.persist([*decided, third], decision=True)
    with store_in(tmp_path) as store:
        assert store.load().hunks == (*decided, third)


def test_ranges_come_from_the_latest_snapshot(tmp_path: Path) -> None:
    [first, _] = two()
    with store_in(tmp_path) as store:
        store.persist([first], anchor_snapshot([first]))
        store.note_snapshots([AnchorSnapshot(URI, "0\n" + OLD, {first.id: (2, 3)})])
        store.flush()
    with store_in(tmp_path) as store:
        [hunk] = store.load().hunks
        assert hunk == dataclasses.replace(first, range=Range(Position(2, 0), Position(3, 0)))


def test_numbers_never_come_again(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        assert (store.number("hunk"), store.number("hunk", 3), store.number("turn")) == (1, 2, 1)
    with store_in(tmp_path) as store, store_in(tmp_path) as other:
        assert [store.number("hunk"), other.number("hunk"), store.number("hunk")] == [5, 6, 7]


@pytest.mark.slow
def test_every_set_of_roots_has_its_own_and_no_roots_are_one(tmp_path: Path) -> None:
    sets: list[tuple[str, ...]] = [(), ("file:///ws",), ("file:///other",), ("file:///ws", "x:y")]
    for n, roots in enumerate(sets, 1):
        with store_in(tmp_path, roots) as store:
            store.persist([numbered(n)])
    for n, roots in enumerate(sets, 1):
        with store_in(tmp_path, roots) as store:
            assert store.load().hunks == (numbered(n),)
    with store_in(tmp_path, ("x:y", "file:///ws/")) as store:
        assert store.load().hunks == (numbered(4),)


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with store_in(state) as store:
        store.persist([numbered(1)])
        store.file.chmod(0o644)
    with store_in(state) as store:
        store.persist([numbered(2)])
        found = {
            path.relative_to(store.folder).parts[0]: path.stat().st_mode & 0o777
            for path in sorted(store.folder.rglob("*"))
            if path.is_file()
        }
        assert found == dict.fromkeys(
            ["opening.lock", "owners", "state.db", "state.db-shm", "state.db-wal"], 0o600
        )
        for folder in (store.folder.parent, store.folder, store.folder / "owners"):
            assert folder.stat().st_mode & 0o777 == 0o700


def test_a_text_is_kept_once_and_dropped_when_nothing_refers_to_it(tmp_path: Path) -> None:
    hunks = [make_hunk(n, HunkKind.REMOVE, old="long\n" * 1000) for n in range(1, 4)]
    with store_in(tmp_path) as store:
        store.persist(hunks)
        assert query(store.file, "SELECT count(*) FROM text") == [(2,)]  # the other one is empty
        [(size,)] = query(store.file, "SELECT max(length(packed)) FROM text")
        assert isinstance(size, int)
        assert size < 100
        for _ in range(TIDY_WRITES):
            store.persist([dataclasses.replace(hunk, old="", base="") for hunk in hunks])
        store.flush()
        assert query(store.file, "SELECT count(*) FROM text") == [(1,)]


def test_decided_hunks_are_kept_for_a_while(tmp_path: Path) -> None:
    old, fresh = (
        make_hunk(n, HunkKind.REMOVE, old=f"{n}", state=HunkState.REJECTED) for n in (1, 2)
    )
    waits = numbered(3)
    many = [numbered(10 + n, HunkState.ACCEPTED) for n in range(MAX_DECIDED)]
    with store_in(tmp_path) as store:
        store.persist([old, waits])
        store.system.ahead = 29 * DAY
        store.persist([fresh])
    with store_in(tmp_path) as store:
        store.system.ahead = 31 * DAY
        assert store.load().hunks == (waits, fresh)
        store.system.ahead += 1
        store.persist(many)
    with store_in(tmp_path) as store:
        store.system.ahead = 32 * DAY
        assert store.load().hunks == (waits, *many)


def test_places_of_hunks_that_are_dropped_go_with_them(tmp_path: Path) -> None:
    rejected = [dataclasses.replace(hunk, state=HunkState.REJECTED) for hunk in two()]
    with store_in(tmp_path) as store:
        store.persist(rejected, anchor_snapshot(rejected))
        store.system.ahead = 20 * DAY
        store.persist(rejected[:1])
    for days, n_snapshots, n_texts in ((31, 1, 3), (51, 0, 0)):
        with store_in(tmp_path) as store:
            store.system.ahead = days * DAY
            assert len(store.load().anchor_snapshots) == n_snapshots
            store.flush()
            assert query(store.file, "SELECT count(*) FROM footing") == [(n_snapshots,)]
            assert query(store.file, "SELECT count(*) FROM text") == [(n_texts,)]


def test_a_log_that_a_killed_server_left_is_emptied(tmp_path: Path) -> None:
    killed = TestedStore(tmp_path)
    for nth in range(50):
        killed.persist(two(), anchor_snapshot(two(), OLD + "x" * nth))
    log = killed.file.with_name("state.db-wal")
    size = log.stat().st_size
    with store_in(tmp_path) as store:
        store.flush()
        for nth in range(50):
            store.persist([numbered(nth + 10)])
        assert log.stat().st_size < 1.1 * size
    killed.close()


def test_the_log_stays_short_however_much_is_written_at_once(tmp_path: Path) -> None:
    asked: list[None] = []
    store = TestedStore(tmp_path, wake=lambda: asked.append(None))
    text = "".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(60_000))
    sizes = []
    for nth in range(100):
        # As a long turn does, which proposes nothing: nobody comes by to tidy up.
        store.persist_turn(TurnRow(f"t{nth}", "main", f'"{nth} {text}"'))
        if asked:
            asked.clear()
            store.flush()
        sizes.append(store.file.with_name("state.db-wal").stat().st_size)
    store.close()
    assert max(sizes) < 2 * MAX_LOG_BYTES


@pytest.mark.slow
def test_the_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    hunks = two()
    with store_in(tmp_path) as store:
        sizes = []
        for nth in range(3 * TIDY_WRITES):
            store.persist(hunks, anchor_snapshot(hunks, OLD + "x" * nth))
            store.flush()
            sizes.append(store.file.with_name("state.db-wal").stat().st_size)
        assert max(sizes[TIDY_WRITES:]) <= 1.2 * max(sizes[:TIDY_WRITES])
    assert not store.file.with_name("state.db-wal").exists()


def test_much_that_is_written_is_not_held_in_memory(tmp_path: Path) -> None:
    in_use = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_used
    in_use.restype = ctypes.c_int64
    dice = random.Random(1)
    with store_in(tmp_path) as store:
        before = in_use()
        for number in range(1, 100):
            text = dice.randbytes(40_000).hex()
            store.persist([dataclasses.replace(numbered(number), new=text)])
        assert in_use() - before < 600_000


def test_what_comes_after_the_end_is_no_error(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        assert store.number("turn") == 1
    store.persist([numbered(1)])
    store.flush()
    assert store.number("turn") == 2
    assert store.load() == RestoredState()
    assert store.messages == []


# Two servers on one workspace


def test_hunks_of_a_server_that_lives_are_left_to_it(tmp_path: Path) -> None:
    with store_in(tmp_path) as alive:
        alive.persist([numbered(1)])
        with store_in(tmp_path) as other:
            other.persist([numbered(2)])
            assert other.load().hunks == (numbered(2),)
        assert alive.load().hunks == (numbered(1),)
    with store_in(tmp_path) as last:
        assert last.load().hunks == (numbered(1), numbered(2))


def test_server_that_was_taken_for_dead_overwrites_nothing(tmp_path: Path) -> None:
    with store_in(tmp_path) as stunned:
        stunned.persist([numbered(1)])
        [lock] = (stunned.folder / "owners").iterdir()
        lock.unlink()
        with store_in(tmp_path) as heir:
            rejected = numbered(1, HunkState.REJECTED)
            heir.persist([rejected])
            stunned.persist([numbered(1, HunkState.ACCEPTED), numbered(2)], decision=True)
            assert heir.load().hunks == (rejected,)
            assert stunned.load().hunks == (numbered(2),)


def test_two_dead_servers_may_have_had_hunks_in_one_file(tmp_path: Path) -> None:
    first, second = two()
    with store_in(tmp_path) as one, store_in(tmp_path) as other:
        one.persist([first], anchor_snapshot([first]))
        other.persist([second], AnchorSnapshot(URI, "new\n" + OLD + "end\n", {second.id: (4, 5)}))
    with store_in(tmp_path) as heir:
        kept = heir.load()
        assert kept.anchor_snapshots == (
            AnchorSnapshot(URI, "new\n" + OLD + "end\n", {second.id: (4, 5)}),
            anchor_snapshot([first]),
        )
        assert [hunk.range.start.line for hunk in kept.hunks] == [1, 4]
        heir.persist([], kept.anchor_snapshots[0])
        assert query(heir.file, "SELECT count(*) FROM footing") == [(1,)]


def test_position_of_a_hunk_comes_from_the_latest_snapshot(tmp_path: Path) -> None:
    first, second = two()
    with store_in(tmp_path) as one, store_in(tmp_path) as other:
        one.persist([first, second], anchor_snapshot([first, second]))
        other.persist([], AnchorSnapshot(URI, "new\n" + OLD, {second.id: (4, 5)}))
    with store_in(tmp_path) as heir:
        assert heir.load().anchor_snapshots == (
            AnchorSnapshot(URI, "new\n" + OLD, {second.id: (4, 5)}),
            anchor_snapshot([first]),
        )


def test_files_of_runs_that_had_nothing_are_removed(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.number("turn")
        owners = store.folder / "owners"
        (owners / "0123.lock").touch()
        with store_in(tmp_path) as other:
            other.number("turn")
            assert len(list(owners.iterdir())) == 2
    assert list(owners.iterdir()) == []


CHILD = """
import sys
from pathlib import Path
from stet.review.proposal import HunkKind
from tests.support.hunks import make_hunk
from tests.support.state_stores import store_in
with store_in(Path(sys.argv[1])) as store:
    for _ in range(300):
        number = store.number("hunk")
        store.persist([make_hunk(number, HunkKind.REMOVE, old=sys.argv[2])], decision=number % 30 == 0)
        store.flush()
    print(store.messages)
"""


@pytest.mark.slow
def test_two_processes_write_at_once(tmp_path: Path) -> None:
    repository = Path(__file__).parents[3]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), name],
            stdout=subprocess.PIPE,
            text=True,
            cwd=repository,
        )
        for name in "abc"
    ]
    outputs = [child.communicate(timeout=60)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    assert outputs == ["[]\n"] * 3
    with store_in(tmp_path) as store:
        kept = store.load().hunks
        assert len({hunk.id for hunk in kept}) == len(kept) == 900
        assert {name: sum(hunk.old == name for hunk in kept) for name in "abc"} == {
            "a": 300,
            "b": 300,
            "c": 300,
        }


@pytest.mark.parametrize("module", ["storage.state_store", "review.journal"])
def test_the_database_is_imported_when_it_is_opened(module: str) -> None:
    code = f"import sys, stet.{module}; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-I", "-c", code], check=False).returncode == 0


def test_opening_is_left_to_the_first_who_needs_it(tmp_path: Path) -> None:
    store = TestedStore(tmp_path)
    assert not store.folder.exists()
    store.close()
    assert not store.folder.exists()
