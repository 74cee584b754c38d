"""From a command of the settings and a model's arguments to what is run: pure.

`argv` is the user's. An argument of the model's takes the place of a `{placeholder}` within one
element, whatever it holds: it never becomes another element, and never an option.

Some arguments choose what is run, though they are no scripts: `bash {file}` runs whatever file it is given, and `git {sub}` what a workspace's own `.git/config` calls
so. A user may want both, but a standing yes to such a command would be one to everything: each time
is asked about (`stet.tools.execute_command`).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath, PureWindowsPath

from stet.settings.values import CommandSettings
from stet.system.interpreters import (
    GIT_VALUES,
    has_script_option,
    is_interpreter,
    program_name,
    programs_in,
    script_flag,
)

_HAS_SUBCOMMANDS = re.compile(
    r"git|hg|svn|jj|gh|glab|npm|pnpm|yarn|bun|deno|corepack|cargo|rustup|go|dotnet|mix|rebar3|bundle|gem|"
    r"composer|artisan|pip[\d.]*|uv|poetry|pdm|hatch|rye|pipenv|conda|mamba|nix|brew|docker|podman|"
    r"kubectl|helm|terraform|tofu|pulumi|aws|gcloud|az|systemctl|flutter|dart|swift|stack|cabal|opam|dune"
)
"""Programs whose first word says what they do: some of these words run other programs."""
_RUNS = frozenset(
    {"run", "exec", "x", "dlx", "run-script", "tool", "task", "foreach", "bisect", "config"}
)
"""Subcommands behind which a program, or a script of the project's, is named."""


def program_selector(argv: Sequence[str], has_argument: Sequence[bool]) -> str:
    """Return the first element that chooses what is run, else "". Other elements only say what the
    command acts on.

    Args:
        argv: Of a command, as the settings have it.
        has_argument: For each element, whether an argument of the model's goes into it.
    """
    for at, part in enumerate(argv):
        if has_argument[at] and at and _selects_program(argv, at):
            return part
    return ""


def _selects_program(argv: Sequence[str], at: int) -> bool:
    programs, owner = programs_in(argv[:at])
    if owner and is_interpreter(owner) and not has_script_option(argv[:at]):  # it is still to come
        return not argv[at].startswith("-")
    return any(_is_subcommand(argv, program, at) for program in programs)


def _is_subcommand(argv: Sequence[str], program: int, at: int) -> bool:
    """Whether the element at `at` is the first word behind the program, or behind one that runs others.

    Where it can't be told from an option's value, it is.
    """
    name = program_name(argv[program])
    if not _HAS_SUBCOMMANDS.fullmatch(name):
        return False
    words: list[str] = []
    before = ""
    for part in argv[program + 1 : at]:
        if not part.startswith("-") and not (name == "git" and before in GIT_VALUES):
            words.append(part)
        before = part
    if name == "git" and before in GIT_VALUES:
        return False
    return not words or (len(words) == 1 and words[0] in _RUNS)


MAX_VALUE = 1000
"""Characters of an argument: the user must be able to read it before the yes."""
PASSED_VARIABLES = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
        "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME",
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA",
        "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
    }
)  # fmt: skip
"""Of the environment only these go along, and `LC_*`: all others may hold a key or a login."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_MAKE = re.compile(r"(?:mingw32-|g|b|n|re|q|d)?make")
_FOR_MAKE = re.compile(r"(?!-)[\w./:+@-]+")
"""A name: make takes `X=1` and `$(shell x)` for its own language, and puts names into its scripts."""
_OPTION_MARKS = ("-", "+", "@")
"""What an option begins with: `+` in some editors and old tools, `@` for a file of options."""


class BadCommand(Exception):
    """It is not run; the message says why, and what to do."""


def placeholders(command: CommandSettings) -> tuple[str, ...]:
    """Return the names that a command declares, in order, each once."""
    return tuple(
        dict.fromkeys(name for part in command.argv for name in _PLACEHOLDER.findall(part))
    )


def selector_argument(command: CommandSettings) -> str:
    """Return the element of `argv` by which an argument chooses what is run; "" if no element does."""
    has_argument = [_PLACEHOLDER.search(part) is not None for part in command.argv]
    return program_selector(command.argv, has_argument)


def expand(command: CommandSettings, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of the process, one for each element of `argv`.

    Raises:
        BadCommand: If the command is none that can be run safely, or an argument is missing, one too
            many, or of a kind that is not passed on.
    """
    _check_command(command)
    names = placeholders(command)
    message = f"{command.name!r} takes {', '.join(map(repr, names)) or 'no arguments'}"
    if unknown := [name for name in arguments if name not in names]:
        raise BadCommand(f"{command.name!r} has no argument {unknown[0]!r}: {message}.")
    if missing := [name for name in names if name not in arguments]:
        raise BadCommand(f"The argument {missing[0]!r} is missing: {message}.")
    for name, value in arguments.items():
        _check_value(name, value)
        if any(_MAKE.fullmatch(program_name(part)) for part in command.argv):
            _check_for_make(name, value)
    return tuple(_expanded(part, arguments) for part in command.argv)


def environment(known: Mapping[str, str]) -> dict[str, str]:
    """Return what a program is given of the environment `known`.

    Of `PATH` only absolute folders are kept: `.` would run what lies in the workspace.
    """
    passed = {
        name: value
        for name, value in known.items()
        if name.upper() in PASSED_VARIABLES or name.upper().startswith("LC_")
    }
    separator = ";" if any(name.upper() == "SYSTEMROOT" for name in passed) else ":"
    for name in [name for name in passed if name.upper() == "PATH"]:
        folders = passed[name].split(separator)
        passed[name] = separator.join(folder for folder in folders if _is_absolute(folder))
    return {**passed, "TERM": "dumb", "NO_COLOR": "1"}


def _check_command(command: CommandSettings) -> None:
    """Check a command for mistakes that let the model choose the program, or write a script for
    one.

    Raises:
        BadCommand: If it is one.
    """
    if not command.argv or not command.argv[0].strip():
        raise BadCommand(f"{command.name!r} can't be run: its `argv` names no program.")
    if _PLACEHOLDER.search(command.argv[0]):
        raise BadCommand(
            f"{command.name!r} can't be run: its `argv` leaves the program to an argument. The user "
            "must change `agent.commands`."
        )
    for at in range(1, len(command.argv)):
        if not _PLACEHOLDER.search(command.argv[at]):
            continue
        if before := script_flag(command.argv, at):
            raise BadCommand(
                f"{command.name!r} can't be run: its `argv` puts an argument into a script or in the "
                f"place of a program, at {before!r}, where it could do anything. The user must change "
                "`agent.commands`, to something like "
                '["sh", "-c", "grep -e \\"$1\\" notes", "sh", "{text}"].'
            )


def _check_value(name: str, value: str) -> None:
    if not value.strip():
        raise BadCommand(f"The argument {name!r} is empty.")
    if len(value) > MAX_VALUE:
        raise BadCommand(
            f"The argument {name!r} has {len(value)} characters; {MAX_VALUE} is the most."
        )
    if found := _CONTROL.search(value):
        raise BadCommand(f"The argument {name!r} holds the control character {found[0]!r}.")


def _check_for_make(name: str, value: str) -> None:
    if not _FOR_MAKE.fullmatch(value):
        raise BadCommand(
            f"The argument {name!r} goes to 'make', which would read more than a name as its own "
            "language: it may hold only letters, digits and any of ./:+@_-, and may not begin with '-'. "
            "Name a target or a file."
        )


def _expanded(part: str, arguments: Mapping[str, str]) -> str:
    """One element, in one pass: braces in an argument are text.

    Raises:
        BadCommand: If an argument makes an option of it.
    """
    expanded = _PLACEHOLDER.sub(lambda found: arguments[found[1]], part)
    first = _PLACEHOLDER.match(part)
    if first is not None and expanded.lstrip().startswith(_OPTION_MARKS):
        raise BadCommand(
            f"The argument {first[1]!r} may not begin with {expanded.lstrip()[0]!r}: it would be "
            "taken for an option. For a file, write `./` in front."
        )
    return expanded


def _is_absolute(folder: str) -> bool:
    return PurePosixPath(folder).is_absolute() or PureWindowsPath(folder).is_absolute()
