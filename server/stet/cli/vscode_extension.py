"""The extension for VS Code: built from the sources that come with Stet, and installed."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from stet.cli.terminal import CliError
from stet.system.os_system import OsSystem
from stet.system.program import Program

PROGRAMS = ("code", "codium", "cursor", "code-server")
"""What takes the extension; the first on the PATH gets it."""
SECONDS = 600


def steps(folder: Path) -> str:
    """What a person types to have the extension, in a shell.

    Args:
        folder: The extension's sources.
    """
    return (
        f"cd {folder}\n"
        "npm ci --ignore-scripts && npm run package\n"
        "code --install-extension stet.vsix"
    )


def install(folder: Path) -> str:
    """Build the extension from `folder`, which stays as it is, and install it; gives the editor's name.

    Raises:
        CliError: If Node or the editor is missing, or a step fails.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise CliError("there is no npm on the PATH: install Node 22 or newer, which brings it")
    editor = next((program for name in PROGRAMS if (program := shutil.which(name))), None)
    if editor is None:
        raise CliError(f"none of {', '.join(PROGRAMS)} is on the PATH: name yours, see the README")
    with tempfile.TemporaryDirectory(prefix="stet-vscode-") as made:
        work = Path(made, "vscode")
        shutil.copytree(
            folder, work, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix")
        )
        # Scripts of packages don't run: none is needed, and each is a risk.
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], work)
        _run([npm, "run", "package"], work)
        _run([editor, "--install-extension", str(work / "stet.vsix")], work)
    return Path(editor).name


def _run(command: list[str], folder: Path) -> None:
    program = Program(tuple(command), folder, os.environ, SECONDS)
    try:
        ran = asyncio.run(OsSystem().run(program))
    except OSError as error:
        raise CliError(f"`{' '.join(command)}` failed: {error.strerror or error}") from error
    if ran.code != 0:
        output = (ran.tail or ran.head).decode(errors="replace").strip().splitlines()[-5:]
        raise CliError(f"`{' '.join(command)}` failed: {' '.join(output) or ran.ended_for}")
