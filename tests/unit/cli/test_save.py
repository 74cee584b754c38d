"""Accepted text goes to the disk whole, or not at all."""

from pathlib import Path

import pytest

from stet.cli.save import save
from stet.cli.terminal import CliError
from stet.lsp.headless.documents import Unsaved


def test_a_file_is_replaced_with_its_mode_and_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.sh"
    file.write_bytes(b"one\r\n")
    file.chmod(0o750)
    save(Unsaved(file, "one\r\n", "zwö\r\n"))
    assert file.read_bytes() == "zwö\r\n".encode()
    assert file.stat().st_mode & 0o777 == 0o750
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_gets_its_folders(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "a.txt"
    save(Unsaved(file, None, "hello\n"))
    assert file.read_text() == "hello\n"


def test_a_removed_file_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x")
    save(Unsaved(file, "x", None))
    assert not file.exists()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    file.write_text("x")
    link.symlink_to(file)
    save(Unsaved(link, "x", "y"))
    assert link.is_symlink()
    assert file.read_text() == "y"


@pytest.mark.parametrize(("before", "after"), [("old", "new"), (None, "new"), ("old", None)])
def test_what_changed_meanwhile_is_not_written_over(
    tmp_path: Path, before: str | None, after: str | None
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("somebody else's")
    with pytest.raises(CliError, match="has changed since it was opened"):
        save(Unsaved(file, before, after))
    assert file.read_text() == "somebody else's"


def test_text_that_is_no_unicode_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x")
    with pytest.raises(CliError, match="no valid Unicode"):
        save(Unsaved(file, "x", "\ud800"))
    assert file.read_text() == "x"
    assert list(tmp_path.iterdir()) == [file]
