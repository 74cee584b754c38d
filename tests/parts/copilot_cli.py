"""Copilot's agent in a terminal: the package `@github/copilot` of npm."""

import os
import subprocess
from pathlib import Path

from tests.parts.kept import MissingPart, kept
from tests.parts.npm import native_program

VERSION = "1.0.102"


def copilot_cli() -> Path:
    """The program, which needs no Node.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package, or none is made for this
            platform.
    """
    return native_program(f"@github/copilot@{VERSION}", "@github/copilot-{platform}/copilot")


def copilot_cache() -> Path:
    """The folder for caches (`XDG_CACHE_HOME`) in which the program has unpacked itself: 235 MB,
    which it would else do anew for each home.

    Raises:
        MissingPart: Where there is no program, or it can't unpack itself.
    """
    return kept(f"copilot-{VERSION}-cache", _unpack)


def _unpack(folder: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder),
        "COPILOT_AUTO_UPDATE": "false",
    }
    command = [str(copilot_cli()), "--version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingPart(f"Copilot CLI can't start: {done.stderr[-300:]}")
