"""Accepted text goes to the disk whole, or not at all."""

import os
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from stet.cli.files import save
from stet.cli.terminal import CliError
from stet.lsp.headless.editor_documents import EditorDocuments, UnsavedChange
from stet.system.system import System


def test_a_file_is_replaced_with_its_mode_and_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.sh"
    file.write_bytes(b"one\r\n")
    file.chmod(0o750)
    save(UnsavedChange(file, "one\r\n", "zwö\r\n"))
    assert file.read_bytes() == "zwö\r\n".encode()
    assert file.stat().st_mode & 0o777 == 0o750
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_gets_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "a.txt"
    save(UnsavedChange(file, None, "hello\n"))
    assert file.read_text() == "hello\n"


def test_a_removed_file_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x")
    save(UnsavedChange(file, "x", None))
    assert not file.exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    file.write_text("x")
    link.symlink_to(file)
    save(UnsavedChange(link, "x", "y"))
    assert link.is_symlink()
    assert file.read_text() == "y"


@pytest.mark.parametrize(("before", "after"), [("old", "new"), (None, "new"), ("old", None)])
def test_what_changed_meanwhile_is_not_written_over(
    tmp_path: Path, before: str | None, after: str | None
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("somebody else's")
    with pytest.raises(CliError, match="has changed on disk since it was opened"):
        save(UnsavedChange(file, before, after))
    assert file.read_text() == "somebody else's"


def test_text_that_is_no_unicode_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x")
    with pytest.raises(CliError, match="not valid Unicode"):
        save(UnsavedChange(file, "x", "\ud800"))
    assert file.read_text() == "x"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("before", [None, "x"])
def test_nothing_is_written_through_a_folder_that_has_become_a_link(
    tmp_path: Path, before: str | None
) -> None:
    inside, outside = tmp_path / "ws" / "n", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        if before is not None:
            (folder / "a.txt").write_text(before)
    real = Path(os.path.realpath(inside / "a.txt"))
    inside.rename(tmp_path / "away")
    inside.symlink_to(outside)
    with pytest.raises(CliError, match="A parent folder is a symbolic link"):
        save(UnsavedChange(inside / "a.txt", before, "mine", real))
    held = {path.name: path.read_text() for path in outside.iterdir()}
    assert held == ({} if before is None else {"a.txt": before})


def test_where_a_file_is_saved_is_known_from_when_it_was_opened(tmp_path: Path) -> None:
    folder = tmp_path / "n"
    folder.mkdir()
    (folder / "a.txt").write_text("x")
    documents = EditorDocuments(System())
    uri, _ = documents.open(folder / "a.txt")
    folder.rename(tmp_path / "away")
    folder.symlink_to(tmp_path / "away")
    edit = lsp.TextEdit(lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1)), "y")
    documents.apply(lsp.WorkspaceEdit(changes={uri: [edit]}))
    [change] = documents.unsaved()
    with pytest.raises(CliError, match="A parent folder is a symbolic link"):
        save(change)
    assert (tmp_path / "away" / "a.txt").read_text() == "x"
