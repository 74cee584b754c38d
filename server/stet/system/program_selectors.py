"""Which arguments of a command choose what is run, though they are no scripts: pure.

`bash {file}` runs whatever file it is given, and `git {sub}` what a workspace's own `.git/config` calls
so. A user may want both, but a standing yes to such a command would be one to everything: each time
is asked about (`stet.tools.execute_command`).
"""

import re
from collections.abc import Sequence

from stet.system.interpreters import has_script_option, is_interpreter, programs_in
from stet.system.script_arguments import GIT_VALUES, program_name

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
    """The first element that chooses what is run; "" if all that are given only say what it is done to.

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
