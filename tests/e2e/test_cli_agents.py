"""`stet agents`: what is installed into the settings of Claude Code, and removed again."""

import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from stet.cli.agents.known_agents import known_agents
from tests.parts import claude_code, codex, copilot_cli, opencode
from tests.support.shell import Shell

OWN = {
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint hook claude"}]}
        ]
    },
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell.at(tmp_path)


def settings_file(shell: Shell) -> Path:
    return Path(shell.env["HOME"], ".claude", "settings.json")


def settings(shell: Shell) -> Any:
    return json.loads(settings_file(shell).read_text())


def write_settings(shell: Shell, text: str) -> None:
    path = settings_file(shell)
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_hooks_are_installed_beside_those_of_the_user_and_removed(shell: Shell) -> None:
    write_settings(shell, json.dumps(OWN))
    shown = shell.run("agents", "install", "claude")
    assert (shown.returncode, settings(shell)) == (0, OWN)
    assert "Nothing was written: add --write." in shown.stderr
    assert shell.run("agents", "install", "claude", "--write").returncode == 0
    done = shell.run("agents", "install", "claude", "--write")
    assert done.stderr == f"Nothing to change in {settings_file(shell)}.\n"
    program = Path(sys.executable).with_name("stet")
    installed = settings(shell)
    ours = {"type": "command", "command": f"{program} hook claude", "timeout": 60}
    with_tools = {"matcher": "Read|Edit|Write|NotebookEdit", "hooks": [ours]}
    assert installed == {
        "model": "opus",
        "hooks": {
            "PreToolUse": [*OWN["hooks"]["PreToolUse"], with_tools],  # type: ignore[index]
            "UserPromptSubmit": [{"hooks": [ours]}],
            "PostToolUse": [with_tools],
            "PostToolUseFailure": [with_tools],
            "Stop": [{"hooks": [ours]}],
            "SessionEnd": [{"hooks": [ours]}],
        },
    }
    listed = shell.run("agents").stdout
    assert "capture: hook-redirect" in listed
    removed = shell.run("agents", "uninstall", "claude", "--write")
    assert removed.returncode == 0
    assert settings(shell) == OWN


@pytest.mark.parametrize(
    ("command", "is_removed"),
    [
        ("'/my programs/stet' hook claude", True),
        ("stet hook claude", True),
        ("'/my programs/stet' hook claude --more", False),
        ("echo stet hook claude", False),
        ("'", False),
        ("", False),
    ],
)
def test_uninstall_removes_only_the_command_of_the_hook(
    command: str, is_removed: bool, shell: Shell
) -> None:
    given = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    write_settings(shell, json.dumps(given))
    assert shell.run("agents", "uninstall", "claude", "--write").returncode == 0
    assert settings(shell) == ({} if is_removed else given)


def test_list_says_what_is_not_captured(shell: Shell) -> None:
    shell.env |= {"PATH": "/nowhere", "XDG_CONFIG_HOME": ""}
    listed = shell.run("agents")
    assert listed.returncode == 0
    *agents, isolation = listed.stdout.splitlines(keepends=True)
    assert re.fullmatch(r"isolation: (overlay|not) available.*\n", isolation)
    assert "".join(agents).replace(shell.env["HOME"], "HOME") == snapshot("""\
claude: Claude Code not found on the PATH
  capture: not reviewed (HOME/.claude/settings.json)
  tested with version 2.1.332
  not captured: files that a shell command changes; searches see the saved files
  not under privacy.deny: what its shell commands read, and what it sends to its model
  to review its edits: stet agents install claude --write
codex: Codex not found on the PATH
  capture: not reviewed (HOME/.codex/config.toml)
  tested with version 0.171.0
  reads the saved files: its prompts name the unsaved text of the editor
  not captured: files that a shell command changes; searches see the saved files
  not under privacy.deny: what its shell commands read, and what it sends to its model
  to review its edits: stet agents install codex --write
copilot: Copilot CLI not found on the PATH
  capture: not reviewed (HOME/.copilot/hooks/stet.json)
  tested with version 1.0.102
  not captured: files that a shell command changes; searches see the saved files
  not under privacy.deny: what its shell commands read, and what it sends to its model
  to review its edits: stet agents install copilot --write
opencode: OpenCode not found on the PATH
  capture: not reviewed (HOME/.config/opencode/plugin/stet.js)
  tested with version 1.18.33
  not captured: files that a shell command changes; searches see the saved files
  not under privacy.deny: what its shell commands read, and what it sends to its model
  to review its edits: stet agents install opencode --write
""")


def test_tested_versions_are_those_of_the_tests() -> None:
    assert {agent.name: agent.tested for agent in known_agents()} == {
        "claude": claude_code.VERSION,
        "codex": codex.VERSION,
        "copilot": copilot_cli.VERSION,
        "opencode": opencode.VERSION,
    }


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_settings_that_can_t_be_read_are_left_alone(text: str, shell: Shell) -> None:
    write_settings(shell, text)
    done = shell.run("agents", "install", "claude", "--write")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("Correct the file first.")
    assert settings_file(shell).read_text() == text


@pytest.mark.parametrize(
    ("name", "place"),
    [("copilot", ".copilot/hooks/stet.json"), ("opencode", ".config/opencode/plugin/stet.js")],
)
def test_file_of_stet_is_written_and_removed(name: str, place: str, shell: Shell) -> None:
    shell.env["XDG_CONFIG_HOME"] = ""
    path = Path(shell.env["HOME"], place)
    assert shell.run("agents", "install", name, "--write").returncode == 0
    assert str(Path(sys.executable).with_name("stet")) in path.read_text()
    listed = shell.run("agents").stdout.split(f"{name}: ")[1]
    assert "capture: hook-redirect" in listed
    removed = shell.run("agents", "uninstall", name, "--write")
    assert removed.stderr.startswith(f"Removed {path}.")
    assert not path.exists()
    path.write_text("mine")
    refused = shell.run("agents", "install", name, "--write")
    assert (refused.returncode, path.read_text()) == (1, "mine")
    assert "exists and is not Stet's" in refused.stderr
    assert shell.run("agents", "uninstall", name, "--write").returncode == 0
    assert path.read_text() == "mine"


def test_hooks_of_copilot_run_for_its_file_tools_and_only_where_stet_is_installed(
    shell: Shell,
) -> None:
    assert shell.run("agents", "install", "copilot", "--write").returncode == 0
    path = Path(shell.env["HOME"], ".copilot", "hooks", "stet.json")
    hooks = json.loads(path.read_text())["hooks"]
    matchers = {event: entries[0].get("matcher") for event, entries in hooks.items()}
    of_tools = ("preToolUse", "postToolUse", "postToolUseFailure")
    assert {event for event, matcher in matchers.items() if matcher} == set(of_tools)
    assert {matchers[event] for event in of_tools} == {"view|edit|create|apply_patch"}
    command = hooks["preToolUse"][0]["bash"]
    run = partial(subprocess.run, input="{}", capture_output=True, text=True, check=True)
    assert run(["sh", "-c", command]).stdout == "{}"
    gone = command.replace(str(Path(sys.executable).parent), "/nowhere")
    assert run(["sh", "-c", gone]).stdout == ""


def test_unknown_agent_is_refused(shell: Shell) -> None:
    done = shell.run("agents", "install", "nobody")
    assert (done.returncode, done.stderr) == (
        2,
        "stet: no such agent: 'nobody'; known: claude, codex, copilot, opencode\n",
    )


def test_uninstall_removes_the_hooks(shell: Shell) -> None:
    write_settings(shell, json.dumps(OWN))
    assert shell.run("agents", "install", "claude", "--write").returncode == 0
    done = shell.run("uninstall", "--yes")
    assert "Stet's hooks for Claude Code" in done.stdout
    assert settings(shell) == OWN


@pytest.mark.parametrize(
    ("version", "is_installed", "is_outdated", "expected"),
    [
        ("2.1.300", True, False, ("ok", "2.1.300, reviewed")),
        ("2.1.300", True, True, ("note", "2.1.300, some edits are not reviewed")),
        ("2.1.300", False, False, ("note", "2.1.300, not reviewed")),
        ("2.2.0", True, False, ("note", "2.2.0, reviewed")),
    ],
)
def test_doctor_reports_the_agent(
    version: str, is_installed: bool, is_outdated: bool, expected: tuple[str, str], shell: Shell
) -> None:
    program = Path(shell.env["HOME"], "bin", "claude")
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    shell.env["PATH"] = f"{program.parent}:{shell.env['PATH']}"
    if is_installed:
        assert shell.run("agents", "install", "claude", "--write").returncode == 0
    if is_outdated:
        text = settings_file(shell).read_text()
        settings_file(shell).write_text(text.replace("|NotebookEdit", ""))
    findings = json.loads(shell.run("doctor", "--json").stdout)["findings"]
    [found] = [one for one in findings if one["about"] == "Claude Code"]
    assert (found["mark"], found["found"]) == expected
