"""`python -m tests`: which failed tests run again, and what the exit code is then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.long
FAILS_ONCE = """
    mark = pathlib.Path(__file__).with_name({name!r})
    if not mark.exists():
        mark.touch()
        raise AssertionError("beside others")
"""
PASSES = "\n    pass\n"
FAILS = "\n    raise AssertionError('always')\n"


def run(folder: Path, tests: dict[str, str]) -> tuple[int, str]:
    """Run tests, by name with their bodies; return the exit code and the output.

    A test whose name begins with `slow` has that marker.
    """
    lines = ["import pathlib\nimport pytest\n"]
    for name, body in tests.items():
        mark = "@pytest.mark.slow\n" if name.startswith("slow") else ""
        lines.append(f"{mark}def test_{name}():{body.replace('{name!r}', repr(name))}\n")
    (folder / "test_sample.py").write_text("\n".join(lines))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    command = [sys.executable, "-m", "tests"]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tests", "code", "is_flaky"),
    [
        ({"slow": PASSES, "other": PASSES}, 0, False),
        ({"slow": FAILS_ONCE, "other": PASSES}, 0, True),
        ({"slow": FAILS}, 1, False),
        ({"other": FAILS_ONCE}, 1, False),
        ({"slow": FAILS_ONCE, "other": FAILS}, 1, False),
        ({f"slow_{n}": FAILS_ONCE for n in range(9)}, 1, False),
    ],
    ids=["passed", "flaky", "failed twice", "not slow", "beside a real failure", "too many"],
)
def test_run_gives_a_failed_slow_test_a_second_run(
    tmp_path: Path, tests: dict[str, str], code: int, *, is_flaky: bool
) -> None:
    ended, output = run(tmp_path, tests)
    assert ended == code, output
    assert ("FLAKY" in output) == is_flaky


@pytest.mark.slow
def test_run_of_no_test_is_a_failure(tmp_path: Path) -> None:
    ended, _ = run(tmp_path, {})
    assert ended == pytest.ExitCode.NO_TESTS_COLLECTED
