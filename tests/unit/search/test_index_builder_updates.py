"""The index follows the files: what is made, changed, removed, and what comes first."""

import shutil
from time import process_time

import pytest

from stet.search import index_builder as building
from tests.support.index_library import IndexLibrary


def test_words_are_found_in_code_notes_and_plain_text(library: IndexLibrary) -> None:
    assert library.find("moor") == ["src/harbour.py"]
    assert library.find("moon") == ["notes/tides.md"]
    assert library.find("boats") == ["readme.txt", "src/harbour.py"]
    assert library.find("harbour") == ["readme.txt", "src/harbour.py"]


def test_a_changed_a_new_and_a_removed_file_are_noticed(library: IndexLibrary) -> None:
    library.write("src/harbour.py", "def anchor(ship):\n    return ship\n")
    library.write("src/pier.py", "def land():\n    pass\n")
    (library.root / "readme.txt").unlink()
    library.change("src/harbour.py", "src/pier.py", "readme.txt")
    assert library.find("moor") == []
    assert library.find("anchor") == ["src/harbour.py"]
    assert library.find("land") == ["src/pier.py"]
    assert library.find("boats") == []


def test_a_folder_that_is_gone_takes_its_files_along(library: IndexLibrary) -> None:
    (library.root / "src/harbour.py").unlink()
    (library.root / "src").rmdir()
    library.change("src")
    assert library.find("moor") == []


def test_a_folder_that_is_new_brings_its_files_along(library: IndexLibrary) -> None:
    library.write("deep/down/pier.py", "def land(): pass\n")
    library.change("deep")
    assert library.find("land") == ["deep/down/pier.py"]


@pytest.mark.slow
def test_burst_of_changes_is_one_scan(library: IndexLibrary) -> None:
    library.write("src/pier.py", "def land(): pass\n")
    library.change(*(f"gone/{n}.py" for n in range(50_000)), "src/pier.py")
    assert library.read == [library.uri("src/pier.py")]
    assert library.find("land") == ["src/pier.py"]


def test_many_new_names_among_many_known_ones_do_not_multiply(library: IndexLibrary) -> None:
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
def test_of_a_folder_that_is_gone_all_files_are_looked_at(library: IndexLibrary, name: str) -> None:
    library.write(f"{name}/pier.py", "def land(): pass\n")
    library.write(f"{name}x/other.py", "def land(): pass\n")
    library.scan()
    shutil.rmtree(library.root / name)
    library.change(name)
    assert library.find("land") == [f"{name}x/other.py"]


def test_the_neighbours_of_an_open_document_come_first(
    library: IndexLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "SLICE", 1)
    for name in ("a/one.py", "z/two.py", "z/three.py"):
        library.write(name, "x = 1\n")
    library.read.clear()
    library.builder.scan([library.uri("z/two.py")])
    library.settle()
    assert [uri.rpartition("/")[2] for uri in library.read] == ["three.py", "two.py", "one.py"]


def test_change_is_in_the_index_for_the_next_answer(library: IndexLibrary) -> None:
    library.builder.scan()
    library.write("src/harbour.py", "def anchor(ship): pass\n")
    library.builder.changed([library.uri("src/harbour.py")])
    library.builder.catch_up()
    assert library.find("anchor") == ["src/harbour.py"]


def test_texts_that_are_gone_are_not_embedded_any_more(library: IndexLibrary) -> None:
    before = len(library.store.pending_texts(100))
    (library.root / "readme.txt").unlink()
    library.scan()
    assert len(library.store.pending_texts(100)) == before
    library.builder.tidy()
    assert len(library.store.pending_texts(100)) == before - 1
