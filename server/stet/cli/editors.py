"""The supported editors, their required versions, and the findings of checks."""

import re
from dataclasses import dataclass

from stet.system.helper_process import output_of
from stet.system.system import System


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report of `stet doctor`.

    Attributes:
        mark: `ok`; `note`: works with fewer functions; `problem`: does not work.
        about: The subject of the check, in a word or two.
        found: The result of the check.
        fix: The remedy; empty if there is nothing to do.
    """

    mark: str
    about: str
    found: str
    fix: str = ""


VERSION_SECONDS = 5


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
        return Finding("note", editor.name, f"says no version: {output.strip()[:60]!r}")
    if (int(version[1]), int(version[2])) >= editor.needs:
        return Finding("ok", editor.name, version[0])
    needed = f"{editor.needs[0]}.{editor.needs[1]:0{len(version[2])}}"
    fix = f"Install {needed} or newer, which has {editor.why}."
    return Finding("note", editor.name, f"{version[0]} is too old", fix)
