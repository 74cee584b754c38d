"""`stet uninstall`: list what Stet has written outside of projects, and remove it after a yes.

Files that `stet config --write` has written are removed if they are as they were written. From
files that belong to the user only Stet's own lines are removed. Settings and changed files stay,
and the list says so.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from rich.text import Text

from stet.cli import neovim_config
from stet.cli.agents.known_agents import agents_with_hooks
from stet.cli.config_command import config_home, emacs_folder, remove_block
from stet.cli.files import InstalledFiles
from stet.cli.terminal import CliError, Terminal
from stet.settings.layers import user_file_path
from stet.system.runtime_folder import runtime_path
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.render import counted

PROGRAM = "To remove the program itself: pip uninstall stet-lsp (or pipx uninstall stet-lsp)"
MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that Stet has written outside of projects.

    Attributes:
        path: The path of the file or folder.
        what: What it is, in a few words.
        text: The text of the file without Stet's lines; None if the whole file or folder is
            removed.
        reason: Why it stays; "" if it is removed.
    """

    path: Path
    what: str
    text: str | None = None
    reason: str = ""


def run(*, yes: bool) -> int:
    """List what Stet has written, ask, remove it and return the exit code.

    Args:
        yes: Whether to remove without asking.

    Raises:
        CliError: If nobody can be asked, or something can't be removed.
    """
    terminal = Terminal()
    found = list(leftovers())
    removed = [item for item in found if not item.reason]
    for title, items in (("Will be removed:", removed), ("Stays:", [*_staying(found)])):
        if items:
            terminal.show(title, "bold")
        for item in items:
            terminal.show(_line(item))
    if not removed:
        terminal.show("Nothing to remove.")
    elif yes or _confirmed(terminal, len(removed)):
        for item in removed:
            _remove(item)
        terminal.show(f"Removed {counted(len(removed), 'item')}.")
    else:
        terminal.show("Nothing was removed.")
        return 1
    terminal.show(PROGRAM)
    return 0


def leftovers() -> Iterator[Leftover]:
    """Yield what Stet has written, in the order in which it is removed: the record of the files of
    `stet config --write` comes last.
    """
    yield from _config_files()
    yield from _shared_files()
    yield from _completion_files()
    yield from _agent_hooks()
    if user_file_path().is_file():
        yield Leftover(user_file_path(), "settings", reason="kept")
    yield from _notes()
    yield from _folders()


def _config_files() -> Iterator[Leftover]:
    """Yield the files that `stet config --write` has recorded."""
    if not _state_folder().is_dir():
        return  # loading the record would create the folder
    installed = InstalledFiles.load(System())
    for name in sorted(installed.hashes):
        path = Path(name)
        if path.is_file():
            is_changed = not installed.is_unchanged(path)
            reason = "changed by you" if is_changed else ""
            yield Leftover(path, "editor configuration", reason=reason)


def _shared_files() -> Iterator[Leftover]:
    """Yield the users' files in which `stet config --write` has put lines."""
    languages = config_home() / "helix" / "languages.toml"
    if (text := _read(languages)) and (rest := remove_block(text)) != text:
        yield Leftover(languages, "Stet's block for Helix", text=rest)
    site = neovim_config.site_folder()
    if text := _read(site / "doc" / "tags"):
        rest = neovim_config.help_tags(site, "").text
        if rest != text:
            yield Leftover(site / "doc" / "tags", "Stet's help tags for Neovim", text=rest)


def _completion_files() -> Iterator[Leftover]:
    """Yield what `stet --install-completion` has written."""
    home = Path.home()
    script = home / ".bash_completions" / "stet.sh"
    for path in (script, home / ".zfunc" / "_stet", home / ".config/fish/completions/stet.fish"):
        if path.is_file():
            yield Leftover(path, "shell completion")
    line, text = f"source '{script}'", _read(home / ".bashrc")
    if line in text.splitlines():
        rest = "".join(part for part in text.splitlines(keepends=True) if part.strip() != line)
        yield Leftover(home / ".bashrc", "the line that loads the completion", text=rest)


def _agent_hooks() -> Iterator[Leftover]:
    """Yield the settings of agents into which `stet agents install` has written hooks."""
    for agent in agents_with_hooks():
        for file in agent.files:
            if (rest := file.removal()) is not None:
                yield Leftover(file.path, f"Stet's hooks for {agent.title}", text=rest or None)


def _notes() -> Iterator[Leftover]:
    """Yield what only the user or an editor can remove."""
    init = emacs_folder() / "init.el"
    if "(stet-mode)" in _read(init):
        yield Leftover(init, "lines with `stet`", reason="kept")
    for folder in (".vscode", ".vscode-oss", ".cursor", ".local/share/code-server"):
        for path in Path.home().glob(f"{folder}/extensions/*.stet-[0-9]*"):
            reason = f"uninstall {path.name.rpartition('-')[0]} in the editor"
            yield Leftover(path, "editor extension", reason=reason)


def _folders() -> Iterator[Leftover]:
    """Yield Stet's own folders; a folder within another one is left out."""
    kinds = {
        platformdirs.user_data_path("stet", appauthor=False): "local models",
        platformdirs.user_cache_path("stet"): "search indexes",
        platformdirs.user_log_path("stet"): "logs",
        runtime_path(os.environ): "sockets, and copies for other agents",
        _state_folder(): "hunks, chats, and files that were removed by an accepted hunk",
    }
    for path, what in kinds.items():
        if path.is_dir() and not any(parent in kinds for parent in path.parents):
            yield Leftover(path, f"{what}, {_size(path) / MB:.1f} MB")


def _state_folder() -> Path:
    return platformdirs.user_state_path("stet")


def _size(folder: Path) -> int:
    """Return the size of all files in a folder, in bytes."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def _read(path: Path) -> str:
    """Return the text of a file; "" if it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _staying(found: list[Leftover]) -> Iterator[Leftover]:
    yield from (item for item in found if item.reason)


def _line(item: Leftover) -> Text:
    detail = item.what if not item.reason else f"{item.what}: {item.reason}"
    return Text.assemble("  ", escape_line(str(item.path)), (f"  ({escape_line(detail)})", "dim"))


def _confirmed(terminal: Terminal, n_items: int) -> bool:
    """Ask whether to remove.

    Raises:
        CliError: If nobody can be asked.
    """
    if not terminal.is_interactive:
        raise CliError("nothing was removed: use --yes to remove without asking", code=2)
    return input(f"Remove {counted(n_items, 'item')}? [y/N] ").strip().lower() in {"y", "yes"}


def _remove(item: Leftover) -> None:
    """Remove a file or a folder, or Stet's lines from a file.

    Raises:
        CliError: If it can't be removed.
    """
    try:
        if item.text and item.text.strip():
            item.path.write_text(item.text, encoding="utf-8")
        elif item.path.is_symlink() or item.path.is_file():
            item.path.unlink()
            _remove_empty_parents(item.path)
        else:
            shutil.rmtree(item.path)
    except FileNotFoundError:  # it was in a folder that is gone
        return
    except OSError as error:
        raise CliError(f"{item.path} can't be removed: {error.strerror or error}") from error


def _remove_empty_parents(path: Path) -> None:
    """Remove the folders that only held Stet's files: up to two, if they are empty."""
    for folder in list(path.parents)[:2]:
        if folder == Path.home() or any(folder.iterdir()):
            return
        folder.rmdir()
