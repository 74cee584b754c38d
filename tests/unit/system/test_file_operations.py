"""What may be done to a user's files: the real disk and the world in memory behave alike."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stet.system import file_operations as user_files
from stet.system import no_follow as no_links
from stet.system import no_follow as place
from stet.system.system import FileKind, System
from tests.support.memory_system import MemorySystem


class Disk:
    """A system, and how a test puts something on its disk."""

    def __init__(self, system: System, root: Path, put: Callable[[Path, bytes], object]) -> None:
        self.system = system
        self.root = root
        self._put = put

    def put(self, name: str, data: bytes) -> Path:
        self._put(self.root / name, data)
        return self.root / name

    def read(self, path: Path) -> bytes | None:
        return self.system.read_bytes(path, 1000) if self.system.stat(path) else None

    def link(self, name: str, target: str) -> Path:
        if isinstance(self.system, MemorySystem):
            self.system.add_link(self.root / name, target)
        else:
            (self.root / name).symlink_to(target)
        return self.root / name


@pytest.fixture(params=["real", "folder by folder", "by path", "memory"])
def disk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    if request.param == "memory":
        memory = MemorySystem({"/ws/": b""})
        return Disk(memory, Path("/ws"), memory.add_file)
    if request.param == "folder by folder":  # as on macOS
        monkeypatch.setattr(no_links, "_openat2", lambda _: None)
    elif request.param == "by path":  # as on Windows
        monkeypatch.setattr(place, "HAS_FOLDER_DESCRIPTORS", False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path.resolve() / "ws"
    root.mkdir()

    def put(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return Disk(System(), root, put)


def test_a_file_is_made_with_the_folders_above_it(disk: Disk) -> None:
    path = disk.root / "new" / "deep" / "a.md"
    disk.system.create_file(path, "ü\r\nlast")
    assert disk.read(path) == "ü\r\nlast".encode()


def test_nothing_that_is_there_is_overwritten(disk: Disk) -> None:
    there, other = disk.put("there", b"keep"), disk.put("other", b"other")
    trashed = disk.system.copy_to_trash(other)
    with pytest.raises(FileExistsError):
        disk.system.create_file(there, "new")
    with pytest.raises(FileExistsError):
        disk.system.move_file(other, there)
    with pytest.raises(FileExistsError):
        disk.system.restore(trashed, there)
    assert (disk.read(there), disk.read(other)) == (b"keep", b"other")


def test_no_link_is_followed(disk: Disk) -> None:
    target = disk.put("target", b"keep")
    dangling, link = disk.link("dangling", "nowhere"), disk.link("link", "target")
    disk.put("folder/a", b"a")
    through = disk.link("through", "folder") / "b"
    inside = through.with_name("a")
    with pytest.raises(FileExistsError):
        disk.system.create_file(dangling, "new")
    with pytest.raises(OSError, match="is a symbolic link"):
        disk.system.create_file(through, "new")
    with pytest.raises(OSError, match="is a symbolic link"):
        disk.system.move_file(target, through)
    with pytest.raises(OSError, match="is a symbolic link"):
        disk.system.move_file(inside, disk.root / "moved")
    for act in (disk.system.trash, disk.system.copy_to_trash):
        with pytest.raises(OSError, match="ot a regular file"):
            act(link)
        with pytest.raises(OSError, match="is a symbolic link"):
            act(inside)
    with pytest.raises(OSError, match="ot a regular file"):
        disk.system.move_file(link, disk.root / "moved")
    assert disk.read(target) == b"keep"
    assert disk.system.stat(disk.root / "nowhere") is None
    assert [name for name, _ in disk.system.list_folder(disk.root / "folder")] == ["a"]


def test_a_file_is_moved_with_all_it_holds(disk: Disk) -> None:
    path, new = disk.put("a", b"\xff\x00"), disk.root / "x" / "b"
    disk.system.move_file(path, new)
    assert (disk.read(path), disk.read(new)) == (None, b"\xff\x00")


def test_what_is_not_there_can_be_neither_moved_nor_trashed(disk: Disk) -> None:
    gone = disk.root / "gone"
    for act in (disk.system.trash, disk.system.copy_to_trash):
        with pytest.raises(FileNotFoundError):
            act(gone)
    with pytest.raises(FileNotFoundError):
        disk.system.move_file(gone, disk.root / "b")
    assert disk.system.stat(disk.root / "b") is None


def test_the_trash_is_found_again_by_the_path_the_newest_first(disk: Disk) -> None:
    path = disk.put("notes/a.md", b"first\xff")
    first = disk.system.trash(path)
    disk.put("notes/a.md", b"second")
    second = disk.system.trash(path)
    assert disk.read(path) is None
    assert (disk.read(first), disk.read(second)) == (b"first\xff", b"second")
    assert list(disk.system.trashed(path)) == [second, first]
    assert list(disk.system.trashed(disk.root / "other")) == []
    assert first.is_relative_to(disk.system.state_folder())
    assert first.name == "a.md"


def test_what_is_restored_is_byte_for_byte_what_it_was_and_stays_in_the_trash(disk: Disk) -> None:
    path = disk.put("sub/a", b"\xef\xbb\xbfx\r\n\x00")
    trashed = disk.system.trash(path)
    disk.system.restore(trashed, path)
    assert (disk.read(path), disk.read(trashed)) == (b"\xef\xbb\xbfx\r\n\x00",) * 2


def test_refusal_names_the_whole_path(disk: Disk) -> None:
    there, other = disk.put("there", b""), disk.put("sub/other", b"")
    for act, refused_path in (
        (lambda: disk.system.create_file(there, ""), there),
        (lambda: disk.system.move_file(other, there), there),
        (lambda: disk.system.trash(disk.root / "gone"), disk.root / "gone"),
        (lambda: disk.system.trash(disk.root / "gone/a"), disk.root / "gone"),
        (lambda: disk.system.create_file(there / "a", ""), there),
    ):
        with pytest.raises(OSError, match=r"\[Errno") as refused:
            act()
        assert str(refused_path) in str(refused.value)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_state_folder_may_be_reached_by_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to("elsewhere")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path, system = tmp_path.resolve() / "a", System()
    path.write_text("x")
    copied = system.copy_to_trash(path)
    trashed = system.trash(path)
    assert (copied.read_text(), trashed.read_text()) == ("x", "x")
    system.restore(trashed, path)
    assert path.read_text() == "x"


def test_copying_to_the_trash_leaves_the_file(disk: Disk) -> None:
    path = disk.put("a", b"x")
    assert disk.read(disk.system.copy_to_trash(path)) == b"x"
    assert disk.read(path) == b"x"


def test_the_state_folder_is_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "a").write_text("x")
    trashed = System().trash(tmp_path.resolve() / "a")
    for folder in (System().state_folder(), System().state_folder() / "trash"):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert trashed.parent.is_dir()


def test_across_devices_a_file_is_copied_before_it_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_device(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_device)
    path, new = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"x" * 100_000)
    path.chmod(0o640)
    os.utime(path, (1e9, 1e9))
    user_files.move(path, new)
    assert not path.exists()
    assert new.read_bytes() == b"x" * 100_000
    assert new.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mtime == 1e9


def test_a_file_that_takes_the_name_of_one_being_moved_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, new = tmp_path.resolve() / "a", tmp_path.resolve() / "b"
    path.write_text("old")
    link = os.link

    def link_and_replace(*args: Any, **options: Any) -> None:
        link(*args, **options)
        (tmp_path / "c").write_text("new")
        (tmp_path / "c").replace(path)

    monkeypatch.setattr(os, "link", link_and_replace)
    with pytest.raises(OSError, match="replaced it"):
        user_files.move(path, new)
    assert path.read_text() == "new"
    assert not new.exists()


@pytest.mark.parametrize("failing", ["fsync", "fchmod"])
def test_a_copy_that_fails_leaves_the_file_and_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", lambda *_, **__: other_device())
    monkeypatch.setattr(os, failing, full)

    def other_device() -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    path, new = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"x")
    with pytest.raises(OSError, match="No space left"):
        user_files.move(path, new)
    assert path.read_bytes() == b"x"
    assert not new.exists()


def test_a_file_that_cannot_be_written_whole_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        System().create_file(tmp_path.resolve() / "a", "x")
    assert list(tmp_path.iterdir()) == []


def test_another_spelling_of_the_same_name_is_a_move_too() -> None:
    system = MemorySystem({"/ws/readme.md": "x"}, case_sensitive=False)
    system.move_file(Path("/ws/readme.md"), Path("/ws/README.md"))
    assert [name for name, stat in system.list_folder(Path("/ws"))] == ["README.md"]
    assert system.stat(Path("/ws/README.md")) is not None
    found = system.stat(Path("/ws/README.md"))
    assert found is not None
    assert found.kind is FileKind.FILE


DAY = 86_400.0


def test_what_has_lain_in_the_trash_for_long_goes_unless_it_is_still_wanted(disk: Disk) -> None:
    gone, wanted = disk.put("a.md", b"a"), disk.put("sub/b.md", b"b")
    disk.system.trash(gone)
    [old] = disk.system.trashed(gone)
    now = disk.system.now()
    assert disk.system.empty_trash(now - DAY, ()) == 0
    assert disk.read(old) == b"a"
    disk.system.trash(wanted)
    assert disk.system.empty_trash(now + DAY, (wanted,)) <= 1
    assert [disk.read(place) for place in disk.system.trashed(wanted)] == [b"b"]
    disk.system.empty_trash(now + DAY, ())
    assert list(disk.system.trashed(wanted)) == []
    assert disk.read(old) is None
    assert disk.system.empty_trash(now + DAY, ()) == 0


def make_trash(folder: Path, *names: str) -> Path:
    """A trash of files that came there in September 2001, and folders of other names."""
    for name in names:
        (folder / name / "ws").mkdir(parents=True)
        (folder / name / "ws" / "a.md").write_text("a")
        os.utime(folder / name, (1e9, 1e9))
    return folder


def test_only_what_the_trash_makes_itself_is_emptied(tmp_path: Path) -> None:
    others = (
        "mine",
        "20010909T014640",
        "20010909T014640Z-1",
        "20019909T014640Z",
        "30010909T014640Z",
    )
    trash = make_trash(tmp_path / "trash", "20010909T014640Z", "20010909T014640Z-0002", *others)
    (trash / "20010909T014641Z").write_text("a file of that name")
    assert user_files.empty_trash(trash, 1.1e9, ()) == 2
    assert sorted(entry.name for entry in trash.iterdir()) == sorted((*others, "20010909T014641Z"))


def test_a_place_that_was_written_to_lately_stays_whatever_its_name_says(tmp_path: Path) -> None:
    trash = make_trash(tmp_path / "trash", "20010909T014640Z")
    os.utime(trash / "20010909T014640Z", (1.2e9, 1.2e9))
    assert user_files.empty_trash(trash, 1.1e9, ()) == 0


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_emptying_the_trash_follows_no_link(tmp_path: Path) -> None:
    precious = make_trash(tmp_path / "precious", "20010909T014640Z")
    trash = make_trash(tmp_path / "trash", "20010909T014640Z")
    (trash / "20010909T014640Z" / "out").symlink_to(precious)
    (trash / "20010909T014650Z").symlink_to(precious / "20010909T014640Z")
    os.utime(trash / "20010909T014640Z", (1e9, 1e9))
    assert user_files.empty_trash(trash, 1.1e9, ()) == 1
    assert [entry.name for entry in trash.iterdir()] == ["20010909T014650Z"]
    (tmp_path / "linked").symlink_to(precious)
    assert user_files.empty_trash(tmp_path / "linked", 1.1e9, ()) == 0
    assert (precious / "20010909T014640Z" / "ws" / "a.md").read_text() == "a"


def test_missing_trash_is_no_error(tmp_path: Path) -> None:
    assert user_files.empty_trash(tmp_path / "trash", 1.1e9, ()) == 0
