"""Stet's hooks in the settings of the real Codex, which says whether it trusts them."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stet.cli.agents.codex_trust import listed_hooks
from tests.conftest import Part
from tests.parts.codex import codex
from tests.support.shell import Shell

USERS = """\
# my settings
model = "gpt-6.2-sol"  # the newest

[sandbox_workspace_write]
network_access = false
writable_roots = ["/srv"]

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
type = "command"
command = "lint"
"""
ENTRY = '{ matcher = "Bash", hooks = [ { type = "command", command = "lint" } ] }'
TRUSTED = {"lint": "untrusted", "stet hook codex": "trusted"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell.at(tmp_path)


@pytest.fixture
def path(shell: Shell) -> Path:
    """Return the path of Codex's settings; the folder exists."""
    path = Path(shell.env["HOME"], ".codex", "config.toml")
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def program(part: Part, shell: Shell) -> str:
    """Return the program, which is on the PATH of the shell."""
    program = part(codex)
    shell.env["PATH"] = f"{program.parent}:{shell.env['PATH']}"
    return str(program)


def install(shell: Shell) -> None:
    """Install the hooks."""
    done = shell.run("agents", "install", "codex", "--write")
    assert done.returncode == 0, done.stderr


def shown(shell: Shell) -> str:
    """Return what `stet agents` shows of Codex."""
    return shell.run("agents").stdout.partition("codex: ")[2].partition("copilot: ")[0]


def trust(program: str, home: Path) -> dict[str, str]:
    """Return whether Codex trusts its hooks, by their commands; all of one command are alike."""
    listed = listed_hooks(program, home)
    states = {_command(one): str(one["trustStatus"]) for one in listed}
    assert all(states[_command(one)] == one["trustStatus"] for one in listed)
    return states


def _command(hook: dict[str, Any]) -> str:
    return str(hook["command"]).removeprefix(f"{Path(sys.executable).parent}/")


@pytest.mark.slow
def test_hooks_are_installed_beside_those_of_the_user(
    program: str, path: Path, shell: Shell
) -> None:
    path.write_text(USERS)
    install(shell)
    written = path.read_text()
    assert written.startswith('# my settings\nmodel = "gpt-6.2-sol"  # the newest\n')
    settings = tomllib.loads(written)
    copies = f"{shell.env['XDG_CACHE_HOME']}/stet/run/shadow"
    assert settings["sandbox_workspace_write"]["writable_roots"] == ["/srv", copies]
    hooks = settings["hooks"]
    assert [len(hooks[event]) for event in ("PreToolUse", "PostToolUse", "Stop")] == [2, 1, 1]
    assert trust(program, path.parent) == TRUSTED
    again = shell.run("agents", "install", "codex", "--write")
    assert again.stderr == f"Nothing to change in {path}.\n"
    assert shell.run("agents", "uninstall", "codex", "--write").returncode == 0
    assert path.read_text() == USERS


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        f"hooks = {{ PreToolUse = [ {ENTRY} ] }}\n",
        f"[hooks]\nPreToolUse = [ {ENTRY} ]\n\n[tui]\nnotifications = true\n",
        f"[[hooks.PreToolUse]]\n{ENTRY[2:-2].replace(', hooks', chr(10) + 'hooks')}\n"
        '\n[projects."/a"]\ntrust_level = "trusted"\n',
    ],
)
def test_hooks_of_the_user_may_have_any_form(
    text: str, program: str, path: Path, shell: Shell
) -> None:
    path.write_text(text)
    install(shell)
    assert trust(program, path.parent) == TRUSTED
    assert "captured in a terminal: hook-redirect" in shown(shell)
    assert shell.run("agents", "uninstall", "codex", "--write").returncode == 0
    assert tomllib.loads(path.read_text()) == tomllib.loads(text)


@pytest.mark.slow
def test_settings_that_would_be_lost_are_left_alone(program: str, path: Path, shell: Shell) -> None:
    text = f'hooks.PreToolUse = [ {ENTRY} ]\nmodel = "gpt-6.2-sol"\n'
    path.write_text(text)
    done = shell.run("agents", "install", "codex", "--write")
    assert (done.returncode, path.read_text()) == (1, text)
    assert "can't be changed without loss" in done.stderr


@pytest.mark.slow
def test_codex_trusts_hooks_in_a_linked_folder(program: str, path: Path, shell: Shell) -> None:
    link = path.parent.with_name("link")
    link.symlink_to(path.parent)
    shell.env["CODEX_HOME"] = str(link)
    install(shell)
    assert trust(program, link) == {"stet hook codex": "trusted"}


@pytest.mark.slow
def test_trust_of_the_users_hooks_stays_when_their_place_changes(
    program: str, path: Path, shell: Shell
) -> None:
    install(shell)
    path.write_text(f"{path.read_text()}\n{USERS[USERS.index('[[') :]}")
    [users] = [one for one in listed_hooks(program, path.parent) if one["command"] == "lint"]
    with path.open("a") as file:
        file.write(f"\n[hooks.state.'{users['key']}']\ntrusted_hash = '{users['currentHash']}'\n")
    expected = {"lint": "trusted", "stet hook codex": "trusted"}
    assert trust(program, path.parent) == expected
    install(shell)
    assert trust(program, path.parent) == expected
    assert shell.run("agents", "uninstall", "codex", "--write").returncode == 0
    assert trust(program, path.parent) == {"lint": "trusted"}


@pytest.mark.slow
def test_hook_before_those_of_stet_is_reported(program: str, path: Path, shell: Shell) -> None:
    """Codex trusts a hook by its number, so that it no longer runs Stet's."""
    install(shell)
    assert "to install them again" not in shown(shell)
    path.write_text(f"{USERS[USERS.index('[[') :]}\n{path.read_text()}")
    assert "untrusted" in {one["trustStatus"] for one in listed_hooks(program, path.parent)}
    assert "to install them again: stet agents install codex --write" in shown(shell)
    install(shell)
    assert trust(program, path.parent)["stet hook codex"] == "trusted"
    assert "to install them again" not in shown(shell)


@pytest.mark.parametrize(
    "text",
    [
        "[", "hooks = 1", "hooks.Stop = 1", "hooks.Stop = [1]", "hooks.state = 1",
        "sandbox_workspace_write = 1", "sandbox_workspace_write.writable_roots = '/'",
    ],
)  # fmt: skip
def test_settings_that_can_t_be_read_are_left_alone(text: str, path: Path, shell: Shell) -> None:
    path.write_text(text)
    done = shell.run("agents", "install", "codex", "--write")
    assert (done.returncode, path.read_text()) == (1, text)
    assert done.stderr.rstrip().endswith("Correct the file first.")


def test_codex_without_the_program_is_not_installed(shell: Shell) -> None:
    shell.env["PATH"] = "/nowhere"
    done = shell.run("agents", "install", "codex", "--write")
    assert done.returncode == 1
    assert "codex is not found on the PATH" in done.stderr
    assert not Path(shell.env["HOME"], ".codex").exists()
