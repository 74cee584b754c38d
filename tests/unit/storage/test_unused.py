"""State folders of workspaces that are gone: which are dropped, and which stay."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stet.storage.unused import drop_unused, note_roots
from stet.system.file_lock import FileLock
from tests.support.state_stores import TestedStore

OLD, BEFORE = 1.0e9, 1.1e9


def make_unused(base: Path, name: str = "ws") -> Path:
    """The state folder of a workspace that is gone and was used last in September 2001."""
    store = TestedStore(base / "state", roots=((base / name).as_uri(),))
    store.number("turn")
    store.close()
    note_roots(store.folder, [base / name])
    age(store.folder)
    return store.folder


def age(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (OLD, OLD), follow_symlinks=False)


def test_the_state_of_a_workspace_that_is_gone_goes_after_a_while(tmp_path: Path) -> None:
    folder = make_unused(tmp_path)
    assert drop_unused(folder.parent, OLD - 1) == ()
    assert drop_unused(folder.parent, BEFORE) == (folder,)
    assert list(folder.parent.iterdir()) == []
    assert drop_unused(folder.parent, BEFORE) == ()


def test_state_stays_as_long_as_one_root_exists(tmp_path: Path) -> None:
    folder = make_unused(tmp_path)
    note_roots(folder, [tmp_path / "ws", tmp_path / "other"])
    age(folder)
    (tmp_path / "other").mkdir()
    assert drop_unused(folder.parent, BEFORE) == ()
    (tmp_path / "other").rmdir()
    assert drop_unused(folder.parent, BEFORE) == (folder,)


def used_lately(folder: Path) -> None:
    os.utime(folder / "state.db", (BEFORE, BEFORE))


def of_unknown_roots(folder: Path) -> None:
    (folder / "roots.json").unlink()


def of_no_roots(folder: Path) -> None:
    (folder / "roots.json").write_text("[]")


def of_senseless_roots(folder: Path) -> None:
    (folder / "roots.json").write_text('["relative", 7')


def of_relative_roots(folder: Path) -> None:
    (folder / "roots.json").write_text('["relative"]')


def with_a_users_file(folder: Path) -> None:
    (folder / "notes.md").write_text("mine")


def with_a_users_folder(folder: Path) -> None:
    (folder / "owners" / "mine").mkdir()


def with_a_link(folder: Path) -> None:
    (folder / "state.db-wal").symlink_to(folder / "state.db")


def with_linked_owners(folder: Path) -> None:
    (folder / "owners").rmdir()
    (folder / "owners").symlink_to(folder.parent)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        of_unknown_roots,
        of_no_roots,
        of_senseless_roots,
        of_relative_roots,
        with_a_users_file,
        with_a_users_folder,
        with_a_link,
        with_linked_owners,
        used_lately,
    ],
)
def test_what_is_not_as_stet_leaves_it_stays_whole(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    folder = make_unused(tmp_path)
    make(folder)
    if make is not used_lately:
        age(folder)
    before = sorted(folder.rglob("*"))
    assert drop_unused(folder.parent, BEFORE) == ()
    assert sorted(folder.rglob("*")) == before


def test_folder_of_another_name_or_reached_by_a_link_stays(tmp_path: Path) -> None:
    folder = make_unused(tmp_path)
    aside = folder.rename(folder.with_name("none"))
    (aside.parent / folder.name).symlink_to(aside)
    assert drop_unused(folder.parent, BEFORE) == ()
    aside.rename(tmp_path / folder.name)
    (aside.parent / folder.name).unlink()
    (tmp_path / "linked").symlink_to(tmp_path)
    assert drop_unused(tmp_path / "linked", BEFORE) == ()
    assert (tmp_path / folder.name / "state.db").exists()


def test_what_a_server_has_open_or_is_opening_stays(tmp_path: Path) -> None:
    folder = make_unused(tmp_path)
    for name in ("owners/abc.lock", "opening.lock"):
        lock = FileLock.acquire(folder / name)
        assert lock is not None
        age(folder)
        assert drop_unused(folder.parent, BEFORE) == ()
        assert (folder / "state.db").exists()
        lock.release()
        age(folder)
    assert drop_unused(folder.parent, BEFORE) == (folder,)


def test_where_there_is_no_database_no_roots_are_written(tmp_path: Path) -> None:
    note_roots(tmp_path / "x", [tmp_path])
    assert list(tmp_path.iterdir()) == []
