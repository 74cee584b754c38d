"""A scan reads and asks no more than it must, and cuts files as any other way does."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stet.search import index_builder as building
from tests.support.index_library import IndexLibrary


def test_a_scan_reads_only_what_has_changed(library: IndexLibrary) -> None:
    library.scan()
    assert library.read == []
    library.write("notes/tides.md", "# Tides\n\nThe sun pulls it too.\n")
    library.scan()
    assert library.read == [library.uri("notes/tides.md")]
    assert library.find("sun") == ["notes/tides.md"]


def test_a_file_that_was_written_anew_with_the_same_text_is_not_indexed_anew(
    library: IndexLibrary,
) -> None:
    chunks = library.store.best('"moor"', 10)
    os.utime(library.root / "src/harbour.py", (1, 1))
    library.scan()
    assert library.read == [library.uri("src/harbour.py")]
    assert library.store.best('"moor"', 10) == chunks
    library.scan()
    assert library.read == []


def test_a_restart_reads_nothing_again_and_knows_all(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    before = IndexLibrary(root, tmp_path / "index.db")
    before.write("a.py", "def moor(): pass\n")
    before.write("b.py", "def land(): pass\n")
    before.scan()
    before.close()
    (root / "b.py").unlink()
    after = IndexLibrary(root, tmp_path / "index.db")
    assert after.find("moor") == ["a.py"]
    after.scan()
    assert (after.read, after.find("land")) == ([], [])
    after.close()


CODE = {
    "a.c": "/* Adds. */\nstatic int\nadd (int  a,\n     int  b)\n{\n  return a;\n}\n",
    "a.go": "package m\n\nfunc Moor() {\n}\n\nfunc Land() {\n}\n",
    "a.js": "const shut = {\n  open: (a) => a,\n}\n",
    "a.rs": "struct A;\n\nimpl A {\n  fn go(&self) {\n  }\n}\n",
    "a.py": "class A:\n    def go(self):\n        pass\n",
    "a.md": "# One\n\ntext\n",
}


def chunks_in(library: IndexLibrary) -> list[tuple[object, ...]]:
    """All that the index holds of the files."""
    sql = (
        "SELECT files.name, first, end, chunks.name, scope, is_definition, words.head FROM chunks"
        " JOIN files ON files.id = file JOIN words ON words.rowid = chunks.id"
    )
    return sorted(library.store._db.execute(sql).fetchall())


@pytest.mark.slow
def test_a_file_is_cut_alike_in_a_scan_by_one_process_or_two_when_saved_and_when_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for many in (200, -1):
        monkeypatch.setattr(building, "MANY_TO_READ", many)
        scanned = IndexLibrary(tmp_path / f"scanned{many}")
        for name, text in CODE.items():
            scanned.write(name, text)
        scanned.scan()
        found.append(chunks_in(scanned))
        scanned.close()
    saved, typed = IndexLibrary(tmp_path / "saved"), IndexLibrary(tmp_path / "typed")
    for name, text in CODE.items():
        saved.write(name, text)
        saved.change(name)
        typed.builder.set_open_text(typed.uri(name), name, text)
    found += [chunks_in(saved), chunks_in(typed)]
    assert found == [found[0]] * 4
    assert ("a.c", 0, 7, "add", "", 1, "static int add int a int b") in found[0]  # not by its look
    saved.close()
    typed.close()


def test_a_scan_asks_the_disk_about_unchanged_files_no_more_than_it_must(
    library: IndexLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for name in ("lstat", "stat"):
        ask = getattr(os, name)

        def counted(
            path: str | Path, *, ask: Callable[..., os.stat_result] = ask, **how: Any
        ) -> os.stat_result:
            asked.append(Path(path).name)
            found: os.stat_result = ask(path, **how)
            return found

        monkeypatch.setattr(os, name, counted)
    library.scan()
    files = [name for name in asked if name.endswith((".py", ".md", ".txt"))]
    assert sorted(files) == ["harbour.py", "readme.txt", "tides.md"]
