"""Which programs run a text that they are given as an argument, however their name is spelt: pure.

An argument of a model must never come to stand where such a program expects a script, or where one
that runs others (`env`, `xargs`) expects the program.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_SHELLS = r"(?:ba|da|k|mk|pdk|z|c|tc|fi|a|ya|xon|el|rba|r)?sh|nu|elvish|cmd|powershell|pwsh|powershell_ise"
_LANGUAGES = (
    r"python|pythonw|pypy|ipython|node|nodejs|deno|bun|tsx|ts-node|qjs|perl|raku|ruby|irb|jruby|truffleruby|"
    r"php|php-cgi|lua|luajit|tclsh|wish|expect|osascript|rscript|julia|guile|racket|sbcl|clisp|emacs|"
    r"vim|nvim|runghc|elixir|erl|groovy|scala|kotlin|jshell|octave|gdb|lldb"
)
_ONLY_FIRST = (
    r"env|busybox|toybox|su|sudo|doas|runuser|nohup|nice|ionice|chrt|taskset|time|timeout|gtimeout|setsid|"
    r"stdbuf|xargs|watch|chroot|unshare|nsenter|strace|ltrace|script|flock|parallel|winpty|wsl|start|exec|"
    r"npx|uvx|pipx|bunx|command|r|ex|vi|[gmn]?awk|original-awk|g?sed"
)
_VERSION = r"(?:[-_.]?\d[\d.]*[tmdw]?)?"
_ENDING = re.compile(r"\.(?:exe|com|bat|cmd)$")
_INTERPRETER = re.compile(rf"(?:{_SHELLS}|{_LANGUAGES}){_VERSION}")
_WRAPPER = re.compile(rf"(?:{_ONLY_FIRST}){_VERSION}")
"""What takes a program or a script as its first argument. Their names are words too, so they count
only where a program is named: at the beginning, or behind another of them."""
_WITH_VALUE = frozenset({"-u", "-g", "-n", "-k", "-s", "-p", "-C", "-D", "-f", "-i", "-o", "-P"})
_TEXT = re.compile(r"[gmn]?awk|original-awk|g?sed")
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""Of `find`."""
_OPTION = re.compile(
    r"-[a-z]*[ce]|-[ErRSpPxX]|-(?:command|commandwithargs|encodedcommand|enc|ec|ex|exec)|"
    r"--(?:command|eval|print|run|execute|exec|expression|split-string|init-command)|/[ckr]|eval",
    re.IGNORECASE,
)
"""Behind which these expect a script."""
_JOINED = re.compile(
    r"(?:--(?:command|eval|print|run|execute|exec|expression|split-string)=|-[a-zA-Z]*[ceES])(?=.*\{)",
    re.DOTALL,
)
"""The same with the script in one element: `--eval={code}`, `-c{code}`."""


def script_place(argv: Sequence[str], at: int) -> str:
    """The element that makes `argv[at]` a script or a program; "" if none does.

    Options are looked at as long as nothing else has stood behind the interpreter: in
    `python -m pytest -c {ini}` the `-c` is pytest's.
    """
    owner, is_open = "", False
    before = ""
    for number, part in enumerate(argv[:at]):
        name = _name(part)
        if _INTERPRETER.fullmatch(name) or (
            (number == 0 or is_open)
            and _WRAPPER.fullmatch(name)
            and not _takes_value(owner, before)
        ):
            owner, is_open = part, True
        elif is_open and not _goes_on(owner, before, part):
            is_open = False
        before = part
    if before in _RUNS:
        return before
    if not is_open:
        return ""
    if before != owner and _OPTION.fullmatch(before):
        return before
    if _JOINED.match(argv[at]):
        return argv[at]
    is_first = _WRAPPER.fullmatch(_name(owner)) and not _takes_value(owner, before)
    return owner if is_first and not argv[at].startswith("-") else ""


def _goes_on(owner: str, before: str, part: str) -> bool:
    """Whether the program or the script is still to come behind this element."""
    if part.startswith(("-", "/")) or part == "eval":
        return True
    if not _WRAPPER.fullmatch(_name(owner)):
        return False
    # `A=1` for `env`, `5s` for `timeout`, `me` behind `-u`.
    is_number = part.replace(".", "").rstrip("smhd").isdecimal()
    return "=" in part or is_number or _takes_value(owner, before)


def _name(part: str) -> str:
    name = PurePosixPath(part.strip().replace("\\", "/")).name.lower()
    return _ENDING.sub("", name)


def _takes_value(owner: str, option: str) -> bool:
    """Whether what follows this option of `owner` is its value."""
    return option in ({"-F", "-v"} if _TEXT.fullmatch(_name(owner)) else _WITH_VALUE)
