"""The index holds what is open as it is typed, until it is closed."""

from pathlib import Path

from tests.support.index_library import IndexLibrary


def test_unsaved_text_counts_until_the_document_is_closed(library: IndexLibrary) -> None:
    uri = library.uri("src/harbour.py")
    library.builder.set_open_text(uri, "src/harbour.py", "def set_sail(): pass\n")
    assert (library.find("sail"), library.find("moor")) == (["src/harbour.py"], [])
    library.change("src/harbour.py")
    library.scan()
    assert library.find("sail") == ["src/harbour.py"]
    library.builder.set_open_text(uri, "", None)
    assert (library.find("sail"), library.find("moor")) == ([], ["src/harbour.py"])


def test_a_document_that_is_on_no_disk_is_found_and_gone_when_it_is_closed(
    library: IndexLibrary,
) -> None:
    library.builder.set_open_text("untitled:Draft", "untitled:Draft", "A letter to the pilot.\n")
    assert library.find("pilot") == ["untitled:Draft"]
    library.scan()
    assert library.find("pilot") == ["untitled:Draft"]
    library.builder.set_open_text("untitled:Draft", "", None)
    assert library.find("pilot") == []


def test_half_a_character_in_unsaved_text_hides_no_other_word_of_it(library: IndexLibrary) -> None:
    uri = library.uri("notes/a.md")
    library.builder.set_open_text(
        uri, "notes/a.md", "# The pilot \ude00\n\nA letter \ud83d to the harbour.\n"
    )
    assert library.find("pilot") == ["notes/a.md"]
    assert library.find("letter") == ["notes/a.md"]


def test_after_a_restart_unsaved_text_of_before_is_gone(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    before = IndexLibrary(root, tmp_path / "index.db")
    before.write("a.py", "def moor(): pass\n")
    before.scan()
    before.builder.set_open_text(before.uri("a.py"), "a.py", "def sail(): pass\n")
    before.close()
    after = IndexLibrary(root, tmp_path / "index.db")
    after.scan()
    assert (after.find("sail"), after.find("moor")) == ([], ["a.py"])
    after.close()
