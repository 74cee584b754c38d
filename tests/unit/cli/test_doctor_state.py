"""What the doctor says of Stet's own folders and files."""

import errno
import shutil
import sqlite3
import tempfile
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest

from stet.cli.doctor import check_folders, check_log, check_settings_files, check_state
from stet.cli.finding import Finding
from stet.lsp.observability import TRACE
from stet.observability.crash_reports import ReportDirectory
from stet.observability.log_handlers import log_file_path
from stet.settings.layers import read_layers
from stet.storage.schema import MIGRATIONS
from stet.storage.state_store import StateStore
from stet.system.system import System
from stet.workspace.uris import uri_of

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of Stet's own for this test."""
    for name in ("STATE", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path


def database(root: Path) -> Path:
    """Have a server keep something of `root`; gives the file."""
    store = StateStore(System(), lambda: [uri_of(root)], lambda message: None)
    store.number("turn")
    store.close()
    return store.folder / "state.db"


def kept(root: Path) -> list[Finding]:
    return list(check_state(System(), root))


def test_missing_state_folders_are_reported_as_writable(home: Path) -> None:
    assert [(one.mark, one.about) for one in check_folders()] == [
        ("ok", "state"),
        ("ok", "cache"),
        ("ok", "log"),
    ]
    assert list(home.iterdir()) == []


def test_a_file_in_the_place_of_a_folder_is_a_problem(home: Path) -> None:
    (home / "STATE").write_text("x")
    state, cache, log = check_folders()
    assert [state.mark, cache.mark, log.mark] == ["problem", "ok", "problem"]
    assert state.found.endswith("STATE is not a folder")


def test_unwritable_disk_is_a_problem_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*arguments: object, **more: object) -> object:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    for found in check_folders():
        assert found.mark == "problem"
        assert found.found.endswith("is not writable: No space left on device")
        assert found.fix.startswith("Free some space")


def test_a_disk_that_is_nearly_full_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**9, 10**9, 3_000_000))
    assert {(one.mark, one.found[-14:]) for one in check_folders()} == {
        ("problem", "only 3 MB free")
    }


def test_settings_that_can_not_be_read_are_named(home: Path) -> None:
    config = home / "CONFIG" / "stet" / "config.toml"
    config.mkdir(parents=True)
    (home / ".stet.toml").symlink_to(home / "nowhere")
    layers = read_layers(System().read_bytes, [home])
    user, project = check_settings_files(layers, home)
    assert (user.mark, project.mark) == ("problem", "problem")
    assert user.found == f"{config} can't be read and is ignored"
    assert project.found == f"{home / '.stet.toml'} can't be read and is ignored"


def test_reports_and_a_trace_are_named() -> None:
    assert list(check_log()) == []
    report = ReportDirectory().save("report")
    path = log_file_path(TRACE)
    path.write_text("asked")
    trace, reports = check_log()
    assert (trace.mark, trace.found) == ("note", str(path))
    assert reports.found == f"1 crash report, the newest: {report}"


def test_empty_state_is_no_problem(home: Path) -> None:
    assert kept(home) == [Finding("ok", "history", f"nothing stored for {home} yet")]


def test_a_whole_database_is_counted(home: Path) -> None:
    path = database(home)
    assert kept(home) == [Finding("ok", "history", f"0 hunks, {path}")]


def test_a_damaged_database_is_a_problem(home: Path) -> None:
    path = database(home)
    path.write_bytes(b"no database" * 1000)
    [found] = kept(home)
    assert found.mark == "problem"
    assert "is damaged" in found.found


def test_a_database_of_a_later_version_is_a_problem(home: Path) -> None:
    path = database(home)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    [found] = kept(home)
    assert found.found == f"{path} was written by a newer version of Stet"


def test_a_locked_database_is_a_problem(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.cli.doctor._LOCKED_SECONDS", 0)
    path = database(home)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        [found] = kept(home)
        connection.execute("ROLLBACK")
    assert found.found == f"{path} stays locked"


def test_two_servers_on_one_folder_are_reported(home: Path) -> None:
    stores = [StateStore(System(), lambda: [uri_of(home)], lambda message: None) for _ in range(2)]
    for store in stores:
        store.number("turn")
    try:
        whole, servers = kept(home)
    finally:
        for store in stores:
            store.close()
    assert whole.mark == "ok"
    assert (servers.mark, servers.found) == ("note", f"2 servers are running for {home}")
    assert len(kept(home)) == 1
