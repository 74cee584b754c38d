import logging
import subprocess
import sys

import pytest

from stet.settings.values import ContextSettings, PrivacySettings, Settings
from stet.text.document import TextDocument
from stet.workspace import walk
from stet.workspace.disk_text import MAX_FILE_BYTES
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.workspace import Workspace
from tests.support.memory_system import START, MemorySystem
from tests.support.workspaces import make_workspace, open_document


def names(snapshot: Snapshot, folder: str = "") -> list[str]:
    return [located.name for located in snapshot.walk(folder)]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"caf\xc3\xa9\r\n", "café\r\n"),
        (b"\xef\xbb\xbfx", "x"),
        (b"caf\xe9", "café"),
        (b"", ""),
    ],
)
def test_text_from_the_disk_is_utf8_or_latin1(data: bytes, text: str) -> None:
    uri = "file:///ws/a.txt"
    assert make_workspace({"/ws/a.txt": data}).snapshot().show(uri) == TextDocument(uri, text)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/ws/none", "missing"),
        ("/ws/sub", "special"),
        ("/ws/bin", "binary"),
        ("/ws/big", "too-large"),
    ],
)
def test_what_is_no_text_file_is_not_shown(path: str, rule: str) -> None:
    files: dict[str, str | bytes] = {
        "/ws/sub/a": "",
        "/ws/bin": b"a\0b",
        "/ws/big": "x" * (MAX_FILE_BYTES + 1),
    }
    with pytest.raises(NotShown) as refused:
        make_workspace(files).snapshot().show(f"file://{path}")
    assert refused.value.rule == rule
    assert repr(path.removeprefix("/ws/")) in refused.value.message


def test_open_text_is_shown_whatever_its_size() -> None:
    big = "x" * (MAX_FILE_BYTES + 1)
    world = make_workspace({"/ws/a": b"\0"}, opened={"/ws/a": big})
    assert world.snapshot().show("file:///ws/a").text == big


def test_a_walk_is_sorted_and_leaves_out_what_may_not_be_shown() -> None:
    files: dict[str, str | bytes] = {
        "/ws/b/z.py": "", "/ws/b/a.py": "", "/ws/a.md": "", "/ws/c.py": "", "/ws/.env": "",
        "/ws/.git/config": "", "/ws/node_modules/x/y.js": "", "/ws/pic.png": "", "/ws/data": b"\0",
        "/ws/big.txt": "x" * (MAX_FILE_BYTES + 1), "/ws/deny.me": "", "/ws/odd\x1b[8m.md": "",
        "/ws/.gitignore": "node_modules/\n", "/ws/b/.gitignore": "z*\n", "/outside": "",
    }  # fmt: skip
    settings = Settings(privacy=PrivacySettings(deny=("*.me",)))
    links = {"/ws/out": "/", "/ws/twin.md": "/ws/a.md", "/ws/b/up": "/ws"}
    snapshot = make_workspace(files, links=links, settings=settings).snapshot()
    assert names(snapshot) == [".gitignore", "a.md", "b/.gitignore", "b/a.py", "c.py"]
    assert names(snapshot, "b") == ["b/.gitignore", "b/a.py"]
    assert names(snapshot, "node_modules") == []


def test_a_walk_counts_open_documents_with_the_text_they_have() -> None:
    world = make_workspace(
        {"/ws/a.md": "", "/ws/b/x.bin": ""},
        opened={
            "/ws/b/new.py": "",
            "/ws/b/x.bin": "",
            "untitled:n": "",
            "/else/where.md": "",
            "/ws/.env": "",
        },
    )
    snapshot = world.snapshot()
    assert names(snapshot) == ["a.md", "b/x.bin", "/else/where.md", "b/new.py", "untitled:n"]
    assert names(snapshot, "b") == ["b/x.bin", "b/new.py"]


def test_walk_through_a_link_visits_its_target() -> None:
    files = {"/ws/real/a.md": "", "/ws/real/b.log": "", "/ws/.gitignore": "/real/*.log"}
    snapshot = make_workspace(files, links={"/ws/link": "/ws/real"}).snapshot()
    assert names(snapshot, "link") == ["real/a.md"]


def test_roots_inside_each_other_are_walked_once() -> None:
    files = {"/ws/a.md": "", "/ws/sub/b.md": ""}
    snapshot = make_workspace(files, roots=("/ws", "/ws/sub")).snapshot()
    assert names(snapshot) == ["sub/b.md", "ws/a.md"]


def test_walk_is_bounded_and_reports_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(walk, "MAX_ENTRIES", 3)
    files = {f"/ws/{letter}": "" for letter in "abcdef"}
    with caplog.at_level(logging.WARNING):
        assert names(make_workspace(files).snapshot()) == ["a", "b"]
    assert "more than 3 names" in caplog.text


def test_a_root_that_is_itself_ignored_nowhere_but_secret_is_not_walked() -> None:
    assert names(make_workspace({"/me/.ssh/a": ""}, roots=("/me/.ssh",)).snapshot()) == []


def test_siblings_are_the_files_of_one_folder() -> None:
    files = {"/ws/b/z.py": "", "/ws/b/a.py": "", "/ws/b/sub/c.py": "", "/ws/d.py": ""}
    snapshot = make_workspace(files, opened={"/ws/b/new.py": "", "untitled:n": ""}).snapshot()
    found = [located.name for located in snapshot.siblings("file:///ws/b/a.py")]
    assert found == ["b/a.py", "b/new.py", "b/z.py"]
    assert list(snapshot.siblings("untitled:n")) == []
    assert list(snapshot.siblings("file:///else/a")) == []


def test_a_changed_ignore_file_is_read_again() -> None:
    system = MemorySystem({"/ws/.gitignore": "*.md\n", "/ws/a.md": ""})
    world = Workspace(system)
    world.add_root("file:///ws")
    assert names(world.snapshot()) == [".gitignore"]
    system.time += 1
    system.add_file("/ws/.gitignore", "*.py\n")
    assert names(world.snapshot()) == [".gitignore", "a.md"]


@pytest.mark.parametrize(
    ("files", "shown"),
    [
        ({"/ws/.gitignore": "*.log", "/ws/b/.gitignore": "!x.log"}, True),
        ({"/ws/.gitignore": "b/", "/ws/b/.gitignore": "!x.log"}, False),
        ({"/ws/b/.gitignore": "*.log\n", "/ws/.gitignore": "!*.log"}, False),
        ({"/ws/.gitignore": "*.log", "/ws/.stetignore": "!x.log"}, True),
        ({"/ws/.stetignore": "*.log", "/ws/b/.gitignore": "!x.log"}, False),
        ({"/ws/.stetignore": "*.log", "/ws/b/.stetignore": "!x.log"}, True),
        ({"/ws/.git/info/exclude": "*.log"}, False),
        ({"/ws/.git/info/exclude": "*.log", "/ws/.gitignore": "!x.log"}, True),
        ({"/ws/.gitignore": b"\xff\xfe[\n*.log\r\n"}, False),
    ],
)
def test_deeper_ignore_files_win_and_ignored_folders_are_not_walked(
    files: dict[str, str | bytes], shown: bool
) -> None:
    snapshot = make_workspace({**files, "/ws/b/x.log": ""}).snapshot()
    assert ("b/x.log" in names(snapshot)) is shown


def test_an_ignore_file_that_is_a_link_is_not_followed() -> None:
    snapshot = make_workspace(
        {"/ws/a.md": "", "/etc/x": "*.md"}, links={"/ws/.gitignore": "/etc/x"}
    ).snapshot()
    assert names(snapshot) == ["a.md"]


def test_times_are_the_disks() -> None:
    system = MemorySystem({"/ws/a.md": ""})
    world = Workspace(system)
    world.add_root("file:///ws")
    open_document(world, "file:///ws/a.md", "unsaved")
    open_document(world, "untitled:n", "")
    snapshot = world.snapshot()
    assert snapshot.mtime("file:///ws/a.md") == START
    assert snapshot.mtime("untitled:n") is None
    assert snapshot.mtime("file:///ws/none") is None
    assert snapshot.exists("file:///ws/a.md")
    assert snapshot.exists("untitled:n")
    assert not snapshot.exists("file:///ws/none")


def test_excluded_folders_are_not_walked() -> None:
    settings = Settings(context=ContextSettings(excluded_folders=("priv",)))
    world = make_workspace({"/ws/priv/a.md": "", "/ws/b.md": ""}, settings=settings)
    assert names(world.snapshot()) == ["b.md"]


def test_the_world_loads_nothing_heavy() -> None:
    code = (
        "import sys, stet.workspace.workspace;"
        "print({'pathspec', 'pydantic', 'openai', 'typer', 'rich', 'pygls'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
