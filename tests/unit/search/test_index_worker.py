"""What the process of the index does when something breaks while it works."""

import errno
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stet.search import index_builder as builder
from stet.search import index_worker as child
from stet.search.chunk import IndexEntry, SourceFile
from stet.search.embedding import LocalEmbedder
from stet.search.index_state import DISK_REFUSES
from stet.search.index_worker import MAX_FAULTS, IndexWorker, _ended
from stet.search.search_engine import ChunkHit, ChunkQuery, make_entry
from stet.workspace.uris import uri_of

pytestmark = pytest.mark.slow


PAGE = 4096
"""Of the database, in bytes."""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[IndexWorker]:
    """A worker of one file; nothing is indexed yet."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "harbour.py").write_text("def moor(): pass\n")
    worker = IndexWorker(begin(tmp_path))
    yield worker
    worker.close()


def begin(folder: Path) -> dict[str, Any]:
    """Return the first message to a process."""
    root = folder / "ws"
    return {
        "folder": str(folder / "cache"),
        "roots": [(uri_of(root), str(root), "ws")],
        "settings": {"excluded": [], "deny": [], "maxFileBytes": 1_000_000},
        "embeddings": "off",
        "endpoint": "",
        "anew": False,
        "avoid": [],
        "first": [],
    }


def messages_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The messages since the last look."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def question(number: int, **odd: object) -> dict[str, Any]:
    """Asks for `moor`."""
    query = {"text": "moor", "limit": 5, "use_vectors": False, **odd}
    return {"do": "ask", "id": number, "query": query}


def settle(worker: IndexWorker) -> None:
    """Have it do all that there is to do."""
    while worker.step():
        pass


def settle_safely(worker: IndexWorker) -> None:
    """Do as `settle`, and rebuild an index that is found to be broken."""
    is_busy = True
    while is_busy:
        with worker.recovering():
            is_busy = worker.step()


def handle_safely(worker: IndexWorker, message: dict[str, Any]) -> None:
    """Have it handle a message, and rebuild an index that is found to be broken."""
    with worker.recovering():
        worker.handle(message)


def meet(worker: IndexWorker, fault: sqlite3.DatabaseError) -> None:
    """Have it meet a fault of its index."""
    with worker.recovering():
        raise fault


def test_damaged_index_is_rebuilt_a_limited_number_of_times(
    worker: IndexWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = sqlite3.OperationalError("database or disk is full")
    for _ in range(MAX_FAULTS):
        meet(worker, fault)
        settle(worker)
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        meet(worker, fault)
    messages = messages_of(capsys)
    assert sum(each["is"] == "told" for each in messages) == MAX_FAULTS
    assert [each["files"] for each in messages if each["is"] == "state"] == [1] * MAX_FAULTS


@pytest.mark.parametrize(
    ("fault", "is_reported"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EACCES, "Permission denied"), False),
        (KeyError("a"), False),
    ],
)
def test_error_of_a_full_disk_is_not_reported_as_a_bug(
    fault: Exception, is_reported: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    _ended(fault)
    assert capsys.readouterr().err.startswith(DISK_REFUSES) == is_reported


def test_failed_query_is_reported_and_the_next_one_is_answered(
    worker: IndexWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(worker)
    messages_of(capsys)
    worker.handle(question(1, limit="many"))
    worker.handle(question(2))
    failed, answer = messages_of(capsys)
    assert (failed["is"], failed["id"]) == ("unanswered", 1)
    assert failed["error"].endswith("TypeError")  # what it is and where, not what it says
    assert "TypeError" in failed["error"]
    assert (answer["is"], answer["id"]) == ("answer", 2)
    assert [hit["file"] for hit in answer["hits"]] == ["harbour.py"]


def test_damaged_index_raises_and_a_failed_query_does_not(
    worker: IndexWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(search: ChunkQuery) -> list[ChunkHit]:
        raise fault

    monkeypatch.setattr(worker._engine, "search", fail)
    fault: sqlite3.DatabaseError = sqlite3.OperationalError("no such column: moor")
    fault.sqlite_errorcode = sqlite3.SQLITE_ERROR
    worker.handle(question(1))
    fault = sqlite3.DatabaseError("database disk image is malformed")
    fault.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        worker.handle(question(2))
    messages = [each for each in messages_of(capsys) if each["is"] == "unanswered"]
    assert [each["id"] for each in messages] == [1, 2]


def test_answer_during_the_first_build_is_marked_as_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "harbour.py").write_text("def moor(): pass\n")
    worker = IndexWorker(begin(tmp_path))
    worker.handle(question(1))
    settle(worker)
    worker.handle(question(2))
    (tmp_path / "ws" / "harbour.py").write_text("def moor(boat): pass\n")
    worker.handle({"do": "changed", "uris": [uri_of(tmp_path / "ws" / "harbour.py")]})
    worker.handle(question(3))
    worker.handle({"do": "rebuild", "number": 1})
    worker.handle(question(4))
    settle(worker)
    worker.close()
    again = IndexWorker(begin(tmp_path))
    again.handle(question(5))
    again.close()
    answers = [each for each in messages_of(capsys) if each["is"] == "answer"]
    assert [each["files_so_far"] for each in answers] == [0, None, None, 0, None]


def test_memory_is_returned_once_after_many_files_are_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "MANY_TO_READ", 0)
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "harbour.py").write_text("def moor(): pass\n")
    worker = IndexWorker({**begin(tmp_path), "embeddings": "local"})
    given_back = []

    def let_go() -> None:
        given_back.append((worker._engine.has_vectors, worker._store.counts()))

    monkeypatch.setattr(builder, "trim_memory", let_go)
    settle(worker)
    worker.handle(question(1))
    settle(worker)
    assert given_back == [(True, (1, 1, 0))]
    assert isinstance(worker._embedder, LocalEmbedder)
    assert not worker._embedder._known
    worker.handle({"do": "scan"})
    settle(worker)
    assert len(given_back) == 1  # nothing had to be read
    worker.close()


def test_index_of_other_grammars_is_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.js").write_text("function moor() {\n}\n")
    n_read = []
    for grammars in ("c", "c", "c java"):
        monkeypatch.setattr(child, "installed_grammars", lambda grammars=grammars: grammars)
        worker = IndexWorker(begin(tmp_path))
        settle(worker)
        worker.close()
        n_read.append(sum(each["is"] == "reading" for each in messages_of(capsys)))
    assert n_read == [1, 0, 1]


@pytest.mark.parametrize("damage", [b"\0", b"\xff"])
def test_damage_to_any_page_of_the_index_leads_to_a_rebuild(
    tmp_path: Path, damage: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "harbour.py").write_text("def moor(): pass\n")
    (tmp_path / "ws" / "quay.py").write_text("def land():\n    return 'ashore'\n" * 200)
    worker = IndexWorker(begin(tmp_path))
    settle(worker)
    worker.close()
    path = tmp_path / "cache" / "index.db"
    good = path.read_bytes()
    for at in range(0, len(good), PAGE):
        path.write_bytes(good[:at] + damage * PAGE + good[at + PAGE :])
        messages_of(capsys)
        worker = IndexWorker(begin(tmp_path))
        settle_safely(worker)
        handle_safely(worker, question(1))
        settle_safely(worker)
        handle_safely(worker, question(2))
        (tmp_path / "ws" / "harbour.py").write_text(f"def moor(): return {at}\n")
        changed = {"do": "changed", "uris": [uri_of(tmp_path / "ws" / "harbour.py")]}
        handle_safely(worker, changed)
        handle_safely(worker, question(3))
        settle_safely(worker)
        handle_safely(worker, question(4))
        worker.close()
        messages = messages_of(capsys)
        assert sum(each["is"] == "told" for each in messages) <= 1, at // PAGE
        answers = [each for each in messages if each["is"] == "answer"]
        assert {2, 4} <= {each["id"] for each in answers}, at // PAGE
        assert [hit["file"] for hit in answers[-1]["hits"]] == ["harbour.py"], at // PAGE


def test_damage_found_by_a_query_is_distinguished_from_a_bug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "harbour.py").write_text("def moor(): pass\n")
    worker = IndexWorker(begin(tmp_path))
    settle(worker)
    worker.close()
    path = tmp_path / "cache" / "index.db"
    path.write_bytes(path.read_bytes().replace(b"words_content", b"words_contend"))
    worker = IndexWorker(begin(tmp_path))
    settle(worker)
    messages_of(capsys)
    handle_safely(worker, question(1))
    settle(worker)
    handle_safely(worker, question(2))
    worker.close()
    messages = [
        each for each in messages_of(capsys) if each["is"] in ("unanswered", "told", "answer")
    ]
    assert [each["is"] for each in messages] == ["unanswered", "told", "answer"]
    assert [hit["file"] for hit in messages[-1]["hits"]] == ["harbour.py"]


def test_index_can_be_rebuilt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "harbour.py").write_text("def moor(): pass\n")
    n_read = []
    for is_anew in (False, False, True):
        worker = IndexWorker({**begin(tmp_path), "anew": is_anew})
        settle(worker)
        worker.close()
        n_read.append(sum(each["is"] == "reading" for each in messages_of(capsys)))
    assert n_read == [1, 0, 1]


def test_a_document_that_cannot_be_indexed_is_logged_and_left_out(
    worker: IndexWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    settle(worker)
    messages_of(capsys)
    worker.handle({"do": "text", "uri": "untitled:1", "name": None, "text": "moor"})
    worker.handle({"do": "changed", "uris": ["untitled:1"]})
    settle(worker)
    worker.handle(question(1))
    messages = messages_of(capsys)
    assert sum(each["is"] == "logged" for each in messages) == 1
    [answer] = [each for each in messages if each["is"] == "answer"]
    assert [hit["file"] for hit in answer["hits"]] == ["harbour.py"]


def test_a_document_whose_text_can_not_be_indexed_is_tried_again_with_its_next_text(
    worker: IndexWorker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settle(worker)
    file = tmp_path / "ws" / "harbour.py"

    def fails(source: SourceFile) -> IndexEntry:
        if "poison" in source.text:
            raise KeyError("poison")
        return make_entry(source)

    def found(text: str | None) -> list[str]:
        worker.handle({"do": "text", "uri": uri_of(file), "name": file.name, "text": text})
        settle(worker)
        return [hit.file for hit in worker._engine.search(ChunkQuery("moor", limit=5))]

    monkeypatch.setattr("stet.search.search_engine.make_entry", fails)
    assert found("def moor(boat): pass\n") == ["harbour.py"]
    messages_of(capsys)
    found("def moor(poison): pass\n")
    found("def moor(poison, again): pass\n")
    messages = messages_of(capsys)
    [logged] = [one["message"] for one in messages if one["is"] == "logged"]
    assert logged.startswith("A document can't be indexed and was skipped: ")
    assert found("def moor(cure): pass\n") == ["harbour.py"]
    assert worker._engine.search(ChunkQuery("cure", limit=5))
    found("poison")
    assert found(None) == ["harbour.py"]  # closed: the file on the disk counts
