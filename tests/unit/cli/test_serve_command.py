"""Options of `stet serve`."""

import subprocess
import sys

import pytest

from stet.cli.serve_command import ServeUsageError, parse_arguments

LIGHT = """
import sys
import stet.cli.main, stet.cli.serve_command
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
    with pytest.raises(ServeUsageError):
        parse_arguments(arguments)


def test_the_way_to_the_server_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", LIGHT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
