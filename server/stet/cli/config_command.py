"""`stet config`: print or install the client configuration of an editor.

In Helix there is no server for all languages: each language has a list of servers, and a user's
list replaces the list of Helix. So the configuration gives every language its own servers, and Stet
as the last one, which leaves formatting, renaming and the like to the other servers. The languages
of Helix are compiled into its program, so they are read from the installed program: other versions
have other languages, and Helix refuses a file that names an unknown language.

A user's file may name a language twice; the later entry extends the earlier one. So the user's text
is not changed, and Stet's text is one block at the end.
"""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet.cli import neovim_config
from stet.cli.editor_check import EDITORS, check_editor, program_for_editors
from stet.cli.files import ConfigFile, InstalledFiles, keep_backup
from stet.cli.terminal import CliError, Terminal
from stet.system.program import Program
from stet.system.system import System
from stet.text.render import counted

PROGRAMS = (
    *("code", "codium", "cursor", "code-server"),
    *("code-insiders", "codium-insiders", "vscodium", "code-oss"),
)
"""Editors that run the extension; it is installed into each one that is found."""
APPLICATIONS = {"Visual Studio Code": "code", "VSCodium": "codium", "Cursor": "cursor"}
"""Applications of macOS that bring such a program, often without putting it on the PATH."""
SECONDS = 600


def find_programs(applications: Sequence[Path]) -> list[Path]:
    """Return the programs of all editors that run the extension, each once.

    Args:
        applications: The folders that hold applications of macOS.
    """
    on_path = [Path(program) for name in PROGRAMS if (program := shutil.which(name))]
    inside = [
        folder / f"{application}.app/Contents/Resources/app/bin" / name
        for folder in applications
        for application, name in APPLICATIONS.items()
    ]
    inside = [program for program in inside if os.access(program, os.X_OK)]
    found: dict[Path, Path] = {}
    for path in on_path + inside:
        found.setdefault(path.resolve(), path)
    return list(found.values())


def install(folder: Path) -> list[str]:
    """Build the extension from `folder`, install it, and return the editors' names.

    `folder` is not changed.

    Raises:
        CliError: If Node or the editor is missing, or a step fails.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise CliError("npm is not on the PATH: install Node 22 or newer")
    editors = find_programs((Path("/Applications"), Path.home() / "Applications"))
    if not editors:
        raise CliError(f"none of {', '.join(PROGRAMS)} is on the PATH")
    with tempfile.TemporaryDirectory(prefix="stet-vscode-") as made:
        work = Path(made, "vscode")
        shutil.copytree(
            folder, work, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix")
        )
        _set_program(work / "package.json", program_for_editors(System()))
        # Install scripts of packages are not needed, and are a security risk.
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], work)
        _run([npm, "run", "package"], work)
        for editor in editors:
            _run([str(editor), "--install-extension", str(work / "stet.vsix")], work)
    return [editor.name for editor in editors]


def _set_program(manifest: Path, program: str) -> None:
    """Set the program that an extension starts where the PATH of a login shell does not have it."""
    if program == "stet":
        return
    package = json.loads(manifest.read_text(encoding="utf-8"))
    configuration = package["contributes"]["configuration"]
    groups = configuration if isinstance(configuration, list) else [configuration]
    for group in groups:
        if setting := group["properties"].get("stet.path"):
            setting["default"] = program
    manifest.write_text(json.dumps(package, indent=2), encoding="utf-8")


def _run(command: list[str], folder: Path) -> None:
    program = Program(tuple(command), folder, os.environ, SECONDS)
    try:
        ran = asyncio.run(System().run(program))
    except OSError as error:
        raise CliError(f"`{' '.join(command)}` failed: {error.strerror or error}") from error
    if ran.code != 0:
        output = (ran.tail or ran.head).decode(errors="replace").strip().splitlines()[-5:]
        raise CliError(f"`{' '.join(command)}` failed: {' '.join(output) or ran.ended_for}")


_SHIPPED = Path(__file__).with_name("clients")
_CHECKOUT = Path(__file__).parents[3] / "client-configs"
_LISP = (
    "stet-server.el",
    "stet-overlays.el",
    "stet-review.el",
    "stet-hunk.el",
    "stet-chat.el",
    "stet-menu.el",
    "stet.el",
)
"""In order of dependency: printed one after the other, they are one valid file."""


_NEOVIM_THEN = (
    "Restart Neovim and open a file. <leader>ka asks (the default leader is \\).",
    ":help stet lists all keys.",
)


@dataclass(frozen=True, slots=True)
class EditorConfig:
    """The configuration of one editor.

    Attributes:
        files: The files that `--write` writes.
        then: The remaining manual steps, one line each.
        folder: The folder from which files of earlier installations are removed.
    """

    files: tuple[ConfigFile, ...]
    then: tuple[str, ...]
    folder: Path | None = None


def run(editor: str, *, write: bool, force: bool = False) -> int:
    """Print or write the configuration of `editor`, and check the editor's version.

    Args:
        editor: The editor's name in `EDITORS`.
        write: Whether to write the files or, for VS Code, to install the extension.
        force: Whether to replace files that the user has changed, with a backup of each.

    Returns:
        The exit code.

    Raises:
        CliError: If this installation lacks the configuration, a file was changed by the user, or
            the editor can't use it.
    """
    terminal = Terminal()
    finding = asyncio.run(check_editor(EDITORS[editor], System()))
    if editor == "vscode":
        _vscode(terminal, write=write)
    elif editor == "neovim" and not write:
        terminal.out.file.write(_NEOVIM_LINES.format(folder=_shipped("neovim")))
    else:
        configuration = _configuration(editor, is_old=bool(finding.fix))
        if write:
            _write(configuration, terminal, force=force)
        else:
            _print(configuration, terminal)
    if editor == "neovim" and write:
        for line in neovim_config.migrate_single_file():
            terminal.say(line)
    # Without `code`, another editor got the extension; this has been reported.
    is_reported = editor == "vscode" and write and not finding.fix
    if finding.mark != "ok" and not is_reported:
        terminal.say(f"{finding.about}: {finding.found}. {finding.fix}".strip(), "yellow")
    return 0


_NEOVIM_LINES = """\
-- `stet config neovim --write` installs the plugin. To load it from here, add to init.lua:
vim.opt.runtimepath:append([[{folder}]])
-- or, with lazy.nvim, the plugin {{ dir = [[{folder}]] }}
"""


def _configuration(editor: str, *, is_old: bool) -> EditorConfig:
    if editor == "neovim":
        return _neovim()
    if editor == "emacs":
        return _emacs()
    return _helix(OLD_KEYS_FILE if is_old else "config.toml")


def _print(configuration: EditorConfig, terminal: Terminal) -> None:
    for file in configuration.files:
        if len(configuration.files) > 1:
            terminal.say(f"{file.target}:", "bold")
        terminal.out.file.write(file.text)


def _write(configuration: EditorConfig, terminal: Terminal, *, force: bool) -> None:
    installed = InstalledFiles.load(System())
    edited = [file.target for file in configuration.files if installed.is_edited(file)]
    if edited and not force:
        names = ", ".join(map(str, edited))
        raise CliError(f"you have changed {names}: `--force` replaces it and keeps a backup")
    try:
        for path in edited:
            terminal.say(f"your {path.name} is now {keep_backup(path)}")
        written = installed.write(configuration.files)
        if configuration.folder:
            installed.remove_obsolete(configuration.folder, configuration.files)
    except OSError as error:
        reason = error.strerror or error
        raise CliError(f"{error.filename} can't be written: {reason}") from error
    _report(configuration, written, terminal)


def _report(configuration: EditorConfig, written: Sequence[Path], terminal: Terminal) -> None:
    """Show what was written, and what is left to do."""
    if configuration.folder and written:
        terminal.say(f"wrote {counted(len(written), 'file')} to {configuration.folder}")
    else:
        for target in written:
            terminal.say(f"wrote {target}")
    if not written:
        terminal.say("Everything is up to date.")
    for line in configuration.then if written or configuration.then != _NEOVIM_THEN else ():
        terminal.say(line)


def _neovim() -> EditorConfig:
    site = neovim_config.site_folder()
    texts = neovim_config.plugin_files(_shipped("neovim"))
    if (command := program_for_editors(System())) != "stet":
        texts[neovim_config.PROGRAM_FILE] = neovim_config.program_file(command)
    files = [ConfigFile(site / path, text) for path, text in texts.items()]
    try:
        files.append(neovim_config.help_tags(site, texts[neovim_config.HELP_FILE]))
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"the help tags in {site} can't be read: {error}") from error
    return EditorConfig(tuple(files), _NEOVIM_THEN, site)


def _vscode(terminal: Terminal, *, write: bool) -> None:
    folder = _shipped("vscode")
    if not write:
        terminal.show(
            f"cd {folder}\n"
            "npm ci --ignore-scripts && npm run package\n"
            "code --install-extension stet.vsix"
        )
        return
    with terminal.working("building the extension"):
        editors = install(folder)
    prefix = "Ctrl+Cmd+A" if sys.platform == "darwin" else "Alt+A"
    terminal.say(f"installed the extension into {' and '.join(editors)}")
    terminal.say(f"Reload its windows and open a file. {prefix}, then a, asks.")


def emacs_folder() -> Path:
    """Return the folder of the user's configuration of Emacs."""
    old = Path.home() / ".emacs.d"
    return old if old.is_dir() else config_home() / "emacs"


def _emacs() -> EditorConfig:
    folder = emacs_folder()
    program = program_for_editors(System())
    path: tuple[str, ...] = ()
    if program != "stet":
        place = json.dumps(str(Path(program).parent), ensure_ascii=False)
        path = (
            f"  (add-to-list 'exec-path {place})",
            f'  (setenv "PATH" (concat {place} ":" (getenv "PATH")))',
        )
    then = (
        f"Put these lines into {folder / 'init.el'} and restart Emacs. C-c x a then asks:",
        *path,
        '  (load (locate-user-emacs-file "stet"))',
        "  (stet-mode)",
        '  (keymap-global-set "C-c x" \'stet-command-map)',
    )
    return EditorConfig(tuple(ConfigFile(folder / n, _text(f"emacs/{n}")) for n in _LISP), then)


OLD_KEYS_FILE = "config-25.01.toml"
"""The keys for a Helix without commands with arguments."""


def _helix(keys_file: str) -> EditorConfig:
    program = shutil.which("hx") or shutil.which("helix")
    if program is None:
        raise CliError("Helix is not on the PATH, and its list of languages is needed")
    folder = config_home() / "helix"
    languages, keys = folder / "languages.toml", folder / "config.toml"
    try:
        user_text = languages.read_text(encoding="utf-8")
    except FileNotFoundError:
        user_text = ""
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{languages} can't be read: {error}") from error
    stet = program_for_editors(System())
    new_text = languages_file(Path(program), user_text, stet)
    files = [ConfigFile(languages, new_text, has_user_content=True)]
    shipped = ConfigFile(keys, _text(f"helix/{keys_file}"))
    first = "\\t opens the chat." if keys_file == OLD_KEYS_FILE else "\\a asks."
    then = [f"Start hx in the project's root and open a file. {first}"]
    if not keys.exists():
        files.append(shipped)
    elif shipped.differs():
        then.insert(0, f"{keys} already exists: add the keys of `stet config helix` to it.")
    return EditorConfig(tuple(files), tuple(then))


def config_home() -> Path:
    """Return the folder of the user's configurations."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _shipped(name: str) -> Path:
    """Return the path of a file or folder that Stet ships for an editor.

    Raises:
        CliError: If this installation does not contain `name`.
    """
    for folder in (_SHIPPED, _CHECKOUT):  # a wheel has the first, an editable install the second
        if (folder / name).exists():
            return folder / name
    raise CliError(f"this installation of Stet has no configuration for {name}: reinstall it")


def _text(name: str) -> str:
    return _shipped(name).read_text(encoding="utf-8")


BEGIN = "# Stet: begin. Made by `stet config helix`, which replaces it up to the end mark."
END = "# Stet: end."
SERVER = '[language-server.stet]\ncommand = {}\nargs = ["serve"]\n'
PLAIN_TEXT = {"name": "text", "scope": "text.plain", "file-types": ["txt"]}
"""A language for plain text, added if Helix has none, so that such files have a server."""
LARGEST_WRAPPER = 1_000_000
"""Bytes; a smaller program is a wrapper that starts Helix."""

Language = Mapping[str, Any]


def languages_file(program: Path, user_text: str, stet: str = "stet") -> str:
    """Return the whole text of a `languages.toml`.

    Args:
        program: Helix, or a script that starts it.
        user_text: The current text of the user's file; empty if there is no file. All of it is
            preserved except the block that an earlier call has added.
        stet: The command that starts Stet.

    Raises:
        CliError: If the program isn't Helix, or the user's file can't be extended.
    """
    mine = remove_block(user_text)
    try:
        message = tomllib.loads(mine)
    except tomllib.TOMLDecodeError as error:
        raise CliError(
            f"your languages.toml is not valid TOML, so Helix ignores it: {error}"
        ) from error
    text = f"{mine.rstrip()}\n\n".lstrip() + block(default_languages(program), message, stet)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CliError(
            "can't add to your languages.toml: write each language as [[language]] and each server "
            f"as [language-server.NAME], and give Stet's server a command ({error})"
        ) from error
    return text


def remove_block(text: str) -> str:
    """Return a user's file without the block that an earlier call has added.

    Raises:
        CliError: If the text does not contain exactly one begin mark and one end mark, in order.
    """
    begins, ends = text.count(BEGIN), text.count(END)
    if (begins, ends) == (0, 0):
        return text
    head, _, rest = text.partition(BEGIN)
    _, match, tail = rest.partition(END)
    if (begins, ends) != (1, 1) or not match:
        raise CliError(
            f"your languages.toml has {counted(begins, 'line')} {BEGIN!r} and "
            f"{counted(ends, 'line')} {END!r}: remove what `stet config helix` wrote there, "
            "then run it again"
        )
    return f"{head.rstrip()}\n{tail.lstrip()}".lstrip()


def block(defaults: Sequence[Language], user_values: Mapping[str, Any], stet: str = "stet") -> str:
    """Return the block to add: the server, and each language's list of servers with Stet last.

    Args:
        defaults: The languages Helix comes with, in its order.
        user_values: The parsed user's file without Stet's block.
        stet: The command that starts Stet.
    """
    theirs = user_values.get("language-server", {}).get("stet", {})
    parts = [BEGIN, "" if "command" in theirs else SERVER.format(_toml(stet))]
    mine = {language["name"]: language for language in user_values.get("language", ())}
    known = {language["name"]: language for language in defaults}
    languages = [{**known.get(name, {}), **mine.get(name, {})} for name in known | mine]
    if not any("txt" in language.get("file-types", ()) for language in languages):
        parts.append(_entry(PLAIN_TEXT, ["stet"]))
    for language in languages:
        servers = language.get("language-servers", [])
        # The other languages occur only inside files of these languages.
        has_files = language.get("file-types") or language.get("shebangs")
        if has_files and not any(_name(server) == "stet" for server in servers):
            parts.append(_entry({"name": language["name"]}, [*servers, "stet"]))
    return "\n".join(part for part in [*parts, END] if part) + "\n"


def default_languages(program: Path) -> list[Language]:
    """Return the languages compiled into a Helix program, in its order.

    Raises:
        CliError: If the program contains no languages.
    """
    for candidate in (program, *_started_by(program)):
        if text := _compiled_in(candidate.read_bytes()):
            languages: list[Language] = tomllib.loads(text)["language"]
            return languages
    raise CliError(
        f"{program} doesn't contain Helix's list of languages: put Helix itself on the PATH, "
        "not a script that starts it"
    )


def _compiled_in(data: bytes) -> str:
    """Return the TOML of the languages and grammars in a program; "" if there is none."""
    first = data.find(b"\n[[language]]\n")
    if first < 0:
        return ""
    text = re.split(rb"[\x00-\x08\x0e-\x1f]", data[first:], maxsplit=1)[0].decode(errors="replace")
    # Other texts of the program follow at once: cut the last table after its valid TOML.
    begin = max(text.rfind("\n[[language]]\n"), text.rfind("\n[[grammar]]\n"))
    lines = text[begin:].split("\n")
    while not _is_toml("\n".join(lines)):
        lines.pop()
    return text[:begin] + "\n".join(lines)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _started_by(program: Path) -> Iterator[Path]:
    """Yield the programs that a wrapper names by path. Distributions put a wrapper around Helix."""
    if program.stat().st_size > LARGEST_WRAPPER:
        return
    for name in re.findall(rb"/[^\x00-\x20\"'`:;$*?\\]+", program.read_bytes()):
        path = Path(name.decode(errors="replace"))
        if re.search(r"hx|helix", path.name) and path.is_file():
            yield path


def _name(server: str | Mapping[str, Any]) -> str:
    return server if isinstance(server, str) else str(server["name"])


def _entry(values: Mapping[str, Any], servers: Sequence[Any]) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
    return "\n".join(["[[language]]", *lines, f"language-servers = {_toml(servers)}", ""])


def _toml(value: object) -> str:
    """Return a string, list, table with plain keys, or number as TOML on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)  # other values are written as in JSON
