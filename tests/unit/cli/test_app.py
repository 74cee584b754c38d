"""The help of every command, shell completion, and the sentence for an older Python."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import stet
import stet.cli
from stet.cli import main
from stet.cli.app import app
from stet.cli.main import unsupported_python

WIDTH = 80
COMMANDS = (
    "serve", "ask", "review", "accept", "reject", "search", "index", "demo", "doctor", "model",
    "agents", "config", "uninstall", "mcp", "run",
)  # fmt: skip
OLD_PYTHONS = sorted(Path.home().glob(".pyenv/versions/3.[89].*/bin/python3")) + sorted(
    Path.home().glob(".pyenv/versions/3.10.*/bin/python3")
)


def every_command() -> Iterator[tuple[str, ...]]:
    """Yield the names that lead to each command, from `()` for `stet` itself."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), get_command(app))]
    while waiting:
        names, command = waiting.pop()
        yield names
        children = getattr(command, "commands", {})
        waiting += [((*names, name), child) for name, child in children.items()]


def shown_help(names: tuple[str, ...], option: str = "--help") -> str:
    """Return the help of a command in a terminal of 80 columns."""
    env = {"COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = CliRunner().invoke(app, [*names, option], env=env, prog_name="stet")
    assert done.exit_code == 0
    return done.output


def completed(shell: str, typed: str) -> str:
    """Return what the completion of a shell is sent for a typed line."""
    env = {"_STET_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": typed}
    env |= {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    env |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return CliRunner().invoke(app, [], env=env, prog_name="stet").output


@pytest.mark.parametrize("names", [*every_command()], ids=" ".join)
def test_help_fits_80_columns_and_is_not_cut(names: tuple[str, ...]) -> None:
    shown = shown_help(names)
    assert [line for line in shown.splitlines() if len(line) > WIDTH] == []
    assert "…" not in shown
    assert shown_help(names, "-h") == shown


def test_help_lists_the_commands_and_names_the_next_step() -> None:
    shown = shown_help(())
    assert [name for name in COMMANDS if f"│ {name} " not in shown] == []
    assert shown.rstrip().splitlines()[-1].strip() == (
        "Next: stet demo, then stet config neovim --write (or vscode, helix, emacs)"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_lists_the_commands_and_cuts_no_description(shell: str) -> None:
    shown = completed(shell, "stet ")
    assert [name for name in COMMANDS if name not in shown] == []
    assert "install" in completed(shell, "stet model ")
    assert "neovim" in completed(shell, "stet config n")
    assert "..." not in shown + completed(shell, "stet model ")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ((3, 10), "stet: Stet needs Python 3.11 or newer; this is Python 3.10"),
        ((3, 11), ""),
        ((4, 0), ""),
    ],
    ids=str,
)
def test_unsupported_python_is_named_with_the_oldest_supported_one(
    version: tuple[int, ...], message: str
) -> None:
    assert unsupported_python(version) == message


@pytest.mark.parametrize("module", [stet, stet.cli, main], ids=lambda module: module.__name__)
def test_modules_before_the_check_are_valid_for_python_3_8(module: object) -> None:
    source = Path(str(getattr(module, "__file__", ""))).read_text()
    assert ast.parse(source, feature_version=(3, 8)).body


@pytest.mark.slow
def test_older_python_gets_one_sentence() -> None:
    for python in OLD_PYTHONS:
        command = [str(python), "-m", "stet.cli.main", "doctor"]
        source = Path(main.__file__).parents[2]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("stet: Stet needs Python 3.11 or newer; this is Python 3.")
        assert done.stderr.count("\n") == 1
