"""The index on the disk."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from stet.search.chunk import Chunk, ChunkRow, FileStamp, IndexEntry, make_fields
from stet.search.index_store import IndexStore
from stet.search.search_engine import digest
from stet.text.lines import split_lines

STAMP = FileStamp(12.5, 9, b"hash")


def entry(
    name: str, text: str, chunks: Sequence[Chunk] = (), stamp: FileStamp = STAMP
) -> IndexEntry:
    lines = split_lines(text)
    cut = chunks or [Chunk(0, len(lines))]
    fields = [make_fields(name, chunk, lines) for chunk in cut]
    return IndexEntry(
        f"file:///{name}", name, stamp, cut, fields, [digest(each.embedded) for each in fields]
    )


def put_all(store: IndexStore, entries: Sequence[IndexEntry]) -> None:
    with store.writing():
        for each in entries:
            store.save(each)


def found(store: IndexStore, *terms: str, folder: str = "") -> list[str]:
    best = store.best(" OR ".join(terms), 10, folder)
    rows = store.rows([chunk for chunk, _ in best])
    return [rows[chunk].file for chunk, _ in best]


def test_what_was_put_in_is_there_after_a_restart(tmp_path: Path) -> None:
    chunk = Chunk(0, 2, "run", "Job", "def run(self)", is_definition=True)
    with IndexStore(tmp_path / "index") as store, store.writing():
        _, (came,) = store.save(entry("jobs/job.py", "def run(self):\n    sleep()\n", [chunk]))
        store.set_meta("model", "static")
    with IndexStore(tmp_path / "index") as store:
        assert store.stamps() == {"file:///jobs/job.py": STAMP}
        assert store.counts() == (1, 1, 1)
        assert (store.meta("model"), store.meta("other")) == ("static", None)
        assert store.rows([came, came + 1]) == {
            came: ChunkRow(
                came, "file:///jobs/job.py", "jobs/job.py", 0, 2, "run", "Job", 1,
                "job job", "run", "job def run self", "def run self sleep",
            )
        }  # fmt: skip


def test_a_file_put_in_again_takes_the_place_of_what_was_there() -> None:
    with IndexStore(":memory:") as store:
        store.save(entry("a.txt", "apple"))
        gone, came = store.save(entry("a.txt", "pear"))
        assert (len(gone), len(came)) == (1, 1)
        assert store.counts()[:2] == (1, 1)
        assert found(store, "appl") == []
        assert found(store, "pear") == ["a.txt"]
        assert (store.frequency("appl"), store.frequency("pear")) == (0, 1)


def test_what_is_written_halfway_is_not_there() -> None:
    with IndexStore(":memory:") as store:
        broken = entry("b.txt", "banana")._replace(digests=[])
        with pytest.raises(ValueError, match="shorter"):
            put_all(store, [entry("a.txt", "apple"), broken])
        assert store.counts() == (0, 0, 0)


def test_a_file_is_dropped_with_its_words() -> None:
    with IndexStore(":memory:") as store:
        store.save(entry("a.txt", "apple"))
        assert len(store.drop("file:///a.txt")) == 1
        assert store.drop("file:///a.txt") == []
        assert (store.counts()[:2], found(store, "appl")) == ((0, 0), [])


def test_match_in_a_name_ranks_higher_than_in_a_body() -> None:
    with IndexStore(":memory:") as store:
        store.save(
            entry("a.py", "apple apple banana\n", [Chunk(0, 1, "banana", is_definition=True)])
        )
        store.save(
            entry("b.py", "banana banana apple\n", [Chunk(0, 1, "apple", is_definition=True)])
        )
        assert found(store, "appl")[0] == "b.py"
        assert found(store, "banana")[0] == "a.py"


@pytest.mark.parametrize("folder", ["src", "src/"])
def test_a_folder_holds_what_lies_below_it_and_nothing_called_alike(folder: str) -> None:
    with IndexStore(":memory:") as store:
        for name in ("src/a.txt", "src2/a.txt", "SRC/a.txt", "other/src/a.txt"):
            store.save(entry(name, "apple"))
        assert found(store, "appl", folder=folder) == ["src/a.txt"]
        assert len(store.chunks_below(folder)) == 1


def test_equal_texts_are_embedded_once_and_a_new_one_with_the_same_text_not_again() -> None:
    with IndexStore(":memory:") as store:
        _, (first,) = store.save(entry("a.txt", "apple"))
        ((meant, text),) = store.pending_texts(10)
        assert text == "a apple"
        assert store.save_vectors([(meant, b"\1\2")]) == [(first, b"\1\2")]
        assert store.pending_texts(10) == []
        _, (second,) = store.save(entry("a.txt", "apple\n"))
        assert store.pending_texts(10) == []
        assert list(store.vectors()) == list(store.vectors([second])) == [(second, b"\1\2")]


def test_tidying_keeps_the_vectors_that_are_needed() -> None:
    with IndexStore(":memory:") as store:
        store.save(entry("a.txt", "apple"))
        store.save(entry("b.txt", "banana"))
        store.save_vectors((meant, b"\1") for meant, _ in store.pending_texts(10))
        store.drop("file:///a.txt")
        store.tidy()
        store.save(entry("a.txt", "apple"))
        assert [text for _, text in store.pending_texts(10)] == ["a apple"]
        assert len(list(store.vectors())) == 1


def test_an_index_of_another_version_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "index") as db:
        db.execute("PRAGMA user_version = 999")
    with pytest.raises(sqlite3.DatabaseError, match="of version 999"):
        IndexStore(tmp_path / "index")


def test_a_file_that_is_no_index_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index").write_bytes(b"no database" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        IndexStore(tmp_path / "index")
