"""The index follows the files: what is made, changed, removed, kept from models, or open with other text."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from stet.index.search import builder as building
from stet.index.search.builder import Builder
from stet.index.search.engine import Search, SearchEngine
from stet.index.search.ground import Ground, settings_of
from stet.index.search.store import Store
from stet.system.no_links import open_to_list
from stet.system.os_system import OsSystem
from stet.workspace.roots import Root
from stet.workspace.uris import uri_of


class Library:
    """A folder and its index."""

    def __init__(self, root: Path, path: Path | str = ":memory:", **settings: object) -> None:
        self.root = root
        self.read: list[str] = []
        told = {"excluded": [], "deny": [], "maxFileBytes": 1_000_000, **settings}
        roots = (Root(uri_of(root), root, root.name),)
        self.ground = Ground.of(roots, settings_of(told))
        self.store = Store(path)
        self.engine = SearchEngine(self.store)
        self.builder = Builder(self.ground, self.store, self.engine, self.read.extend)

    def uri(self, name: str) -> str:
        return uri_of(self.root / name)

    def write(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def close(self) -> None:
        self.builder.close()
        self.store.close()

    def settle(self) -> None:
        while self.builder.step():
            pass

    def scan(self) -> None:
        self.read.clear()
        self.builder.scan()
        self.settle()

    def change(self, *names: str) -> None:
        self.read.clear()
        self.builder.changed([self.uri(name) for name in names])
        self.settle()

    def find(self, text: str) -> list[str]:
        return sorted({hit.file for hit in self.engine.search(Search(text))})


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A workspace of three files."""
    library = Library(tmp_path)
    library.write("src/harbour.py", "def moor(boat):\n    return boat\n")
    library.write("notes/tides.md", "# Tides\n\nThe moon pulls the water.\n")
    library.write("readme.txt", "Boats and harbours.\n")
    library.scan()
    yield library
    library.close()


def test_words_are_found_in_code_notes_and_plain_text(library: Library) -> None:
    assert library.find("moor") == ["src/harbour.py"]
    assert library.find("moon") == ["notes/tides.md"]
    assert library.find("boats") == ["readme.txt", "src/harbour.py"]
    assert library.find("harbour") == ["readme.txt", "src/harbour.py"]


def test_a_changed_a_new_and_a_removed_file_are_noticed(library: Library) -> None:
    library.write("src/harbour.py", "def anchor(ship):\n    return ship\n")
    library.write("src/pier.py", "def land():\n    pass\n")
    (library.root / "readme.txt").unlink()
    library.change("src/harbour.py", "src/pier.py", "readme.txt")
    assert library.find("moor") == []
    assert library.find("anchor") == ["src/harbour.py"]
    assert library.find("land") == ["src/pier.py"]
    assert library.find("boats") == []


def test_a_folder_that_is_gone_takes_its_files_along(library: Library) -> None:
    (library.root / "src/harbour.py").unlink()
    (library.root / "src").rmdir()
    library.change("src")
    assert library.find("moor") == []


def test_a_folder_that_is_new_brings_its_files_along(library: Library) -> None:
    library.write("deep/down/pier.py", "def land(): pass\n")
    library.change("deep")
    assert library.find("land") == ["deep/down/pier.py"]


def test_a_scan_reads_only_what_has_changed(library: Library) -> None:
    library.scan()
    assert library.read == []
    library.write("notes/tides.md", "# Tides\n\nThe sun pulls it too.\n")
    library.scan()
    assert library.read == [library.uri("notes/tides.md")]
    assert library.find("sun") == ["notes/tides.md"]


def test_a_file_that_was_written_anew_with_the_same_text_is_not_indexed_anew(
    library: Library,
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
    before = Library(root, tmp_path / "index.db")
    before.write("a.py", "def moor(): pass\n")
    before.write("b.py", "def land(): pass\n")
    before.scan()
    before.close()
    (root / "b.py").unlink()
    after = Library(root, tmp_path / "index.db")
    assert after.find("moor") == ["a.py"]
    after.scan()
    assert (after.read, after.find("land")) == ([], [])
    after.close()


def test_unsaved_text_counts_until_the_document_is_closed(library: Library) -> None:
    uri = library.uri("src/harbour.py")
    library.builder.lay(uri, "src/harbour.py", "def set_sail(): pass\n")
    assert (library.find("sail"), library.find("moor")) == (["src/harbour.py"], [])
    library.change("src/harbour.py")
    library.scan()
    assert library.find("sail") == ["src/harbour.py"]
    library.builder.lay(uri, "", None)
    assert (library.find("sail"), library.find("moor")) == ([], ["src/harbour.py"])


def test_a_document_that_is_on_no_disk_is_found_and_gone_when_it_is_closed(
    library: Library,
) -> None:
    library.builder.lay("untitled:Draft", "untitled:Draft", "A letter to the pilot.\n")
    assert library.find("pilot") == ["untitled:Draft"]
    library.scan()
    assert library.find("pilot") == ["untitled:Draft"]
    library.builder.lay("untitled:Draft", "", None)
    assert library.find("pilot") == []


def test_half_a_character_in_unsaved_text_hides_no_other_word_of_it(library: Library) -> None:
    uri = library.uri("notes/a.md")
    library.builder.lay(
        uri, "notes/a.md", "# The pilot \ude00\n\nA letter \ud83d to the harbour.\n"
    )
    assert library.find("pilot") == ["notes/a.md"]
    assert library.find("letter") == ["notes/a.md"]


def test_after_a_restart_unsaved_text_of_before_is_gone(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    before = Library(root, tmp_path / "index.db")
    before.write("a.py", "def moor(): pass\n")
    before.scan()
    before.builder.lay(before.uri("a.py"), "a.py", "def sail(): pass\n")
    before.close()
    after = Library(root, tmp_path / "index.db")
    after.scan()
    assert (after.find("sail"), after.find("moor")) == ([], ["a.py"])
    after.close()


def test_what_may_not_be_shown_is_never_read(tmp_path: Path) -> None:
    library = Library(tmp_path / "ws", excluded=["private"], deny=["*.log"])
    secret = "the canary sings\n"
    for name in (".env", "private/a.md", "run.log", "build/out.txt", "id_rsa", ".git/config"):
        library.write(name, secret)
    library.write(".gitignore", "build/\n")
    (tmp_path / "outside.md").write_text(secret)
    (library.root / "link.md").symlink_to(tmp_path / "outside.md")
    library.write("open.md", "nothing here\n")
    library.scan()
    library.change(".env", "private/a.md", "run.log", "build/out.txt", "id_rsa", "link.md")
    assert library.find("canary") == []
    assert library.find("nothing") == ["open.md"]
    library.close()


def test_another_ignore_file_changes_what_is_known(library: Library) -> None:
    library.write(".gitignore", "src/\n")
    library.change(".gitignore")
    assert library.find("moor") == []
    (library.root / ".gitignore").unlink()
    library.change(".gitignore")
    assert library.find("moor") == ["src/harbour.py"]


def test_a_storm_of_changes_is_one_look_at_all(library: Library) -> None:
    library.write("src/pier.py", "def land(): pass\n")
    library.change(*(f"gone/{n}.py" for n in range(50_000)), "src/pier.py")
    assert library.read == [library.uri("src/pier.py")]
    assert library.find("land") == ["src/pier.py"]


def test_many_new_names_among_many_known_ones_do_not_multiply(library: Library) -> None:
    stamp = library.builder._known[library.uri("readme.txt")]
    known = {library.uri(f"known/{number}.py"): stamp for number in range(20_000)}
    library.builder._known.update(known)

    def seconds(n_names: int) -> float:
        names = [library.uri(f"new/{number}.py") for number in range(n_names)]
        begun = process_time()
        library.builder.changed(names)
        return process_time() - begun

    assert seconds(1_900) < 40 * seconds(10) + 0.1


@pytest.mark.parametrize("name", ["src", "src/deep"])
def test_of_a_folder_that_is_gone_all_files_are_looked_at(library: Library, name: str) -> None:
    library.write(f"{name}/pier.py", "def land(): pass\n")
    library.write(f"{name}x/other.py", "def land(): pass\n")
    library.scan()
    shutil.rmtree(library.root / name)
    library.change(name)
    assert library.find("land") == [f"{name}x/other.py"]


def test_the_neighbours_of_an_open_document_come_first(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "SLICE", 1)
    for name in ("a/one.py", "z/two.py", "z/three.py"):
        library.write(name, "x = 1\n")
    library.read.clear()
    library.builder.scan([library.uri("z/two.py")])
    library.settle()
    assert [uri.rpartition("/")[2] for uri in library.read] == ["three.py", "two.py", "one.py"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("zeros.py", b"def moor():\0\0\0"),
        ("bad.py", b"def moor(): # caf\xe9 \xff\xfe\n"),
        ("long.js", b"function moor(){" + b"a=1;" * 240_000 + b"}"),
        ("empty.py", b""),
        ("blank.md", b"\n\n \n"),
        ("deep.py", b"(" * 5_000 + b"\n" + b"if moor:\n" * 500),
        ("cr.md", b"# One\r\rmoor\r# Two\r"),
    ],
)
def test_odd_files_are_indexed_or_left_out_but_hold_nothing_up(
    library: Library, name: str, data: bytes
) -> None:
    library.write(f"odd/{name}", data)
    library.change(f"odd/{name}")
    assert "src/harbour.py" in library.find("moor")
    (library.root / "odd" / name).unlink()
    library.change(f"odd/{name}")
    assert library.find("moor") == ["src/harbour.py"]


def test_a_loop_of_links_and_a_folder_that_cannot_be_read_are_passed_over(library: Library) -> None:
    (library.root / "loop").symlink_to(library.root)
    closed = library.root / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        library.scan()
    finally:
        closed.chmod(0o700)
    assert library.find("moor") == ["src/harbour.py"]


def test_what_has_just_changed_is_known_to_the_next_answer(library: Library) -> None:
    library.builder.scan()
    library.write("src/harbour.py", "def anchor(ship): pass\n")
    library.builder.changed([library.uri("src/harbour.py")])
    library.builder.catch_up()
    assert library.find("anchor") == ["src/harbour.py"]


CODE = {
    "a.c": "/* Adds. */\nstatic int\nadd (int  a,\n     int  b)\n{\n  return a;\n}\n",
    "a.go": "package m\n\nfunc Moor() {\n}\n\nfunc Land() {\n}\n",
    "a.js": "const shut = {\n  open: (a) => a,\n}\n",
    "a.rs": "struct A;\n\nimpl A {\n  fn go(&self) {\n  }\n}\n",
    "a.py": "class A:\n    def go(self):\n        pass\n",
    "a.md": "# One\n\ntext\n",
}


def chunks_in(library: Library) -> list[tuple[object, ...]]:
    """All that the index holds of the files."""
    sql = (
        "SELECT files.name, first, end, chunks.name, scope, is_definition, words.head FROM chunks"
        " JOIN files ON files.id = file JOIN words ON words.rowid = chunks.id"
    )
    return sorted(library.store._db.execute(sql).fetchall())


def test_a_file_is_cut_alike_in_a_scan_by_one_process_or_two_when_saved_and_when_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for many in (200, -1):
        monkeypatch.setattr(building, "MANY_TO_READ", many)
        scanned = Library(tmp_path / f"scanned{many}")
        for name, text in CODE.items():
            scanned.write(name, text)
        scanned.scan()
        found.append(chunks_in(scanned))
        scanned.close()
    saved, typed = Library(tmp_path / "saved"), Library(tmp_path / "typed")
    for name, text in CODE.items():
        saved.write(name, text)
        saved.change(name)
        typed.builder.lay(typed.uri(name), name, text)
    found += [chunks_in(saved), chunks_in(typed)]
    assert found == [found[0]] * 4
    assert ("a.c", 0, 7, "add", "", 1, "static int add int a int b") in found[0]  # not by its look
    saved.close()
    typed.close()


def test_files_made_to_be_slow_for_a_grammar_hold_nothing_up(library: Library) -> None:
    slow = "{[" * 100_000
    for bird in ("gull", "tern"):
        library.write(f"odd/{bird}.js", f"function {bird}() {{\n}}\n{slow}\n")
    library.write("odd/z.c", CODE["a.c"])
    library.builder.scan()
    steps = 0
    while library.builder.step():
        steps += 1
        assert library.find("moor") == ["src/harbour.py"]  # a question between two of them
    assert steps >= 3
    assert library.find("gull") == ["odd/gull.js"]
    assert library.find("tern") == ["odd/tern.js"]
    assert library.find("add") == ["odd/z.c"]
    library.scan()
    assert library.read == []


def test_a_scan_asks_the_disk_about_unchanged_files_no_more_than_it_must(
    library: Library, monkeypatch: pytest.MonkeyPatch
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


def test_texts_that_are_gone_are_not_embedded_any_more(library: Library) -> None:
    before = len(library.store.unread(100))
    (library.root / "readme.txt").unlink()
    library.scan()
    assert len(library.store.unread(100)) == before
    library.builder.tidy()
    assert len(library.store.unread(100)) == before - 1


@pytest.mark.parametrize("how", ["saved", "typed"])
def test_a_line_of_five_megabytes_is_left_out_and_takes_what_was_there_along(
    library: Library, how: str
) -> None:
    data = "function moor(){" + "a=1;" * 1_250_000 + "}"
    if how == "saved":
        library.write("src/harbour.py", data)
        library.change("src/harbour.py")
    else:
        library.builder.lay(library.uri("src/harbour.py"), "src/harbour.py", data)
    assert library.find("moor") == []
    assert library.find("boats") == ["readme.txt"]


def test_a_file_that_goes_while_it_is_read_is_left_out(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = OsSystem.read_real

    def gone(self: OsSystem, path: Path, limit: int) -> bytes:
        path.unlink()
        return read(self, path, limit)

    library.write("src/harbour.py", "def moor_again(): pass\n")
    with monkeypatch.context() as vanishing:
        vanishing.setattr(OsSystem, "read_real", gone)
        library.change("src/harbour.py")
    assert library.find("moor") == []
    library.write("src/harbour.py", "def moor_again(): pass\n")
    library.change("src/harbour.py")
    assert library.find("moor") == ["src/harbour.py"]


@pytest.mark.parametrize("fault", [PermissionError, OSError])
def test_a_folder_that_cannot_be_listed_hides_only_what_lies_in_it(
    library: Library, monkeypatch: pytest.MonkeyPatch, fault: type[OSError]
) -> None:
    """Whoever runs the tests: for root no folder is closed."""

    def closed(path: Path) -> int:
        if str(path).endswith("/notes"):
            raise fault(5, "no")
        return open_to_list(path)

    monkeypatch.setattr("stet.system.os_system.open_to_list", closed)
    library.scan()
    assert library.find("moon") == []
    assert library.find("moor") == ["src/harbour.py"]


def test_files_that_are_links_to_each_other_are_passed_over(library: Library) -> None:
    (library.root / "one.py").symlink_to(library.root / "two.py")
    (library.root / "two.py").symlink_to(library.root / "one.py")
    (library.root / "self.py").symlink_to(library.root / "self.py")
    library.scan()
    library.change("one.py", "two.py", "self.py")
    assert library.find("moor") == ["src/harbour.py"]
