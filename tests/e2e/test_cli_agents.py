"""`stet agents`: what is listed, installed into the settings of agents, and removed again."""

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
from tests.parts import claude_code, codex, copilot_cli, gemini_cli, opencode, qwen_code
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
    assert "captured in a terminal: hook-redirect" in listed
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


def test_list_says_how_edits_are_captured(shell: Shell) -> None:
    shell.env |= {"PATH": "/nowhere", "XDG_CONFIG_HOME": ""}
    config = Path(shell.env["HOME"], ".config", "stet", "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text(
        '[agents]\nisolation = "none"\n'
        '[agents.servers.mine]\nprofile = "qwen"\ncommand = ["/opt/qwen", "--acp"]\n'
        '[agents.servers.other]\ncommand = ["other"]\n'
    )
    listed = shell.run("agents")
    assert listed.returncode == 0
    text = listed.stdout.replace(shell.env["HOME"], "HOME")
    assert re.sub(r"(isolation: )(overlay|not) available.*", r"\1…", text) == snapshot("""\
claude: Claude Code not on the PATH
  tested with version 2.1.332
  captured in a terminal: nothing (HOME/.claude/settings.json)
  captured in the chat: nothing (stet ask --agent claude)
  the chat needs claude-agent-acp, which is not on the PATH
  to review its edits in a terminal: stet agents install claude --write
codex: Codex not on the PATH
  tested with version 0.171.0
  captured in a terminal: nothing (HOME/.codex/config.toml)
  captured in the chat: nothing (stet ask --agent codex)
  the chat needs codex-acp, which is not on the PATH
  reads the saved files: its prompts name the unsaved text of the editor
  to review its edits in a terminal: stet agents install codex --write
copilot: Copilot CLI not on the PATH
  tested with version 1.0.102
  captured in a terminal: nothing (HOME/.copilot/hooks/stet.json)
  captured in the chat: nothing (stet ask --agent copilot)
  to review its edits in a terminal: stet agents install copilot --write
opencode: OpenCode not on the PATH
  tested with version 1.18.33
  captured in a terminal: nothing (HOME/.config/opencode/plugin/stet.js)
  captured in the chat: nothing (stet ask --agent opencode)
  to review its edits in a terminal: stet agents install opencode --write
gemini: Gemini CLI not on the PATH
  tested with version 0.61.0
  captured in a terminal: nothing
  captured in the chat: client-fs (stet ask --agent gemini)
  reads the saved files: its prompts name the unsaved text of the editor
qwen: Qwen Code not on the PATH
  tested with version 0.24.4
  captured in a terminal: nothing
  captured in the chat: client-fs (stet ask --agent qwen)
mine (Qwen Code): /opt/qwen
  captured in the chat: client-fs (stet ask --agent mine)
other: other
  captured in the chat: nothing (stet ask --agent other)
isolation: …
not captured of any agent without isolation: files that a shell command changes; searches see the saved files
not under privacy.deny: what an agent reads by shell, and what it sends to its model
""")


def test_list_says_that_agents_of_the_chat_are_isolated(shell: Shell) -> None:
    listed = shell.run("agents").stdout
    is_isolated = "isolation: overlay available" in listed
    captured = re.findall(r"captured in the chat: ([\w-]+)", listed)
    others = ["nothing"] * 4 + ["client-fs"] * 2
    assert captured == (["overlay"] * 6 if is_isolated else others)


def test_tested_versions_are_those_of_the_tests() -> None:
    assert {agent.name: agent.tested for agent in known_agents()} == {
        "claude": claude_code.VERSION,
        "codex": codex.VERSION,
        "copilot": copilot_cli.VERSION,
        "opencode": opencode.VERSION,
        "gemini": gemini_cli.VERSION,
        "qwen": qwen_code.VERSION,
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
    assert "captured in a terminal: hook-redirect" in listed
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


def test_agent_of_the_chat_has_nothing_to_install(shell: Shell) -> None:
    done = shell.run("agents", "install", "gemini", "--write")
    assert (done.returncode, done.stderr) == (
        2,
        "stet: Gemini CLI has nothing to install: its edits are reviewed in the chat. "
        "Ask it by `stet ask --agent gemini`.\n",
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
    put_on_path(shell, "claude", f"{version} (Claude Code)")
    if is_installed:
        assert shell.run("agents", "install", "claude", "--write").returncode == 0
    if is_outdated:
        text = settings_file(shell).read_text()
        settings_file(shell).write_text(text.replace("|NotebookEdit", ""))
    assert finding(shell, "Claude Code") == expected


@pytest.mark.parametrize(("version", "mark"), [("0.61.0", "ok"), ("0.62.0", "note")])
def test_doctor_reports_the_agent_of_the_chat(version: str, mark: str, shell: Shell) -> None:
    put_on_path(shell, "gemini", version)
    assert finding(shell, "Gemini CLI") == (mark, f"{version}, reviewed in the chat")


def put_on_path(shell: Shell, name: str, version: str) -> None:
    """Put a program on the PATH that prints a version."""
    program = Path(shell.env["HOME"], "bin", name)
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    shell.env["PATH"] = f"{program.parent}:{shell.env['PATH']}"


def finding(shell: Shell, about: str) -> tuple[str, str]:
    """Return the mark and the result of a check of `stet doctor`."""
    findings = json.loads(shell.run("doctor", "--json").stdout)["findings"]
    [found] = [one for one in findings if one["about"] == about]
    return found["mark"], found["found"]
