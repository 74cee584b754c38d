from pathlib import Path

import pytest

from stet.system.system import FileKind, FileStat
from tests.support.memory_system import START, MemorySystem


def test_text_is_stored_as_utf8_and_read_up_to_the_limit() -> None:
    system = MemorySystem({"/ws/a.py": "é = 1\n"})
    assert system.read_bytes(Path("/ws/a.py"), 100) == "é = 1\n".encode()
    assert system.read_bytes(Path("/ws/a.py"), 2) == "é".encode()


def test_folders_exist_because_files_lie_in_them_or_because_they_are_named() -> None:
    system = MemorySystem({"/ws/b/c.md": "", "/ws/empty/": "", "/ws/a.py": "x"})
    assert list(system.list_folder(Path("/ws"))) == [
        ("a.py", FileStat(FileKind.FILE, 1, START)),
        ("b", FileStat(FileKind.FOLDER, 0, START)),
        ("empty", FileStat(FileKind.FOLDER, 0, START)),
    ]
    assert list(system.list_folder(Path("/ws/empty"))) == []
    assert list(system.list_folder(Path("/nowhere"))) == []


def test_links_are_seen_as_links_and_followed_when_read() -> None:
    system = MemorySystem(
        {"/etc/passwd": "root"}, links={"/ws/l": "/etc", "/ws/up": "../etc/passwd"}
    )
    stat = system.stat(Path("/ws/l"))
    assert stat is not None
    assert stat.kind is FileKind.LINK
    assert system.real_path(Path("/ws/l/passwd")) == Path("/etc/passwd")
    assert system.real_path(Path("/ws/l/new/file")) == Path("/etc/new/file")
    assert system.read_bytes(Path("/ws/up"), 10) == b"root"


def test_links_in_a_circle_end() -> None:
    system = MemorySystem(links={"/a": "/b", "/b": "/a"})
    assert system.real_path(Path("/a/x")).name == "x"


def test_a_folder_or_nothing_cannot_be_read() -> None:
    system = MemorySystem({"/ws/a.py": ""})
    with pytest.raises(OSError, match="Not a regular file"):
        system.read_bytes(Path("/ws"), 1)
    with pytest.raises(FileNotFoundError):
        system.read_bytes(Path("/ws/b.py"), 1)


def test_clock_moves_when_it_is_advanced() -> None:
    system = MemorySystem()
    system.time += 5
    system.add_file("/ws/a.py", "later")
    stat = system.stat(Path("/ws/a.py"))
    assert (system.now(), system.monotonic()) == (START + 5, 5)
    assert stat == FileStat(FileKind.FILE, 5, START + 5)


def test_what_is_removed_is_gone_with_all_it_holds() -> None:
    system = MemorySystem({"/ws/b/c.md": "", "/ws/a.py": ""})
    system.remove("/ws/b")
    assert [name for name, _ in system.list_folder(Path("/ws"))] == ["a.py"]
    assert system.stat(Path("/ws/b/c.md")) is None


def test_case_folding_system_finds_any_spelling_and_returns_the_first() -> None:
    system = MemorySystem({"/ws/Read.me": "hi"}, case_sensitive=False)
    assert system.read_bytes(Path("/WS/READ.ME"), 10) == b"hi"
    assert system.real_path(Path("/ws/read.me")) == Path("/ws/Read.me")


def test_a_relative_path_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match=r"'a\.py'"):
        MemorySystem({"a.py": ""})


async def test_there_are_no_programs() -> None:
    with pytest.raises(FileNotFoundError, match="MemorySystem"):
        await MemorySystem().start_process(["ls"])
