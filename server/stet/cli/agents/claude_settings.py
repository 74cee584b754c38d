"""Stet's hooks in the settings of Claude Code (`settings.json`)."""

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

from stet.bridges.hooks.agent_hooks import AgentHooks
from stet.cli.agents.agent_setup import AgentSettingsFile
from stet.cli.agents.hook_command_line import hook_command, is_hook_command
from stet.cli.terminal import CliError

HOOK_SECONDS = 60


def claude_settings(path: Path, hooks: AgentHooks) -> AgentSettingsFile:
    """Return the file at a path."""
    with_hooks = partial(_with_hooks, path, hooks)

    def is_current(text: str) -> bool:
        return _hooks_in(text, hooks) == _hooks_in(with_hooks(text), hooks)

    return AgentSettingsFile(path, with_hooks, partial(_without_hooks, path, hooks), is_current)


def _with_hooks(path: Path, agent: AgentHooks, text: str) -> str:
    """Return settings with Stet's hooks after those of the user.

    Raises:
        CliError: If the settings have another form than expected.
    """
    wanted = _cleared(_parsed(path, text), agent.name)
    hooks = wanted.setdefault("hooks", {})
    for event in agent.events:
        is_of_tool = event in agent.tool_events
        entry: dict[str, Any] = {"matcher": "|".join(agent.tools_of(event))} if is_of_tool else {}
        command = {
            "type": "command",
            "command": hook_command(agent.name),
            "timeout": HOOK_SECONDS,
        }
        hooks.setdefault(event, []).append({**entry, "hooks": [command]})
    return _text(wanted)


def _without_hooks(path: Path, agent: AgentHooks, text: str) -> str:
    """Return settings without Stet's hooks.

    Raises:
        CliError: If the settings have another form than expected.
    """
    settings = _parsed(path, text)
    rest = _cleared(settings, agent.name)
    return text if rest == settings else _text(rest)


def _hooks_in(text: str, agent: AgentHooks) -> list[tuple[str, Any]]:
    """Return each event and entry with a command of Stet, in the order of the events."""
    hooks = json.loads(text).get("hooks", {})
    return sorted(
        (
            (event, entry)
            for event, entries in hooks.items()
            for entry in entries
            if _without_commands(entry, agent.name) != entry
        ),
        key=lambda one: one[0],
    )


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise CliError(f"{path} can't be read: {error}. Correct the file first.") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in hooks.values()):
        raise CliError(f"{path} has another form than expected. Correct the file first.")
    return dict(settings)


def _cleared(settings: dict[str, Any], agent: str) -> dict[str, Any]:
    """Return settings without Stet's hooks; entries and events that are then empty are removed."""
    rest = copy.deepcopy(settings)
    hooks = rest.get("hooks", {})
    for event, entries in list(hooks.items()):
        left = [one for entry in entries if (one := _without_commands(entry, agent)) is not None]
        hooks[event] = left
        if not left and entries:
            del hooks[event]
    if not hooks and settings.get("hooks"):
        del rest["hooks"]
    return rest


def _without_commands(entry: Any, agent: str) -> Any:
    """Return an entry of an event without Stet's commands; None if no command is left."""
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(commands, list):
        return entry
    left = [one for one in commands if not _is_ours(one, agent)]
    if left == commands:
        return entry
    return {**entry, "hooks": left} if left else None


def _is_ours(command: Any, agent: str) -> bool:
    return isinstance(command, dict) and is_hook_command(command.get("command"), agent)


def _text(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
