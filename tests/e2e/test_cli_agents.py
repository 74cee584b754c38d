"""`stet agents`: what is installed into the settings of Claude Code, and removed again."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from stet.cli.agents_command import TESTED
from tests.parts.claude_code import VERSION
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
    shell.env["PATH"] = "/nowhere"
    listed = shell.run("agents")
    assert listed.returncode == 0
    assert listed.stdout.replace(str(settings_file(shell)), "SETTINGS") == snapshot("""\
claude: Claude Code not found on the PATH
  capture: not reviewed (SETTINGS)
  tested with version 2.1.332
  not captured: files that a shell command changes; searches see the saved files
  not under privacy.deny: what its shell commands read, and what it sends to its model
  to review its edits: stet agents install claude --write
""")


def test_tested_version_is_that_of_the_tests() -> None:
    assert TESTED == VERSION


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}'])
def test_settings_that_can_t_be_read_are_left_alone(text: str, shell: Shell) -> None:
    write_settings(shell, text)
    done = shell.run("agents", "install", "claude", "--write")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("Correct the file first.")
    assert settings_file(shell).read_text() == text


def test_unknown_agent_is_refused(shell: Shell) -> None:
    done = shell.run("agents", "install", "nobody")
    assert (done.returncode, done.stderr) == (2, "stet: no such agent: 'nobody'; known: claude\n")


def test_uninstall_removes_the_hooks(shell: Shell) -> None:
    write_settings(shell, json.dumps(OWN))
    assert shell.run("agents", "install", "claude", "--write").returncode == 0
    done = shell.run("uninstall", "--yes")
    assert "Stet's hooks for Claude Code" in done.stdout
    assert settings(shell) == OWN


@pytest.mark.parametrize(
    ("version", "is_installed", "expected"),
    [
        ("2.1.300", True, ("ok", "2.1.300, reviewed")),
        ("2.1.300", False, ("note", "2.1.300, not reviewed")),
        ("2.2.0", True, ("note", "2.2.0, reviewed")),
    ],
)
def test_doctor_reports_the_agent(
    version: str, is_installed: bool, expected: tuple[str, str], shell: Shell
) -> None:
    program = Path(shell.env["HOME"], "bin", "claude")
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    shell.env["PATH"] = f"{program.parent}:{shell.env['PATH']}"
    if is_installed:
        assert shell.run("agents", "install", "claude", "--write").returncode == 0
    findings = json.loads(shell.run("doctor", "--json").stdout)["findings"]
    [found] = [one for one in findings if one["about"] == "Claude Code"]
    assert (found["mark"], found["found"]) == expected
