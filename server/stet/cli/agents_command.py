"""`stet agents`: the agents whose edits are reviewed, and the hooks in their settings.

Stet writes only into the user's own settings of an agent, and removes only entries that it has
written: those whose command is a `stet` with the arguments `hook NAME`.
"""

import asyncio
import copy
import json
import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet.bridges.hooks.claude_hooks import EVENTS, MATCHER
from stet.cli.editor_check import VERSION_SECONDS
from stet.cli.files import replace_text
from stet.cli.finding import Finding
from stet.cli.terminal import CliError, Terminal, coloured
from stet.system.helper_process import output_of
from stet.system.system import System
from stet.text.diff import unified_diff

TESTED = "2.1.332"
"""The version of Claude Code with which the tests run."""
HOOK_SECONDS = 60
_WITH_TOOLS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})
NOT_CAPTURED = (
    "not captured: files that a shell command changes; searches see the saved files",
    "not under privacy.deny: what its shell commands read, and what it sends to its model",
)


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent that is known.

    Attributes:
        name: The name on the command line.
        title: The name for people.
        program: The program, as it is found on the PATH.
        settings: The file of the user's settings.
    """

    name: str
    title: str
    program: str
    settings: Path


def known_agents() -> tuple[KnownAgent, ...]:
    """Return the agents whose hooks can be installed."""
    folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    return (KnownAgent("claude", "Claude Code", "claude", folder / "settings.json"),)


def show() -> int:
    """Show the agents, their versions and whether their hooks are installed."""
    terminal, system = Terminal(), System()
    for agent in known_agents():
        program = shutil.which(agent.program)
        version = asyncio.run(_version(program, system)) if program else ""
        found = f"{version}, {program}" if program else "not found on the PATH"
        is_installed = _is_installed(agent)
        how = "hook-redirect" if is_installed else "not reviewed"
        terminal.show(f"{agent.name}: {agent.title} {found}", "bold")
        terminal.show(f"  capture: {how} ({agent.settings})")
        terminal.show(f"  tested with version {TESTED}")
        for line in NOT_CAPTURED:
            terminal.show(f"  {line}")
        if not is_installed:
            terminal.show(f"  to review its edits: stet agents install {agent.name} --write")
    return 0


async def check_agents(system: System) -> list[Finding]:
    """Return a finding for each agent that is installed: whether its edits are reviewed."""
    found: list[Finding] = []
    for agent in known_agents():
        if (program := shutil.which(agent.program)) is None:
            continue
        version = await _version(program, system)
        if not _is_installed(agent):
            fix = f"To review its edits: stet agents install {agent.name} --write"
            found.append(Finding("note", agent.title, f"{version}, not reviewed", fix))
        elif _numbers(version) > _numbers(TESTED):
            fix = f"Stet was tested with {TESTED}. If an edit is not redirected, Stet warns."
            found.append(Finding("note", agent.title, f"{version}, reviewed", fix))
        else:
            found.append(Finding("ok", agent.title, f"{version}, reviewed"))
    return found


def hooks_removed(agent: KnownAgent) -> str | None:
    """Return the text of an agent's settings without Stet's hooks, or None if it has no such hooks."""
    try:
        settings = _read(agent)
    except CliError:
        return None  # settings that can't be read have none that Stet has written
    rest = _without_hooks(settings, agent)
    return None if rest == settings else _text(rest)


def _is_installed(agent: KnownAgent) -> bool:
    return hooks_removed(agent) is not None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def install(name: str, *, write: bool) -> int:
    """Show or write the hooks of an agent into the user's settings.

    Raises:
        CliError: If the agent is unknown, or its settings can't be read or written.
    """
    agent = _named(name)
    settings = _read(agent)
    wanted = _without_hooks(settings, agent)
    hooks = wanted.setdefault("hooks", {})
    for event in EVENTS:
        entry: dict[str, Any] = {"matcher": MATCHER} if event in _WITH_TOOLS else {}
        command = {"type": "command", "command": _command(agent), "timeout": HOOK_SECONDS}
        hooks.setdefault(event, []).append({**entry, "hooks": [command]})
    done = f"{agent.title} is reviewed from its next start on, in folders that an editor has open."
    return _apply(agent, settings, wanted, done, write=write)


def uninstall(name: str, *, write: bool) -> int:
    """Show or make the removal of Stet's hooks from the user's settings of an agent.

    Raises:
        CliError: If the agent is unknown, or its settings can't be read or written.
    """
    agent = _named(name)
    settings = _read(agent)
    wanted = _without_hooks(settings, agent)
    return _apply(agent, settings, wanted, f"{agent.title} is no longer reviewed.", write=write)


def _named(name: str) -> KnownAgent:
    known = {agent.name: agent for agent in known_agents()}
    if name not in known:
        raise CliError(f"no such agent: {name!r}; known: {', '.join(known)}", code=2)
    return known[name]


def _read(agent: KnownAgent) -> dict[str, Any]:
    """Return the user's settings of an agent, {} if there is no file.

    Raises:
        CliError: If the file can't be read, or holds something else than expected.
    """
    try:
        text = agent.settings.read_text(encoding="utf-8")
        settings = json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise CliError(
            f"{agent.settings} can't be read: {error}. Correct the file first."
        ) from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(one, list) for one in hooks.values()):
        raise CliError(f"{agent.settings} has another form than expected. Correct the file first.")
    return dict(settings)


def _without_hooks(settings: dict[str, Any], agent: KnownAgent) -> dict[str, Any]:
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


def _without_commands(entry: Any, agent: KnownAgent) -> Any:
    """Return an entry of an event without Stet's commands; None if no command is left."""
    commands = entry.get("hooks") if isinstance(entry, dict) else None
    if not isinstance(commands, list):
        return entry
    left = [one for one in commands if not _is_ours(one, agent)]
    if left == commands:
        return entry
    return {**entry, "hooks": left} if left else None


def _is_ours(command: Any, agent: KnownAgent) -> bool:
    text = command.get("command") if isinstance(command, dict) else None
    try:
        program, *arguments = shlex.split(text) if isinstance(text, str) else [""]
    except ValueError:  # no command of a shell, or an empty one
        return False
    return Path(program).name == "stet" and arguments == ["hook", agent.name]


def _command(agent: KnownAgent) -> str:
    """Return the command of the hook: this `stet`, wherever the agent is started."""
    program = Path(sys.executable).with_name("stet")
    return f"{shlex.quote(str(program))} hook {agent.name}"


def _apply(
    agent: KnownAgent, settings: dict[str, Any], wanted: dict[str, Any], done: str, *, write: bool
) -> int:
    """Show the difference of two settings, and write the wanted ones if `write`.

    Raises:
        CliError: If the file can't be written.
    """
    terminal = Terminal()
    before, after = _text(settings), _text(wanted)
    name = str(agent.settings)
    if before == after:
        terminal.say(f"Nothing to change in {name}.")
        return 0
    terminal.show(coloured(unified_diff(before, after, name, name)))
    if not write:
        terminal.say("Nothing was written: add --write.", "yellow")
        return 0
    try:
        agent.settings.parent.mkdir(parents=True, exist_ok=True)
        replace_text(agent.settings.resolve(), after)
    except OSError as error:
        raise CliError(f"{name} can't be written: {error}") from error
    terminal.say(f"Wrote {name}. {done}", "green")
    return 0


def _text(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


async def _version(program: str, system: System) -> str:
    """Return the version that a program prints."""
    try:
        output = await output_of(system, (program, "--version"), VERSION_SECONDS)
    except OSError:  # it hangs, or can't be started: a TimeoutError is an OSError
        return "unknown version"
    version = re.search(r"\d+(?:\.\d+)+", output.decode(errors="replace"))
    return version[0] if version else "unknown version"
