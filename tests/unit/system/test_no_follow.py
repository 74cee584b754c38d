"""A link that is turned while a file is opened leads nowhere."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stet.system import no_follow as no_links
from stet.system import system as system_module
from stet.system.no_follow import open_each_folder, open_no_follow
from stet.system.system import FileKind, System
from tests.attacks.turning import swapping

TRIES = 2_000
WAYS: list[Callable[[Path], int]] = [open_no_follow, open_each_folder]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A folder with a file inside and a secret beside it."""
    for name in ("ws/folder/a.md", "outside/a.md"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(name)
    return Path(os.path.realpath(tmp_path))


def text(descriptor: int) -> str:
    with os.fdopen(descriptor) as file:
        return file.read()


@pytest.mark.parametrize("opened", WAYS)
def test_a_real_path_is_opened(top: Path, opened: Callable[[Path], int]) -> None:
    assert text(opened(top / "ws/folder/a.md")) == "ws/folder/a.md"


@pytest.mark.parametrize("opened", WAYS)
def test_a_link_anywhere_in_the_path_is_not_followed(
    top: Path, opened: Callable[[Path], int]
) -> None:
    (top / "ws/link").symlink_to("folder")
    (top / "ws/link.md").symlink_to("folder/a.md")
    (top / "ws/loop").symlink_to("loop")
    for name in ("ws/link/a.md", "ws/link.md", "ws/loop", "ws/loop/x", "ws/link/../folder/a.md"):
        with pytest.raises(OSError, match=r"Errno") as refused:
            opened(top / name)
        assert refused.value.errno in {errno.ELOOP, errno.ENOTDIR}
    with pytest.raises(OSError, match=r"Errno"):
        opened(Path("/proc/self/root") / str(top)[1:] / "ws/folder/a.md")


@pytest.mark.parametrize("opened", WAYS)
def test_missing_file_is_reported_and_leaves_nothing_open(
    top: Path, opened: Callable[[Path], int]
) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    for name in ("ws/none.md", "ws/none/a.md", "ws/folder/a.md/x"):
        with pytest.raises((FileNotFoundError, NotADirectoryError)):
            opened(top / name)
    with pytest.raises((FileNotFoundError, ValueError)):
        opened(top / "a\0b")
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_pipe_and_a_folder_are_no_files(top: Path) -> None:
    os.mkfifo(top / "pipe")
    for path in (top / "pipe", top / "ws"):
        with pytest.raises(OSError, match="regular file"):
            System().read_real(path, 10)


@contextmanager
def turning(link: Path, *targets: Path) -> Iterator[None]:
    """A thread that turns a link from one place to the other as fast as it can."""
    over = threading.Event()

    def turn() -> None:
        beside = link.with_name("beside")
        while not over.is_set():
            for target in targets:
                beside.symlink_to(target)
                beside.replace(link)

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_a_link_turned_while_it_is_resolved_and_opened_is_never_read_through(top: Path) -> None:
    link, system = top / "ws/link", System()
    link.symlink_to(top / "ws/folder")
    read = set()
    with turning(link, top / "ws/folder", top / "outside"):
        for _ in range(TRIES):
            real = system.real_path(link / "a.md")
            if top / "ws" not in real.parents:
                continue  # judged, and refused
            try:
                read.add(system.read_real(real, 100))
            except OSError:
                read.add(b"refused")
    assert b"outside/a.md" not in read
    assert b"ws/folder/a.md" in read


@pytest.mark.slow
def test_a_folder_that_becomes_a_link_while_it_is_resolved_is_one_or_the_other(top: Path) -> None:
    (top / "ws/link").symlink_to(top / "outside")
    with swapping(top / "ws/folder", top / "ws/link"):
        found = {System().real_path(top / "ws/folder/a.md") for _ in range(10_000)}
    assert found == {top / "ws/folder/a.md", top / "outside/a.md"}


@pytest.mark.parametrize("way", ["one call", "folder by folder", "by names"])
def test_a_folder_is_listed_through_no_link(
    top: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "folder by folder":
        monkeypatch.setattr(no_links, "_openat2", lambda flags: None)
    if way == "by names":
        monkeypatch.setattr(system_module, "HAS_FOLDER_DESCRIPTORS", False)
    (top / "ws/link").symlink_to("../outside")
    (top / "ws/folder/in").symlink_to("a.md")
    system = System()

    def listed(folder: str) -> list[tuple[str, FileKind]]:
        return [(name, stat.kind) for name, stat in system.list_real(top / folder)]

    assert listed("ws/folder") == [("a.md", FileKind.FILE), ("in", FileKind.LINK)]
    assert [name for name, _ in listed("ws")] == ["folder", "link"]
    assert listed("ws/link") == listed("ws/none") == listed("ws/folder/a.md") == []
