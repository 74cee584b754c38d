"""`stet config`: the client configuration of an editor, printed or put where the editor looks."""

import os
from pathlib import Path

from stet.cli.terminal import CliError, Terminal

_SHIPPED = Path(__file__).with_name("clients")
_CHECKOUT = Path(__file__).parents[3] / "client-configs"
FILES = {"neovim": Path("neovim", "stet.lua")}
"""Each editor's file below `client-configs`."""


def run(editor: str, *, write: bool) -> int:
    """Print the configuration of `editor`, or write it; the exit code.

    Raises:
        CliError: If it is missing from this installation, or another file is in its place.
    """
    terminal = Terminal()
    text = configuration(editor)
    if not write:
        terminal.out.file.write(text)
        return 0
    target = target_path(editor)
    if target.exists() and target.read_text(encoding="utf-8") != text:
        raise CliError(f"{target} exists and differs: remove it first, or print and merge")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CliError(f"{target} can't be written: {error.strerror or error}") from error
    terminal.say(f"wrote {target}: restart the editor")
    return 0


def configuration(editor: str) -> str:
    """The text of an editor's configuration, as it comes with Stet.

    Raises:
        CliError: If this installation has none.
    """
    for folder in (_SHIPPED, _CHECKOUT):  # a wheel has the first, an editable install the second
        path = folder / FILES[editor]
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise CliError(f"this installation of Stet has no configuration for {editor}: reinstall it")


def target_path(editor: str) -> Path:
    """Where the editor loads it by itself."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    folders = {"neovim": home / "nvim" / "plugin"}
    return folders[editor] / FILES[editor].name
