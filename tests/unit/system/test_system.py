import os
import sys
from pathlib import Path

import pytest

from stet.system.system import FileKind, System


def test_a_folder_is_listed_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("bb")
    (tmp_path / "a").mkdir()
    (tmp_path / "c").symlink_to("b.txt")
    listed = [(name, stat.kind, stat.size) for name, stat in System().list_folder(tmp_path)]
    assert [(name, kind) for name, kind, _ in listed] == [
        ("a", FileKind.FOLDER),
        ("b.txt", FileKind.FILE),
        ("c", FileKind.LINK),
    ]
    assert listed[1][2] == 2


def test_what_cannot_be_looked_at_is_nothing(tmp_path: Path) -> None:
    system = System()
    assert system.stat(tmp_path / "none") is None
    assert system.stat(Path("/a\0b")) is None
    assert list(system.list_folder(tmp_path / "none")) == []


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\r\nabcdef")
    assert System().read_bytes(tmp_path / "a", 4) == b"\r\nab"


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        System().read_bytes(tmp_path / "pipe", 10)


def test_a_folder_and_an_impossible_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Not a regular file"):
        System().read_bytes(tmp_path, 10)
    with pytest.raises(FileNotFoundError, match="No such file"):
        System().read_bytes(Path("/a\0b"), 10)


def test_the_real_path_follows_links_and_keeps_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    base = System().real_path(tmp_path)
    assert System().real_path(tmp_path / "link" / "new") == base / "real" / "new"


def test_case_folding_disk_returns_its_own_spelling(tmp_path: Path) -> None:
    (tmp_path / "Folder").mkdir()
    (tmp_path / "Folder" / "Re\u0301sume.md").write_text("")
    system = System(folds_case=True)
    real = system.real_path(tmp_path)
    assert system.real_path(tmp_path / "folder" / "r\u00e9SUME.md") == real / "Folder" / (
        "Re\u0301sume.md"
    )
    assert system.real_path(tmp_path / "folder" / "new.md") == real / "Folder" / "new.md"


def test_the_environment_is_read_only() -> None:
    environment = System().environ()
    assert dict(environment) == dict(os.environ)
    with pytest.raises(TypeError):
        environment["X"] = "y"  # type: ignore[index]


async def test_a_program_gets_exactly_its_arguments_and_environment() -> None:
    code = "import os, sys; print(sys.argv[1:], os.environ.get('X'), os.getsid(0) == os.getpid())"
    process = await System().start_process(
        [sys.executable, "-I", "-c", code, "$HOME; ls"], env={"X": "1"}
    )
    output, _ = await process.communicate()
    assert output.decode().split("\n")[0] == "['$HOME; ls'] 1 True"


async def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        await System().start_process(["/no/such/program"])
