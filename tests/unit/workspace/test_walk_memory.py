"""A walk that remembers what the one before decided comes to the same files as one that does
not.
"""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.workspace import walk
from stet.workspace.names import Refusal
from stet.workspace.paths import Root
from stet.workspace.privacy_filter import PrivacyFilter
from stet.workspace.workspace import Workspace
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import close_document, make_workspace, open_document, uri_at

pytestmark = pytest.mark.slow


FOLDERS = ("", "src/", "src/deep/", "docs/", "build/", ".git/", "old/")
NAMES = ("a.py", "b.md", ".env", "key.pem", "data.bin", "notes.txt", "ü.md", ".gitignore")
IGNORES = ("*.md\n", "build/\n", "!b.md\n", "deep\n", "", "/a.py\n")
TEXTS = (b"text\n", b"\0\1binary", b"", b"other text\n")
SETTINGS = (
    Settings(),
    Settings(privacy=PrivacySettings(deny=("*.txt",))),
    Settings(context=ContextSettings(excluded_folders=("docs",))),
)
STEPS = 60


def walked(world: Workspace, *, only_text: bool = True) -> list[tuple[str, str, object]]:
    """What a walk comes to, which is what one without a memory does."""
    snapshot = world.snapshot()
    assert snapshot.walk_memory is not None
    found = list(snapshot.walk(only_text=only_text))
    fresh = list(replace(snapshot, walk_memory=None).walk(only_text=only_text))
    assert found == fresh
    assert [each.stat for each in found] == [each.stat for each in fresh]
    return [(each.uri, each.name, each.path) for each in found]


def step(world: Workspace, disk: MemorySystem, dice: random.Random, number: int) -> None:
    """One thing happens on the disk, in the editor or in the settings."""
    path = f"/ws/{dice.choice(FOLDERS)}{dice.choice(NAMES)}"
    what = dice.randrange(9)
    if what < 3:
        disk.add_file(path, dice.choice(TEXTS), mtime=float(number))
    elif what == 3:
        name = dice.choice((".gitignore", ".stetignore"))
        disk.add_file(
            f"/ws/{dice.choice(FOLDERS)}{name}", dice.choice(IGNORES), mtime=float(number)
        )
    elif what == 4:
        disk.add_file("/ws/.git/info/exclude", dice.choice(IGNORES), mtime=float(number))
    elif what == 5:
        disk.remove(path)
    elif what == 6:
        open_document(world, uri_at(path), f"open {number}\n")
    elif what == 7 and (opened := world.snapshot().documents):
        close_document(world, dice.choice(sorted(each.uri for each in opened.values())))
    else:
        world.with_settings(dice.choice(SETTINGS))


@pytest.mark.parametrize("seed", range(25))
def test_cached_walk_finds_the_same_files_after_any_changes(seed: int) -> None:
    dice = random.Random(seed)
    world = make_workspace({"/ws/a.py": "", "/ws/src/deep/b.md": "", "/other/c.py": ""})
    disk = world.snapshot().system
    assert isinstance(disk, MemorySystem)
    for number in range(1, STEPS):
        step(world, disk, dice, number)
        walked(world, only_text=dice.random() < 0.8)
        if number == STEPS // 2:
            world.add_root(dice.choice(("file:///other", "file:///ws/src")))


def test_a_folder_that_a_link_above_the_root_now_leads_to_is_decided_anew() -> None:
    world = make_workspace(
        {"/one/a.py": "", "/two/a.py": "\0"}, links={"/ws": "/one"}, roots=("/ws",)
    )
    disk = world.snapshot().system
    assert isinstance(disk, MemorySystem)
    assert [name for _, name, _ in walked(world)] == ["a.py"]
    disk.remove("/ws")
    disk.add_link("/ws", "/two")
    assert walked(world) == []


def test_what_is_as_it_was_is_neither_read_nor_judged_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"/ws/{folder}/{n}.py" for folder in ("a", "b") for n in range(20)]
    world = make_workspace(dict.fromkeys(names, "x\n"))
    disk = world.snapshot().system
    assert isinstance(disk, MemorySystem)
    assert len(list(world.snapshot().walk())) == 40
    judged: list[tuple[str, ...]] = []
    read: list[Path] = []
    check, read_bytes = PrivacyFilter.check_level, MemorySystem.read_bytes

    def judge(
        self: PrivacyFilter, root: Root, parts: tuple[str, ...], **how: bool
    ) -> Refusal | None:
        judged.append(parts)
        return check(self, root, parts, is_folder=how["is_folder"], is_asked=how["is_asked"])

    def reading(self: MemorySystem, path: Path, limit: int) -> bytes:
        read.append(path)
        return read_bytes(self, path, limit)

    monkeypatch.setattr(PrivacyFilter, "check_level", judge)
    monkeypatch.setattr(MemorySystem, "read_bytes", reading)
    disk.add_file("/ws/b/7.py", "y\n", mtime=5.0)
    assert len(list(world.snapshot().walk())) == 40
    assert judged == [("b", "7.py")]
    assert read == [Path("/ws/b/7.py")]


def test_with_too_many_names_the_rest_is_decided_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walk, "MAX_REMEMBERED", 10)
    world = make_workspace({f"/ws/{folder}/{n}.py": "" for folder in "abc" for n in range(6)})
    assert len(walked(world)) == 18
    assert len(walked(world)) == 18
