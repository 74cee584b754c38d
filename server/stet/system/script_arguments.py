"""Which arguments of well-known programs are scripts or programs themselves: pure.

Where it can't be told, the answer is yes: a user can write what is meant in another way, while what a
model has written into a script has run.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

SHELLS = r"(?:ba|da|k|mk|pdk|z|c|tc|fi|a|ya|xon|el|rba|r)?sh|nu|elvish|cmd|powershell|pwsh|powershell_ise"
_ENDING = re.compile(r"\.(?:exe|com|bat|cmd)$")

_TAKES_C = re.compile(rf"(?:{SHELLS}|su|runuser|flock|script)[\d.-]*")
_C = re.compile(r"[-+][a-z]*c[a-z]*|--(?:[a-z]+-)?command|/[ckr]", re.IGNORECASE)
"""What makes the next word a script, alone or among other letters."""
_JOINED_C = re.compile(r"[-+][a-z]*c|--(?:[a-z]+-)?command=", re.IGNORECASE)
_HAS_VALUE = re.compile(r"[-+][a-z]*o|--rcfile|--init-file", re.IGNORECASE)
_JOINS = re.compile(r"(?:cmd|powershell|pwsh|powershell_ise)[\d.-]*")
"""Shells that make one script of all that follows."""
_JOINS_FROM = re.compile(r"/[ckr]|-c|-cwa|-command|-commandwithargs", re.IGNORECASE)

_ALWAYS_RUNS_SCRIPTS = re.compile(
    r"ssh|sqlite3?|red|ed|tmux|screen|watch|parallel|crontab|at|batch"
)
"""Whatever these are given can act: words for another shell, lines of a language that runs programs."""
_BY_OPTION = tuple(
    (re.compile(names), re.compile(options))
    for names, options in (
        (r"scp|sftp", r"-[oSD]|-[a-zA-Z]*o"),
        (r"rsync", r"-[a-zA-Z]*e|--rsh|--rsync-path"),
        (
            r"(?:bsd|g)?tar",
            r"-[a-zA-Z]*[IF]|--(?:checkpoint-action|to-command|use-compress-program|rsh-command"
            r"|info-script|new-volume-script)",
        ),
        (r"g?sort", r"--compress-program"),
        (r"psql|mysql|mariadb", r"-[a-zA-Z]*[ce]|--(?:command|execute|init-command)"),
        (r"nix-shell|nix", r"--(?:run|command)|-c"),
        (
            r"git",
            r"-[xO]|--(?:upload-pack|receive-pack|exec|exec-path|config|config-env|extcmd|template"
            r"|open-files-in-pager|\w+-filter)|foreach|run",
        ),
    )
)
GIT_VALUES = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace"})
_MODULE = re.compile(r"-[a-zA-Z]*m(?:timeit|pdb)")
_MODULES = frozenset({"timeit", "pdb"})
"""Python's own that run what they are given."""


def program_name(part: str) -> str:
    """Return the name of a program in lower case, without its folder and the ending Windows adds."""
    name = PurePosixPath(part.strip().replace("\\", "/")).name.lower()
    return _ENDING.sub("", name)


def script_flag_of_program(argv: Sequence[str], program: int, at: int) -> str:
    """Return the element that makes `argv[at]` a script for the program at `argv[program]`, else
    "".
    """
    name = program_name(argv[program])
    between, part = argv[program + 1 : at], argv[at]
    if _ALWAYS_RUNS_SCRIPTS.fullmatch(name):
        return argv[program]
    found = ""
    if _TAKES_C.fullmatch(name):
        found = _of_shell(name, between, part)
    elif name == "git":
        found = _of_git(between)
    elif name.startswith(("python", "pypy")):
        found = _of_python(between)
    return found or _by_option(name, between, part)


def _by_option(name: str, between: Sequence[str], part: str) -> str:
    for names, options in _BY_OPTION:
        if not names.fullmatch(name):
            continue
        if between and options.fullmatch(between[-1]):
            return between[-1]
        joined = options.match(part)
        if joined and (part.startswith("--") or "{" in part[: joined.end() + 1]):
            return part
    return ""


def _of_shell(name: str, between: Sequence[str], part: str) -> str:
    if _JOINS.fullmatch(name):
        return next((one for one in between if _JOINS_FROM.fullmatch(one)), "")
    if _JOINED_C.match(part):
        return part
    script = ""
    for before, one in pairwise(("", *between)):
        if _C.fullmatch(one):
            script = one
        elif not one.startswith(("-", "+")) and not _HAS_VALUE.fullmatch(before):
            script = ""
    return script


def _of_git(between: Sequence[str]) -> str:
    """Return the element that introduces a git setting, since settings name programs. `-c`
    introduces a setting only before the subcommand.
    """
    for before, one in pairwise(("", *between)):
        if not one.startswith("-") and before not in GIT_VALUES:
            return one if one == "config" else ""
    return "-c" if between and between[-1] == "-c" else ""


def _of_python(between: Sequence[str]) -> str:
    for before, one in pairwise(("", *between)):
        if _MODULE.fullmatch(one) or (before.endswith("m") and one in _MODULES):
            return one
    return ""
