"""The supported editors: their versions, and how they start this installation."""

import asyncio
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from stet.cli.finding import Finding
from stet.system.helper_process import output_of
from stet.system.system import System

VERSION_SECONDS = 15
LOGIN_SECONDS = 10
"""The limit for a login shell that reads its files."""


@dataclass(frozen=True, slots=True)
class EditorSpec:
    """A supported editor and its required version.

    Attributes:
        name: The name shown to the user.
        command: The command that prints the editor's version.
        needs: The first version with all functions that Stet uses.
        why: The functions that older versions lack.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[int, int]
    why: str


EDITORS = {
    "neovim": EditorSpec(
        "Neovim", ("nvim", "--version"), (0, 11), "vim.lsp.config and commands with arguments"
    ),
    "vscode": EditorSpec(
        "VS Code", ("code", "--version"), (1, 91), "what the extension is built for"
    ),
    "helix": EditorSpec("Helix", ("hx", "--version"), (25, 7), "commands with arguments"),
    "emacs": EditorSpec(
        "Emacs", ("emacs", "--version"), (30, 1), "eglot with commands and resource operations"
    ),
}
"""The editors by their name in `stet config`."""


async def check_editor(editor: EditorSpec, system: System) -> Finding:
    """Report whether an editor is installed and new enough."""
    try:
        output = (await output_of(system, editor.command, VERSION_SECONDS)).decode(errors="replace")
    except OSError:  # the program is missing, or hangs: a TimeoutError is an OSError
        return Finding("note", editor.name, "not found")
    version = re.search(r"(\d+)\.(\d+)(?:\.\d+)*", output)
    if version is None:
        return Finding("note", editor.name, f"unknown version: {output.strip()[:60]!r}")
    if (int(version[1]), int(version[2])) >= editor.needs:
        return Finding("ok", editor.name, version[0])
    needed = f"{editor.needs[0]}.{editor.needs[1]:0{len(version[2])}}"
    fix = f"Install {needed} or newer, which has {editor.why}."
    return Finding("note", editor.name, f"{version[0]} is too old", fix)


def program_for_editors(system: System) -> str:
    """Return the command that starts this installation from an editor.

    Returns:
        `stet` if a new login shell finds this installation by that name; otherwise its whole path.
    """
    installed = Path(sys.executable).with_name("stet")
    if not installed.is_file():
        return "stet"
    environ = system.environ()
    user = {name: environ[name] for name in ("HOME", "USER", "LOGNAME") if name in environ}
    command = (environ.get("SHELL") or "/bin/sh", "-l", "-c", "command -v stet")
    try:
        output = asyncio.run(output_of(system, command, LOGIN_SECONDS, env=user))
    except OSError:  # as above
        return str(installed)
    found = output.decode(errors="replace").strip().rpartition("\n")[2]
    return (
        "stet"
        if found and os.path.realpath(found) == os.path.realpath(installed)
        else str(installed)
    )
