"""Inline snapshots are compared by a plain run, and renewed only where that is asked for, never in
CI.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLUGINS = (
    "inline_snapshot.pytest_plugin",
    "pytest_asyncio.plugin",
    "pytest_timeout",
    "tests.support.snapshot_guard",
    "xdist",
)
TESTS = """\
from inline_snapshot import snapshot


def test_wrong():
    assert "a\\nb\\n" == snapshot({wrong})


def test_missing():
    assert 2 == snapshot({missing})


def test_right():
    assert 1 == snapshot(1)
"""
OUTDATED = TESTS.format(wrong='"a"', missing="")
RENEWED = TESTS.format(wrong='"""\\\na\nb\n"""', missing="2")


def run(folder: Path, *options: str, **env: str) -> tuple[int, str, str]:
    """Run outdated snapshots with the settings of this project; gives the exit code, the output and
    the file after the run.
    """
    file = folder / "test_it.py"
    file.write_text(OUTDATED)
    shutil.copy(ROOT / "pyproject.toml", folder)
    asked = ("INLINE_SNAPSHOT_DEFAULT_FLAGS", "CI", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS")
    clean = {name: value for name, value in os.environ.items() if name not in asked}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    plugins = [word for plugin in PLUGINS for word in ("-p", plugin)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *plugins, *options, file.name],
        cwd=folder,
        # Without the plugins of other packages, each of which costs a run half a second.
        env=clean
        | {"PYTHONPATH": str(ROOT), "PATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | env,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr, file.read_text()


@pytest.mark.parametrize("env", [{}, {"CI": "true"}], ids=["no CI", "CI"])
@pytest.mark.parametrize("options", [(), ("--numprocesses", "2")], ids=["one process", "two"])
def test_snapshots_are_compared_and_left_as_they_are(
    env: dict[str, str], options: tuple[str, ...], tmp_path: Path
) -> None:
    code, output, after = run(tmp_path, *options, **env)
    assert (code, after) == (pytest.ExitCode.TESTS_FAILED, OUTDATED), output
    assert "2 failed, 1 passed" in output
    files = {path.name for path in tmp_path.iterdir()}
    assert files - {"__pycache__"} == {"pyproject.toml", "test_it.py"}


def test_snapshots_are_renewed_where_that_is_asked_for(tmp_path: Path) -> None:
    _, output, after = run(tmp_path, "--inline-snapshot=create,fix")
    assert after == RENEWED, output


@pytest.mark.parametrize("options", [("--inline-snapshot=create,fix",), ()])
def test_snapshots_are_not_renewed_in_ci_though_that_is_asked_for(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    flags = {} if options else {"INLINE_SNAPSHOT_DEFAULT_FLAGS": "create,fix"}
    code, output, after = run(tmp_path, *options, CI="true", **flags)
    assert (code, after) == (pytest.ExitCode.USAGE_ERROR, OUTDATED), output
    assert "only compared in CI" in output
