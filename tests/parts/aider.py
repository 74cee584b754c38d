"""aider, an agent in a terminal: the package `aider-chat` of PyPI, with what it pins, in a folder.

It has 660 MB, and only the comparison of agents uses it: `python -m tests.parts` leaves it out.
"""

import subprocess
import sys
from pathlib import Path

from tests.parts.kept import MissingPart, kept

VERSION = "0.86.2"
SECONDS = 1800
PYTHONS = ((3, 10), (3, 12))
"""The oldest and the newest Python for which it has packages."""


def ensure() -> Path:
    """Return the folder to import it from: `PYTHONPATH=FOLDER python -m aider`.

    Raises:
        MissingPart: If this Python can't run it, or pip can't install it.
    """
    running = sys.version_info[:2]
    if not PYTHONS[0] <= running <= PYTHONS[1]:
        raise MissingPart(f"aider {VERSION} needs Python 3.10 to 3.12, not {running}")
    return kept(f"aider-{VERSION}-python{running[0]}.{running[1]}", _install)


def interpreter() -> str:
    """Return the Python without the packages of this environment, which aider's must not meet."""
    return getattr(sys, "_base_executable", "") or sys.executable


def _install(folder: Path) -> None:
    command = [
        sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder),
        f"aider-chat=={VERSION}",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"pip install aider-chat took more than {SECONDS} s") from error
    if done.returncode:
        raise MissingPart(f"pip can't install aider-chat {VERSION}: {done.stderr[-300:]}")
