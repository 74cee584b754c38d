"""`make` with an unsuitable Python: error and remedy are printed before anything is made."""

import os
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def make(goal: str, python: Path, made: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", goal, f"PYTHON={python}", f"VENV={made}"],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], "HOME": str(made.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def program(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("goal", ["demo", "test"])
def test_an_older_python_is_named_and_makes_nothing(goal: str, tmp_path: Path) -> None:
    # `-c` fails, like the version check in an old Python.
    body = 'case "$1" in --version) echo Python 3.9.18;; -c) exit 1;; *) mkdir -p "$3/bin";; esac'
    old, made = program(tmp_path / "python3", body), tmp_path / "made"
    done = make(goal, old, made)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        f"Stet needs Python 3.11 or newer, and {old} is Python 3.9.18: "
        f"make {goal} PYTHON=/path/to/python"
    )
    assert not made.exists()


def test_without_python_it_is_reported_how_to_name_one(tmp_path: Path) -> None:
    done = make("demo", tmp_path / "none", tmp_path / "made")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        f"there is no {tmp_path / 'none'}: install Python 3.11 or newer, "
        "or name yours: make demo PYTHON=/path/to/python"
    )


def test_an_environment_that_was_begun_and_failed_is_not_used_the_next_time(tmp_path: Path) -> None:
    """Fail as on a Debian without `python3-venv`, which leaves a Python without pip."""
    begins = (
        'case "$1" in -c) exit 0;; *) mkdir -p "$3/bin"; touch "$3/bin/python"; '
        'chmod +x "$3/bin/python"; echo "apt install python3-venv"; exit 1;; esac'
    )
    half, made = program(tmp_path / "python3", begins), tmp_path / "made"
    for _ in range(2):
        done = make("demo", half, made)
        assert (done.returncode, done.stdout) == (2, "apt install python3-venv\n")
