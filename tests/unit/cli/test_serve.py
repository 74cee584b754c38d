"""Options and log of `stet serve`."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from stet.cli.serve import EscapedFormatter, LazyLogFile, UsageError, parse_arguments

LIGHT = """
import sys
import stet.cli.main, stet.cli.serve
heavy = {"typer", "rich", "click", "pydantic", "openai", "platformdirs", "socket"}
sys.exit(" ".join(heavy & sys.modules.keys()) or 0)
"""


@pytest.mark.parametrize(
    ("arguments", "level"),
    [
        ([], ""),
        (["--stdio"], ""),
        (["--log-level", "debug"], "debug"),
        (["--log-level=info", "--stdio"], "info"),
    ],
)
def test_options(arguments: list[str], level: str) -> None:
    assert parse_arguments(arguments) == level


@pytest.mark.parametrize(
    "arguments", [["--tcp"], ["x"], ["--log-level"], ["--log-level=loud"], ["--stdio=1"]]
)
def test_anything_else_is_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_arguments(arguments)


def test_the_way_to_the_server_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LIGHT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_log_file_comes_with_the_first_record_and_is_the_owners(tmp_path: Path) -> None:
    path = tmp_path / "stet" / "log" / "stet.log"
    handler = LazyLogFile(path)
    handler.setFormatter(EscapedFormatter("%(message)s"))
    assert not path.parent.exists()
    handler.handle(logging.makeLogRecord({"msg": "a\x1b[8mb\r"}))
    handler.close()
    assert path.read_text() == "a\\x1b[8mb\\x0d\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.parent.parent.stat().st_mode & 0o777 == 0o700


def test_a_log_file_that_cannot_be_written_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "log").write_text("a file, no folder")
    handler = LazyLogFile(tmp_path / "log" / "stet.log")
    for _ in range(2):
        handler.handle(logging.makeLogRecord({"msg": "x"}))
    assert caplog.text.count("No log file is written") == 1


def test_a_log_file_that_cannot_be_rotated_is_said_once_and_given_up(
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
    assert caplog.text.count("No log file is written") == 1
    assert capsys.readouterr().err == ""


def test_a_record_that_cannot_be_formatted_does_not_end_the_log_file(tmp_path: Path) -> None:
    handler = LazyLogFile(tmp_path / "stet.log")
    handler.setFormatter(EscapedFormatter("%(message)s"))
    handler.handle(logging.makeLogRecord({"msg": "%d", "args": ("no number",)}))
    handler.handle(logging.makeLogRecord({"msg": "x"}))
    handler.close()
    assert (tmp_path / "stet.log").read_text() == "x\n"
