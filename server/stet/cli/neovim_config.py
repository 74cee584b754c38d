"""The plugin for Neovim: where its files go, its help tags, and the migration from the single file.

Earlier versions were one file, `plugin/stet.lua` in the user's configuration, whose table of keys
and settings the user edited. Such a file is moved out of `plugin/`, since Neovim would load it
beside the plugin, and what was edited is returned as lines for `vim.g.stet`.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from stet.cli.files import ConfigFile, free_backup

HELP_FILE = Path("doc/stet.txt")
PROGRAM_FILE = Path("lua/stet/program.lua")

FIRST_LINE = "-- Stet for Neovim 0.11 or newer. Put this file into"
"""The beginning of every version of the single file."""

RELEASED = frozenset(
    {
        "bae6bd4ffde3114443b3b32bbeeafd5cee28541f2b956f5a67f0e818a5947a51",
        "3a2d2ba5355380eae34fa0ab284a0b9f0e86797a34e9185b1003295628bd587e",
        "4298de5ad6ee751e99d332a89b2c344f215ded76fa06208a844771812022f8b1",
        "fe47517a296eb7aab7c708fc2456e009f1a5a6e4b8118bc08ae851a6a981a56d",
        "18b609da7c5eaae255555d2d83869a225a0b1923ff4c257fc1b95167285a68d5",
        "4df8f0f5e404218848f6cd17df996d884c572f299c8ca70fd509044a743a2148",
        "e75410a2830926f4b367c029c6fb2ed3915cee6c3eb88f54a14ccd939696aaf7",
        "09dbc9008a936d6e3f46657278c0890d80e7b9876844cc40bd07b64671126fcb",
    }
)
"""The SHA-256 of each version of the single file, as it was shipped."""

OLD_KEYS = {
    "ask": ("ask", "<leader>a"),
    "rewrite the selection": ("rewrite", "<leader>r"),
    "ask without edits": ("explain", "<leader>e"),
    "do what the comment here says": ("comment", "<leader>i"),
    "accept the hunk": ("accept", "<leader>y"),
    "reject the hunk": ("reject", "<leader>n"),
    "accept all in this file": ("accept_all", "<leader>Y"),
    "reject all in this file": ("reject_all", "<leader>N"),
    "a way out of the conflict": ("resolve", "<leader>c"),
    "take the accepted hunk back": ("undo", "<leader>u"),
    "bring the rejected hunk back": ("restore", "<leader>b"),
    "review the file as a diff": ("review", "<leader>d"),
    "list what waits": ("list", "<leader>l"),
    "open the chat": ("chat", "<leader>t"),
    "begin a new chat": ("new_chat", "<leader>T"),
    "send what you wrote in the chat": ("send", "<leader>s"),
    "view what a question would send": ("context", "<leader>v"),
    "attach this file": ("attach", "<leader>+"),
    "take this file off": ("detach", "<leader>-"),
    "find in your own words": ("search", "<leader>f"),
    "answer what is asked": ("answer", "<leader>q"),
    "next hunk": ("next", "]h"),
    "previous hunk": ("previous", "[h"),
    "cancel": ("cancel", "<leader>x"),
}
"""The descriptions in the single file's table, with the action's name today and its key then."""

_KEY_LINE = re.compile(
    r"^\s*(?P<off>--)?\s*\{\s*(?:\{[^}]*\}|['\"]\w*['\"])\s*,\s*"
    r"(?P<lhs>'[^'\n]+'|\"[^\"\n]+\")\s*,\s*['\"](?P<desc>[^'\"\n]+)['\"]\s*,",
    re.MULTILINE,
)
_OPTION_LINE = re.compile(r"^\s*(?P<name>cmd|settings)\s*=\s*(?=\{)", re.MULTILINE)
_SHIPPED_OPTIONS = {"cmd": "{ 'stet', 'serve' }", "settings": "{ stet = {} }"}
_LUA_TOKEN = re.compile(
    r"--\[\[.*?\]\]|--[^\n]*|\[\[.*?\]\]|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[{}]", re.DOTALL
)


def site_folder() -> Path:
    """Return the folder of Neovim's data that it looks for plugins in."""
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / _app_name() / "site"


def config_folder() -> Path:
    """Return the folder of the user's configuration of Neovim."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return config / _app_name()


def _app_name() -> str:
    return os.environ.get("NVIM_APPNAME") or "nvim"


def plugin_files(folder: Path) -> dict[Path, str]:
    """Return the text of each file of the plugin in `folder`, by path relative to it."""
    paths = sorted(
        path
        for pattern in ("plugin/*.lua", "lsp/*.lua", "lua/stet/*.lua", "doc/*.txt")
        for path in folder.glob(pattern)
    )
    return {path.relative_to(folder): path.read_text(encoding="utf-8") for path in paths}


def program_file(program: str) -> str:
    """Return the text of `lua/stet/program.lua` that names the program to start."""
    return (
        "-- The program that is started, written by `stet config neovim --write`.\n"
        f"return {json.dumps(program, ensure_ascii=False)}\n"
    )


def help_tags(site: Path, text: str) -> ConfigFile:
    """Return the file of help tags with those of Stet, and those of other help files as they are.

    Args:
        site: The folder of the plugin.
        text: The text of Stet's help file.

    Raises:
        OSError: If the current file can't be read.
        UnicodeDecodeError: If it isn't UTF-8.
    """
    path, name = site / "doc" / "tags", HELP_FILE.name
    tags = path.read_text(encoding="utf-8") if path.exists() else ""
    others = {line for line in tags.splitlines() if line.split("\t")[1:2] != [name]}
    found = re.findall(r"(?<!\S)\*([^*\s|]+)\*(?!\S)", text)
    stet_tags = {f"{tag}\t{name}\t/*{tag}*" for tag in found}
    tags = "".join(f"{line}\n" for line in sorted(others | stet_tags))
    return ConfigFile(path, tags, has_user_content=True)


def migrate_single_file() -> tuple[str, ...]:
    """Move the single file of an earlier version out of the user's `plugin/` folder.

    Returns:
        The lines to show: what was done, and how to configure what the user had; empty if there is
        no such file. A file that isn't Stet's stays where it is.

    Raises:
        OSError: If the file can't be moved.
    """
    old = config_folder() / "plugin" / "stet.lua"
    try:
        text = old.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return ()
    if not text.startswith(FIRST_LINE):
        return ()
    backup = free_backup(config_folder() / "stet.lua")
    if old.is_symlink():  # its target is the user's, and a relative link would lead elsewhere
        backup.write_text(text, encoding="utf-8")
        old.unlink()
    else:
        old.replace(backup)
    return tuple(_migration_lines(text, backup))


def _migration_lines(text: str, backup: Path) -> Iterable[str]:
    yield f"moved your old plugin/stet.lua to {backup}: Stet is now a plugin, configured in init.lua"
    options = edited_options(text)
    keys = edited_keys(text)
    yield "The keys have a new prefix (`:help stet-keys`). To keep your keys and settings,"
    yield f"add these lines to {config_folder() / 'init.lua'}:"
    yield ""
    yield "vim.g.stet = {"
    if keys:
        yield "  keys = {"
        yield from (f"    {name} = {lhs}," for name, lhs in keys.items())
        yield "  },"
    else:
        yield "  keys = 'classic',"
    for name, value in options.items():
        yield from f"  {name} = {value},".split("\n")
    yield "}"
    yield ""
    if hashlib.sha256(text.encode()).hexdigest() not in RELEASED:
        yield f"Your other changes to the file are only in {backup}."


def edited_keys(text: str) -> dict[str, str]:
    """Return all keys of a single file as Lua, by action, if the user changed any."""
    shipped = {name: f"'{lhs}'" for name, lhs in OLD_KEYS.values()}
    found = dict(shipped)
    for line in _KEY_LINE.finditer(text):
        if action := OLD_KEYS.get(line["desc"]):
            found[action[0]] = "false" if line["off"] else line["lhs"]
    return found if found != shipped else {}


def edited_options(text: str) -> dict[str, str]:
    """Return `cmd` and `settings` of a single file as Lua, without those that are as shipped."""
    found = {}
    for option in _OPTION_LINE.finditer(text):
        value = _table_at(text, option.end())
        if value and " ".join(value.split()) != _SHIPPED_OPTIONS[option["name"]]:
            found[option["name"]] = value
    return found


def _table_at(text: str, start: int) -> str:
    """Return the Lua table that begins at an index; "" if its end isn't found."""
    depth = 0
    for token in _LUA_TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return text[start : token.end()]
    return ""
