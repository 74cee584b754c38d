"""The command line of a configured command with a model's arguments; pure functions.

The `argv` belongs to the user. An argument of the model replaces a `{placeholder}` within one
element, whatever the argument contains: it never becomes another element, and never an option. It
must never be in the place of a script of an interpreter, or of the program that another program
(`env`, `xargs`) runs, in any spelling of the program's name. In doubtful cases the argument is
refused: a user can write the command in another way, but the effects of a script that a model has
written can't be undone.

Some arguments select the code to run without being scripts: `bash {file}` runs any file, and
`git {sub}` runs the alias `sub` in the `.git/config` of a workspace. A user may want both, but one
approval for all runs of such a command would approve anything: the user is asked each time
(`stet.tools.execute_command`).
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath

from stet.settings.values import CommandSettings

SHELLS = r"(?:ba|da|k|mk|pdk|z|c|tc|fi|a|ya|xon|el|rba|r)?sh|nu|elvish|cmd|powershell|pwsh|powershell_ise"
_ENDING = re.compile(r"\.(?:exe|com|bat|cmd)$")

_TAKES_C = re.compile(rf"(?:{SHELLS}|su|runuser|flock|script)[\d.-]*")
_C = re.compile(r"[-+][a-z]*c[a-z]*|--(?:[a-z]+-)?command|/[ckr]", re.IGNORECASE)
"""Options that make the next element a script, alone or in a group of letters."""
_JOINED_C = re.compile(r"[-+][a-z]*c|--(?:[a-z]+-)?command=", re.IGNORECASE)
_HAS_VALUE = re.compile(r"[-+][a-z]*o|--rcfile|--init-file", re.IGNORECASE)
_JOINS = re.compile(r"(?:cmd|powershell|pwsh|powershell_ise)[\d.-]*")
"""Shells that join all following elements to one script."""
_JOINS_FROM = re.compile(r"/[ckr]|-c|-cwa|-command|-commandwithargs", re.IGNORECASE)

_RUNS_SCRIPTS = re.compile(r"ssh|sqlite3?|red|ed|tmux|screen|watch|parallel|crontab|at|batch")
"""Programs that may execute any argument: as a command or as a line of their language."""
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
"""Modules of Python's library that execute their arguments."""


def program_name(part: str) -> str:
    """Return the name of a program in lower case, without its folder and a Windows suffix."""
    name = PurePosixPath(part.strip().replace("\\", "/")).name.lower()
    return _ENDING.sub("", name)


def script_flag_of_program(argv: Sequence[str], program: int, at: int) -> str:
    """Return the element that makes `argv[at]` a script for `argv[program]`; "" if none does."""
    name = program_name(argv[program])
    between, part = argv[program + 1 : at], argv[at]
    if _RUNS_SCRIPTS.fullmatch(name):
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
    """Return the element that introduces a git setting, because a setting may name a program.

    `-c` introduces a setting only before the subcommand.
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


_LANGUAGES = (
    r"python|pythonw|pypy|ipython|node|nodejs|deno|bun|tsx|ts-node|qjs|perl|raku|ruby|irb|jruby|truffleruby|"
    r"php|php-cgi|lua|luajit|tclsh|wish|expect|osascript|rscript|julia|guile|racket|sbcl|clisp|emacs|"
    r"vim|nvim|runghc|elixir|erl|groovy|scala|kotlin|jshell|octave|gdb|lldb"
)
_ONLY_FIRST = (
    r"env|busybox|toybox|su|sudo|doas|runuser|nohup|nice|ionice|chrt|taskset|time|timeout|gtimeout|setsid|"
    r"stdbuf|xargs|watch|chroot|unshare|nsenter|strace|ltrace|script|flock|parallel|winpty|wsl|start|exec|"
    r"npx|uvx|pipx|bunx|command|r|ex|vi|[gmn]?awk|original-awk|g?sed|setpriv|prlimit|fakeroot|proot|bwrap|"
    r"firejail|xvfb-run|dbus-run-session|systemd-run|start-stop-daemon|numactl|cpulimit|unbuffer|rlwrap|"
    r"ssh-agent|valgrind|eatmydata|torsocks|ld(?:64)?\.so|ld-(?:linux|musl)[\w.-]*"
)
_VERSION = r"(?:[-_.]?\d[\d.]*[tmdw]?)?"
_INTERPRETER = re.compile(rf"(?:{SHELLS}|{_LANGUAGES}){_VERSION}")
_WRAPPER = re.compile(rf"(?:{_ONLY_FIRST}){_VERSION}")
"""Programs that take a program or a script as their first argument. Their names are also words, so
they count only in the place of a program: at the beginning, or after another of these programs."""
_RUNNER = re.compile(
    r"poetry|uv|pdm|pipenv|hatch|rye|conda|mamba|npm|pnpm|yarn|bundle|rbenv|pyenv|mise"
)
_RUNS_NEXT = {"run": re.compile(r"(?!npm|pnpm|yarn|bundle).*"), "exec": re.compile(".*")}
"""Subcommands of runners that take a program; `npm run` takes a script of the project."""
_TAKES_ONE_WORD = frozenset({"flock", "chroot"})
"""Wrappers whose first argument is their own; the program is the second."""
_WITH_VALUE = frozenset(
    {"-u", "-g", "-n", "-k", "-s", "-p", "-C", "-D", "-f", "-i", "-o", "-P", "-a", "-d", "-E", "-I"}
)
_TEXT = re.compile(r"[gmn]?awk|original-awk|g?sed")
_RUNS_PROGRAMS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""The options of `find` that run a program."""
_OPTION = re.compile(
    r"-[a-z]*[ce]|-[mErRSpPxX]|-(?:command|commandwithargs|encodedcommand|enc|ec|ex|exec)|"
    r"--(?:command|eval|print|run|execute|exec|expression|split-string|init-command)|/[ckr]|eval",
    re.IGNORECASE,
)
"""Options of interpreters and wrappers whose value is a script."""
_JOINED = re.compile(
    r"(?:--(?:command|eval|print|run|execute|exec|expression|split-string)=|-[a-zA-Z]*[ceES])(?=.*\{)",
    re.DOTALL,
)
"""Such options with the script in the same element: `--eval={code}`, `-c{code}`."""


def script_flag(argv: Sequence[str], at: int) -> str:
    """Return the element that makes `argv[at]` a script or a program; "" if no element does.

    Options are checked only directly after the interpreter: in
    `python -m pytest -c {ini}` the `-c` is pytest's.
    """
    programs, owner = programs_in(argv[:at])
    for number in programs:
        if acting := script_flag_of_program(argv, number, at):
            return acting
    before = argv[at - 1]
    if before in _RUNS_PROGRAMS:
        return before
    return _script_flag_after(owner, before, argv[at]) if owner else ""


def is_interpreter(part: str) -> bool:
    """Return whether a program runs a file, or a text, that is passed to it."""
    return _INTERPRETER.fullmatch(program_name(part)) is not None


def has_script_option(parts: Sequence[str]) -> bool:
    """Return whether an option in `parts` is followed by its script."""
    return any(_OPTION.fullmatch(one) and not rest.startswith("-") for one, rest in pairwise(parts))


def programs_in(parts: Sequence[str]) -> tuple[list[int], str]:
    """Return the indices of programs, and the program whose script may still follow; "" if none."""
    programs: list[int] = []
    owner, before = "", ""
    for number, part in enumerate(parts):
        name = program_name(part)
        can_name_one = number == 0 or bool(owner)
        runs_text = is_interpreter(part)
        if can_name_one or runs_text:
            programs.append(number)
        is_wrapper = _WRAPPER.fullmatch(name) and not _takes_value(owner, before)
        if runs_text or (can_name_one and is_wrapper) or _runs_next(before, part):
            owner = part
        elif not _continues_after(owner, before, part):
            owner = ""
        before = part
    return programs, owner


def _script_flag_after(owner: str, before: str, part: str) -> str:
    """Return the element that makes `part` a script or program after `owner` and its options."""
    if before != owner and _OPTION.fullmatch(before):
        return before
    if _JOINED.match(part):
        return part
    # For other programs the same option may have no value.
    is_value = _TEXT.fullmatch(program_name(owner)) and _takes_value(owner, before)
    is_first = _is_wrapper(owner) and not is_value
    return owner if is_first and not part.startswith("-") else ""


def _continues_after(owner: str, before: str, part: str) -> bool:
    """Return whether the program or script of `owner` may still follow this element."""
    if not owner:
        return False
    if part.startswith(("-", "/")) or part == "eval":
        return True
    if not _is_wrapper(owner):
        return False
    is_before_word = before == owner or before.startswith("-") or _is_number(before)
    if is_before_word and program_name(owner) in _TAKES_ONE_WORD:
        return True
    # For example `A=1` of `env`, `5s` of `timeout`, and `me` after `-u`.
    return "=" in part or _is_number(part) or _takes_value(owner, before)


def _is_wrapper(owner: str) -> bool:
    return owner in _RUNS_NEXT or _WRAPPER.fullmatch(program_name(owner)) is not None


def _runs_next(program: str, subcommand: str) -> bool:
    name = program_name(program)
    runs = _RUNS_NEXT.get(subcommand)
    return runs is not None and bool(_RUNNER.fullmatch(name) and runs.fullmatch(name))


def _is_number(part: str) -> bool:
    return part.replace(".", "").rstrip("smhd").isdecimal()


def _takes_value(owner: str, option: str) -> bool:
    """Return whether the element after this option of `owner` is the option's value."""
    return option in ({"-F", "-v"} if _TEXT.fullmatch(program_name(owner)) else _WITH_VALUE)


_HAS_SUBCOMMANDS = re.compile(
    r"git|hg|svn|jj|gh|glab|npm|pnpm|yarn|bun|deno|corepack|cargo|rustup|go|dotnet|mix|rebar3|bundle|gem|"
    r"composer|artisan|pip[\d.]*|uv|poetry|pdm|hatch|rye|pipenv|conda|mamba|nix|brew|docker|podman|"
    r"kubectl|helm|terraform|tofu|pulumi|aws|gcloud|az|systemctl|flutter|dart|swift|stack|cabal|opam|dune"
)
"""Programs with subcommands, some of which run other programs."""
_RUNS = frozenset(
    {"run", "exec", "x", "dlx", "run-script", "tool", "task", "foreach", "bisect", "config"}
)
"""Subcommands that are followed by a program or a script of the project."""


def _selects_program(argv: Sequence[str], at: int) -> bool:
    programs, owner = programs_in(argv[:at])
    if owner and is_interpreter(owner) and not has_script_option(argv[:at]):  # the script follows
        return not argv[at].startswith("-")
    return any(_is_subcommand(argv, program, at) for program in programs)


def _is_subcommand(argv: Sequence[str], program: int, at: int) -> bool:
    """Return whether the element at `at` is a subcommand: the first word, or the word after `run`.

    A word that may also be the value of an option counts as a subcommand.
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
"""Code points of an argument: the user must be able to read it before the approval."""
PASSED_VARIABLES = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
        "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
        "VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME",
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA",
        "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
    }
)  # fmt: skip
"""The environment variables that are passed, with `LC_*`: others may contain secrets."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_MAKE = re.compile(r"(?:mingw32-|g|b|n|re|q|d)?make")
_FOR_MAKE = re.compile(r"(?!-)[\w./:+@-]+")
"""Names only: make executes `$(shell x)`, sets `X=1`, and inserts names into its scripts."""
_OPTION_MARKS = ("-", "+", "@")
"""The first characters of options: `+` in some editors, `@` for a file of options."""


class BadCommand(Exception):
    """The command is not run; the message gives the reason and the remedy."""


def placeholders(command: CommandSettings) -> tuple[str, ...]:
    """Return the names that a command declares, in order, each once."""
    found = (name for part in command.argv for name in _PLACEHOLDER.findall(part))
    return tuple(dict.fromkeys(found))


def selector_argument(command: CommandSettings) -> str:
    """Return the first element of `argv` in which an argument selects the code to run; else "".

    Other elements only name the objects of the command.
    """
    for at, part in enumerate(command.argv):
        if at and _PLACEHOLDER.search(part) and _selects_program(command.argv, at):
            return part
    return ""


def expand(command: CommandSettings, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the arguments of the process, one for each element of `argv`.

    Raises:
        BadCommand: If the command can't be run safely, or an argument is missing, unknown or
            unsafe.
    """
    _check_command(command)
    names = placeholders(command)
    message = f"{command.name!r} accepts {', '.join(map(repr, names)) or 'no arguments'}"
    if unknown := [name for name in arguments if name not in names]:
        raise BadCommand(f"{command.name!r} has no argument {unknown[0]!r}: {message}.")
    if missing := [name for name in names if name not in arguments]:
        raise BadCommand(f"The argument {missing[0]!r} is missing: {message}.")
    for name, value in arguments.items():
        _check_value(name, value)
        if any(_MAKE.fullmatch(program_name(part)) for part in command.argv):
            _check_for_make(name, value)
    return tuple(_expanded(part, arguments) for part in command.argv)


def passed_env(known: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the environment `known` that are passed to a program.

    Relative folders are removed from `PATH`: `.` would run programs of the workspace.
    """
    separator = ";" if "SYSTEMROOT" in map(str.upper, known) else ":"
    passed = {}
    for name, value in known.items():
        if name.upper() == "PATH":
            passed[name] = separator.join(filter(_is_absolute, value.split(separator)))
        elif name.upper() in PASSED_VARIABLES or name.upper().startswith("LC_"):
            passed[name] = value
    return {**passed, "TERM": "dumb", "NO_COLOR": "1"}


def _check_command(command: CommandSettings) -> None:
    """Check that no argument of the model becomes the program or a part of a script.

    Raises:
            BadCommand: If one does.
    """
    if not command.argv or not command.argv[0].strip():
        raise BadCommand(f"{command.name!r} can't be run: its `argv` names no program.")
    if _PLACEHOLDER.search(command.argv[0]):
        raise BadCommand(
            f"{command.name!r} can't be run: its `argv` leaves the program to an argument. The user "
            "must change `agent.commands`."
        )
    for at, part in enumerate(command.argv):
        if _PLACEHOLDER.search(part) and (before := script_flag(command.argv, at)):
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
            f"The argument {name!r} has {len(value)} characters; the maximum is {MAX_VALUE}."
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
    """Return one element with its arguments; braces in an argument are text.

    Raises:
        BadCommand: If an argument makes the element an option.
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
