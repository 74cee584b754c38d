"""The log file."""

import logging
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from stet.observability.crash_reports import FaultLog, ReportDirectory
from stet.observability.log_format import PrivateFormatter
from stet.observability.log_handlers import MAX_FILES, RETRY_SECONDS, LazyLogFile, log_file_path


def test_the_log_file_comes_with_the_first_record_and_is_the_owners(tmp_path: Path) -> None:
    path = tmp_path / "stet" / "log" / "stet.log"
    handler = LazyLogFile(path)
    handler.setFormatter(PrivateFormatter("%(message)s"))
    assert not path.parent.exists()
    handler.handle(logging.makeLogRecord({"msg": "a\x1b[8mb\r"}))
    handler.close()
    assert path.read_text() == "a\\x1b[8mb\\x0d\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.parent.stat().st_mode & 0o777 == 0o700


def test_unwritable_log_file_is_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "log").write_text("a file, no folder")
    handler = LazyLogFile(tmp_path / "log" / "stet.log")
    for _ in range(2):
        handler.handle(logging.makeLogRecord({"msg": "x"}))
    assert caplog.text.count("Can't write a log file") == 1


def test_log_file_that_cannot_be_rotated_is_reported_once_and_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "stet.log"
    path.write_bytes(b"x" * 1_000_000)
    path.with_name("stet.log.2").touch()
    path.with_name("stet.log.3").mkdir()
    handler = LazyLogFile(path)
    for _ in range(2):
        handler.handle(logging.makeLogRecord({"msg": "x"}))
    handler.close()
    assert caplog.text.count("Can't write a log file") == 1
    assert capsys.readouterr().err == ""


def test_a_record_that_cannot_be_formatted_does_not_end_the_log_file(tmp_path: Path) -> None:
    handler = LazyLogFile(tmp_path / "stet.log")
    handler.setFormatter(PrivateFormatter("%(message)s"))
    handler.handle(logging.makeLogRecord({"msg": "%d", "args": ("no number",), "name": "lib"}))
    handler.handle(logging.makeLogRecord({"msg": "x"}))
    handler.close()
    lines = (tmp_path / "stet.log").read_text().splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == ["a record that can't be written", "x"]


def test_full_log_file_is_rotated_and_three_older_ones_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "stet.log"
    handler = LazyLogFile(path, max_bytes=1_000)
    handler.setFormatter(PrivateFormatter("%(message)s"))
    for number in range(100):
        handler.handle(logging.makeLogRecord({"msg": f"{number:04} {'line ' * 20}"}))
    handler.close()
    names = sorted(one.name for one in tmp_path.iterdir())
    assert names == ["stet.log", "stet.log.1", "stet.log.2", "stet.log.3"]
    assert all(one.stat().st_size <= 1_000 for one in tmp_path.iterdir())
    assert {one.stat().st_mode & 0o777 for one in tmp_path.iterdir()} == {0o600}
    assert path.read_text().splitlines()[-1].startswith("0099 ")


def test_two_servers_have_a_file_each_and_lose_no_line(tmp_path: Path) -> None:
    servers = [LazyLogFile(tmp_path / f"stet-{n}.log", max_bytes=20_000) for n in range(2)]
    for number in range(200):
        for n, server in enumerate(servers):
            server.setFormatter(PrivateFormatter("%(message)s"))
            server.handle(logging.makeLogRecord({"msg": f"{n}-{number:04} {'line ' * 20}"}))
    for server in servers:
        server.close()
    for n in range(2):
        files = sorted(tmp_path.glob(f"stet-{n}.log*"))
        assert len(files) == 2
        assert all(one.stat().st_size <= 20_000 for one in files)
        lines = [line.partition(" ")[0] for one in files for line in one.read_text().splitlines()]
        assert sorted(lines) == [f"{n}-{number:04}" for number in range(200)]


def test_a_process_names_its_file_by_its_number() -> None:
    assert log_file_path().name == f"stet-{os.getpid()}.log"


def test_of_the_files_of_earlier_processes_only_the_newest_stay(tmp_path: Path) -> None:
    older = [tmp_path / f"stet-{n}.log{'.1' * (n % 2)}" for n in range(MAX_FILES + 5)]
    others = [tmp_path / "model-trace-1.log", tmp_path / "notes.txt"]
    for age, file in enumerate([*older, *others]):
        file.touch()
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    server = LazyLogFile(tmp_path / "stet-999.log")
    server.handle(logging.makeLogRecord({"msg": "x"}))
    server.close()
    kept = [tmp_path / "stet-999.log", *older[: MAX_FILES - 1], *others]
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_the_shared_log_of_earlier_versions_goes_with_the_oldest_files(tmp_path: Path) -> None:
    shared = [tmp_path / name for name in ("stet.log", "stet.log.1", "stet.log.3")]
    newer = [tmp_path / f"stet-{n}.log" for n in range(MAX_FILES - 2)]
    for age, file in enumerate([*newer, *shared]):
        file.write_text("a line of an earlier version\n")
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    server = LazyLogFile(tmp_path / "stet-999.log")
    server.handle(logging.makeLogRecord({"msg": "x"}))
    server.close()
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "stet-999.log", *newer, shared[0]])
    assert shared[0].read_text() == "a line of an earlier version\n"


def test_removed_log_file_is_created_again(tmp_path: Path) -> None:
    path = tmp_path / "stet.log"
    server = LazyLogFile(path)
    server.handle(logging.makeLogRecord({"msg": "x"}))
    path.unlink()
    server.handle(logging.makeLogRecord({"msg": "y"}))
    server.close()
    assert path.read_text() == "y\n"


def test_a_full_disk_costs_lines_and_never_reaches_whoever_logs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = [0.0]
    server = LazyLogFile(tmp_path / "stet.log", clock=lambda: now[0])
    server.handle(logging.makeLogRecord({"msg": "before"}))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for _ in range(2):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
        try:
            for second in range(100):
                now[0] += second
                server.handle(logging.makeLogRecord({"msg": "x" * 10_000}))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        now[0] += RETRY_SECONDS
        server.handle(logging.makeLogRecord({"msg": "there is room"}))
    server.close()
    lines = (tmp_path / "stet.log").read_text().splitlines()
    assert [line[-13:] for line in lines if "x" not in line] == ["before", *["there is room"] * 2]
    assert caplog.text.count("Can't write a log file") == 1


def test_record_that_fails_to_format_raises_nothing(tmp_path: Path) -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    server = LazyLogFile(tmp_path / "stet.log")
    server.setFormatter(PrivateFormatter("%(message)s"))
    server.handle(logging.makeLogRecord({"msg": "%s", "args": (Odd(),)}))
    server.handle(logging.makeLogRecord({"msg": "after"}))
    server.close()
    assert (tmp_path / "stet.log").read_text().splitlines()[-1] == "after"


def at_the_file(place: Path, other: Path) -> None:
    place.parent.mkdir(parents=True)
    place.symlink_to(other / "secret.txt")


def at_nothing(place: Path, other: Path) -> None:
    place.parent.mkdir(parents=True)
    place.symlink_to(other / "new.txt")


def at_a_folder(place: Path, other: Path) -> None:
    place.parent.parent.mkdir(parents=True)
    place.parent.symlink_to(other)


def at_the_folder_above(place: Path, other: Path) -> None:
    place.parent.parent.parent.mkdir(parents=True)
    place.parent.parent.symlink_to(other)


def by_a_second_name(place: Path, other: Path) -> None:
    place.parent.mkdir(parents=True)
    os.link(other / "secret.txt", place)


def by_a_pipe(place: Path, other: Path) -> None:
    place.parent.mkdir(parents=True)
    os.mkfifo(place)


Trap = Callable[[Path, Path], None]
TRAPS = [at_the_file, at_nothing, at_a_folder, at_the_folder_above, by_a_second_name, by_a_pipe]


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("what", ["log", "report", "notes"])
def test_nothing_is_written_through_a_link(tmp_path: Path, trap: Trap, what: str) -> None:
    other, log = tmp_path / "other", tmp_path / "state" / "stet" / "log"
    other.mkdir()
    (other / "secret.txt").write_text("mine")
    shelf = ReportDirectory(log / "crashes")
    if what == "log":
        trap(log / "stet.log", other)
        server = LazyLogFile(log / "stet.log")
        server.handle(logging.makeLogRecord({"msg": "x"}))
        server.close()
    elif what == "notes":
        trap(shelf.folder / f"running-{os.getpid()}.txt", other)
        notes = FaultLog(shelf)
        if trap in {at_a_folder, at_the_folder_above}:
            with pytest.raises(OSError, match="link"):
                notes.begin(["a fact"])
        else:
            assert notes.begin(["a fact"]) == 0
        notes.end()
    elif trap in {at_a_folder, at_the_folder_above}:
        trap(shelf.folder / "crash-1.txt", other)
        with pytest.raises(OSError, match="link"):
            shelf.save("x")
    assert {path.name: path.read_text() for path in other.iterdir()} == {"secret.txt": "mine"}


def test_what_lies_above_stets_own_folders_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    server = LazyLogFile(tmp_path / "home" / "stet" / "log" / "stet.log")
    server.handle(logging.makeLogRecord({"msg": "x"}))
    server.close()
    assert (tmp_path / "disk" / "stet" / "log" / "stet.log").read_text().strip() == "x"
