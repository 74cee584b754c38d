"""Files kept between questions: given again as long as they may be shown and are what they were."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from stet.search import passage_reader as shown
from stet.search.passage_reader import ShownFiles
from stet.system.system import System
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Modification, ModificationKind, Workspace

LONG_AGO = 1_700_000_000


class Watched(System):
    """Records which files were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def read_bytes(self, path: Path, limit: int) -> bytes:
        self.read.append(path.name)
        return super().read_bytes(path, limit)

    def read_real(self, path: Path, limit: int) -> bytes:
        self.read.append(path.name)
        return super().read_real(path, limit)


class Place:
    """A workspace with one file that was shown once, so that it is kept."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.system = Watched()
        self.workspace = Workspace(self.system)
        self.workspace.add_root(uri_of(root))
        self.files = ShownFiles()
        self.file = self.write("src/app.py", "one\n")
        assert self.text() == "one\n"
        self.system.read.clear()

    def write(self, name: str, text: str, mtime: float = LONG_AGO) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (mtime, mtime))
        return path

    def text(self, snapshot: Snapshot | None = None, path: Path | None = None) -> str | None:
        with self.files.reader(snapshot or self.workspace.snapshot()) as show:
            found = show(uri_of(path or self.file))
        return None if found is None else found.document.text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "ws").mkdir()
    return Place(tmp_path / "ws")


def test_an_unchanged_file_is_not_read_again(place: Place) -> None:
    with place.files.reader(place.workspace.snapshot()) as show:
        found = show(uri_of(place.file))
    assert found is not None
    assert (found.name, found.document.text, place.system.read) == ("src/app.py", "one\n", [])


def test_a_changed_file_is_read_again(place: Place) -> None:
    place.write("src/app.py", "two\n", LONG_AGO + 1)
    assert (place.text(), place.system.read) == ("two\n", ["app.py"])


def test_a_file_that_is_gone_is_not_shown(place: Place) -> None:
    place.file.unlink()
    assert place.text() is None


def test_a_file_that_another_one_has_taken_the_place_of_is_read_again(place: Place) -> None:
    place.write("src/new.py", "three\n", LONG_AGO).replace(place.file)
    assert place.text() == "three\n"


def test_a_link_in_the_place_of_the_file_is_followed_by_the_filter(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.py").write_text("one\n")
    os.utime(tmp_path / "elsewhere.py", (LONG_AGO, LONG_AGO))
    place.file.unlink()
    place.file.symlink_to(tmp_path / "elsewhere.py")
    assert place.text() is None


def test_a_link_in_the_place_of_the_folder_is_followed_by_the_filter(
    place: Place, tmp_path: Path
) -> None:
    (place.root / "src").rename(tmp_path / "outside")
    (place.root / "src").symlink_to(tmp_path / "outside")
    assert place.text() is None


@pytest.mark.parametrize("ignore", [".gitignore", ".stetignore", "src/.gitignore"])
def test_a_file_that_an_ignore_file_names_now_is_not_shown(place: Place, ignore: str) -> None:
    place.write(ignore, "app.py\n")
    assert place.text() is None
    (place.root / ignore).unlink()
    assert place.text() == "one\n"


def test_changed_ignore_file_takes_effect(place: Place) -> None:
    place.write(".gitignore", "other.py\n")
    assert place.text() == "one\n"
    place.write(".gitignore", "app.py\n", LONG_AGO + 1)
    assert place.text() is None


def test_a_file_that_the_settings_deny_now_is_not_shown(place: Place) -> None:
    snapshot = place.workspace.snapshot()
    settings = replace(
        snapshot.settings, privacy=replace(snapshot.settings.privacy, deny=("app.py",))
    )
    assert place.text(replace(snapshot, settings=settings)) is None


def test_a_file_below_no_root_any_more_is_not_shown(place: Place) -> None:
    assert place.text(replace(place.workspace.snapshot(), roots=())) is None


def test_a_file_with_a_secret_name_is_not_shown(place: Place) -> None:
    secret = place.file.rename(place.root / "src" / ".env")
    assert (place.text(path=secret), place.text()) == (None, None)


def test_what_is_open_wins_and_what_is_closed_is_read_again(place: Place) -> None:
    uri = uri_of(place.file)
    place.workspace.apply(
        Modification(ModificationKind.OPENED, uri, text="unsaved", version=1, language_id="python")
    )
    assert place.text() == "unsaved"
    place.workspace.apply(Modification(ModificationKind.CLOSED, uri))
    assert place.text() == "one\n"


def test_what_was_written_just_now_is_not_kept(place: Place) -> None:
    fresh = place.write("src/fresh.py", "x", System().now())
    assert (place.text(path=fresh), place.text(path=fresh)) == ("x", "x")
    assert place.system.read == ["fresh.py", "fresh.py"]


def test_the_files_shown_last_are_kept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown, "MAX_CACHED", 10)
    other, third = place.write("b.py", "12345"), place.write("c.py", "12345")
    for path in (other, place.file, third, place.file, third, other):
        place.text(path=path)
    assert place.system.read == ["b.py", "c.py", "b.py"]
