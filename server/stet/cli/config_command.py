"""`stet config`: the client configuration of an editor, printed or put where the editor looks."""

import asyncio
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from stet.cli.editors import EDITORS, check_editor
from stet.cli.helix_config import languages_file
from stet.cli.terminal import CliError, Terminal
from stet.system.os_system import OsSystem
from stet.system.program import Program

PROGRAMS = ("code", "codium", "cursor", "code-server")
"""What takes the extension; the first on the PATH gets it."""
SECONDS = 600


def steps(folder: Path) -> str:
    """Return the shell commands that a person types to install the extension.

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


_SHIPPED = Path(__file__).with_name("clients")
_CHECKOUT = Path(__file__).parents[3] / "client-configs"
_LISP = ("stet-server.el", "stet-hunk.el", "stet.el")
"""Each needs those before it, so that all of them printed are one file that works."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file of a configuration.

    Attributes:
        target: Where the editor loads it by itself.
        text: All that is in it.
        has_user_content: Whether what the user wrote in it is in the text as well, so that it may be replaced.
    """

    target: Path
    text: str
    has_user_content: bool = False


@dataclass(frozen=True, slots=True)
class EditorConfig:
    """What an editor needs.

    Attributes:
        files: What `--write` writes.
        then: What is left to do by hand, a line each.
    """

    files: tuple[ConfigFile, ...]
    then: tuple[str, ...] = ("Restart the editor.",)


def run(editor: str, *, write: bool) -> int:
    """Print the configuration of `editor`, or write it, and see whether its version will do.

    Returns:
        The exit code.

    Raises:
        CliError: If it is missing from this installation, a file of the user's is in its place, or
            the editor can't take it.
    """
    terminal = Terminal()
    finding = asyncio.run(check_editor(EDITORS[editor], OsSystem()))
    if editor == "vscode":
        _vscode(terminal, write=write)
    else:
        configuration = _configuration(editor, is_old=bool(finding.fix))
        (_write if write else _print)(configuration, terminal)
    # VS Code's kin took the extension where there is no `code`; that has been said.
    is_said = editor == "vscode" and write and not finding.fix
    if finding.mark != "ok" and not is_said:
        terminal.say(f"{finding.about}: {finding.found}. {finding.fix}".strip(), "yellow")
    return 0


def _configuration(editor: str, *, is_old: bool) -> EditorConfig:
    match editor:
        case "neovim":
            return _neovim()
        case "emacs":
            return _emacs()
        case _:
            return _helix("config-25.01.toml" if is_old else "config.toml")


def _print(configuration: EditorConfig, terminal: Terminal) -> None:
    for file in configuration.files:
        if len(configuration.files) > 1:
            terminal.say(f"{file.target}:", "bold")
        terminal.out.file.write(file.text)


def _write(configuration: EditorConfig, terminal: Terminal) -> None:
    for file in configuration.files:
        if not file.has_user_content and _differs(file):
            raise CliError(f"{file.target} exists and differs: remove it first, or print and merge")
    for file in configuration.files:
        try:
            file.target.parent.mkdir(parents=True, exist_ok=True)
            # A user's file is never there by half.
            unfinished = file.target.with_name(f"{file.target.name}.stet-new")
            unfinished.write_text(file.text, encoding="utf-8")
            unfinished.replace(file.target.resolve())
        except OSError as error:
            reason = error.strerror or error
            raise CliError(f"{file.target} can't be written: {reason}") from error
        terminal.say(f"wrote {file.target}")
    for line in configuration.then:
        terminal.say(line)


def _differs(file: ConfigFile) -> bool:
    try:
        return file.target.read_text(encoding="utf-8") != file.text
    except FileNotFoundError:
        return False
    except (OSError, UnicodeDecodeError):
        return True


def _vscode(terminal: Terminal, *, write: bool) -> None:
    folder = _shipped("vscode")
    if not write:
        terminal.show(steps(folder))
        return
    with terminal.working("building the extension"):
        editor = install(folder)
    terminal.say(f"installed the extension into {editor}: reload its windows")


def _neovim() -> EditorConfig:
    return EditorConfig(
        (ConfigFile(_config_home() / "nvim/plugin/stet.lua", _text("neovim/stet.lua")),)
    )


def _emacs() -> EditorConfig:
    old = Path.home() / ".emacs.d"
    folder = old if old.is_dir() else _config_home() / "emacs"
    then = (
        f"Put these lines into {folder / 'init.el'} and restart Emacs:",
        '  (load (locate-user-emacs-file "stet"))',
        "  (stet-mode)",
        '  (keymap-global-set "C-c s" \'stet-command-map)',
    )
    return EditorConfig(tuple(ConfigFile(folder / n, _text(f"emacs/{n}")) for n in _LISP), then)


def _helix(keys_file: str) -> EditorConfig:
    program = shutil.which("hx") or shutil.which("helix")
    if program is None:
        raise CliError("Helix is not on the PATH: its own list of languages is needed")
    folder = _config_home() / "helix"
    languages, keys = folder / "languages.toml", folder / "config.toml"
    try:
        user_text = languages.read_text(encoding="utf-8")
    except FileNotFoundError:
        user_text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{languages} can't be read: {error}") from error
    files = [ConfigFile(languages, languages_file(Path(program), user_text), has_user_content=True)]
    shipped = ConfigFile(keys, _text(f"helix/{keys_file}"))
    if not keys.exists():
        files.append(shipped)
    then = ["Start hx in the project's root."]
    if _differs(shipped):
        then.insert(0, f"{keys} is yours already: add the keys of `stet config helix` to it.")
    return EditorConfig(tuple(files), tuple(then))


def _config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _shipped(name: str) -> Path:
    """Return the path of what Stet ships for an editor.

    Raises:
        CliError: If this installation has none.
    """
    for folder in (_SHIPPED, _CHECKOUT):  # a wheel has the first, an editable install the second
        if (folder / name).exists():
            return folder / name
    raise CliError(f"this installation of Stet has no configuration for {name}: reinstall it")


def _text(name: str) -> str:
    return _shipped(name).read_text(encoding="utf-8")
