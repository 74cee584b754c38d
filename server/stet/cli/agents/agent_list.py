"""What `stet agents` and `stet doctor` report: how the edits of each agent are captured."""

import asyncio
import re
import shutil
from collections.abc import Iterable

from stet.bridges.acp.profiles import ConfiguredAgent, UnknownAgent, configured_agents, find_agent
from stet.cli.agents.agent_setup import AgentSetup, HookState
from stet.cli.agents.known_agents import known_agents
from stet.cli.editor_check import VERSION_SECONDS
from stet.cli.finding import Finding
from stet.cli.terminal import Terminal
from stet.settings.layers import read_layers
from stet.settings.values import AgentsSettings
from stet.system.helper_process import output_of
from stet.system.overlay_probe import isolation_fault
from stet.system.system import System

_INSTALL = {
    HookState.MISSING: "to review its edits in a terminal",
    HookState.OUTDATED: "its hooks are not those of this Stet, or not trusted; to install them again",
}
_AVAILABLE = "overlay available, for agents in the chat and stet run PROGRAM"
_OF_ALL = (
    "not captured of any agent without isolation: files that a shell command changes; "
    "searches see the saved files",
    "not under privacy.deny: what an agent reads by shell, and what it sends to its model",
)


def show() -> int:
    """Show each agent: its version, how its edits are captured, and what is not captured."""
    terminal, system, known = Terminal(), System(), known_agents()
    settings = read_layers(system.read_bytes, []).settings.agents  # of the user's file
    versions, fault = asyncio.run(_inspect(known, system))
    is_isolated = not fault and settings.isolation != "none"
    for agent in known:
        found = "not on the PATH"
        if agent.name in versions:
            found = f"{versions[agent.name]}, {shutil.which(agent.program)}"
        terminal.show(f"{agent.name}: {agent.title} {found}", "bold")
        for line in _capture(agent, settings, is_isolated=is_isolated):
            terminal.show(f"  {line}")
    names = {agent.name for agent in known}
    for server in configured_agents(settings):
        if server.name not in names:
            terminal.show(f"{server.title}: {server.argv[0]}", "bold")
            captured = _capture_in_chat(server, has_hooks=False, is_isolated=is_isolated)
            terminal.show(f"  captured in the chat: {captured}")
    terminal.show(f"isolation: {f'not available: {fault}' if fault else _AVAILABLE}")
    for line in _OF_ALL:
        terminal.show(line)
    return 0


def _capture(agent: AgentSetup, settings: AgentsSettings, *, is_isolated: bool) -> list[str]:
    """Return lines about what is captured of the edits of an agent, and what is not."""
    lines = [f"tested with version {agent.tested}"]
    if agent.files:
        state, paths = agent.state, ", ".join(str(file.path) for file in agent.files)
        how = "nothing" if state is HookState.MISSING else "hook-redirect"
        lines.append(f"captured in a terminal: {how} ({paths})")
    else:
        state = HookState.MISSING
        lines.append("captured in a terminal: nothing")
    try:
        server = find_agent(agent.name, settings)
    except UnknownAgent as error:
        lines.append(f"captured in the chat: nothing: {error}")
    else:
        has_hooks = state is not HookState.MISSING
        captured = _capture_in_chat(server, has_hooks=has_hooks, is_isolated=is_isolated)
        lines.append(f"captured in the chat: {captured}")
        program = server.argv[0]
        if program != agent.program and shutil.which(program) is None:
            lines.append(f"the chat needs {program}, which is not on the PATH")
    lines += agent.not_captured
    if agent.files and state is not HookState.CURRENT:
        lines.append(f"{_INSTALL[state]}: stet agents install {agent.name} --write")
    return lines


def _capture_in_chat(server: ConfiguredAgent, *, has_hooks: bool, is_isolated: bool) -> str:
    """Return how the edits of an agent of the chat are captured, and how the agent is asked.

    Args:
        server: The agent.
        has_hooks: Whether its hooks are installed.
        is_isolated: Whether the agent is started in an overlay.
    """
    if is_isolated:
        how = "overlay"
    elif server.profile.capture == "client-fs":
        how = "client-fs"
    else:
        how = "hook-redirect" if has_hooks else "nothing"
    return f"{how} (stet ask --agent {server.name})"


async def check_agents(system: System) -> list[Finding]:
    """Return a finding for each agent that is installed: whether its edits are reviewed."""
    found: list[Finding] = []
    known = known_agents()
    versions, fault = await _inspect(known, system)
    for agent in known:
        if (version := versions.get(agent.name)) is None:
            continue
        state = agent.state
        reviewed = "reviewed" if agent.files else "reviewed in the chat"
        if state is not HookState.CURRENT:
            how = "not reviewed" if state is HookState.MISSING else "some edits are not reviewed"
            fix = f"{_INSTALL[state].capitalize()}: stet agents install {agent.name} --write"
            found.append(Finding("note", agent.title, f"{version}, {how}", fix))
        elif _numbers(version) > _numbers(agent.tested):
            fix = f"Stet was tested with {agent.tested}. If an edit is not captured, Stet warns."
            found.append(Finding("note", agent.title, f"{version}, {reviewed}", fix))
        else:
            found.append(Finding("ok", agent.title, f"{version}, {reviewed}"))
    if fault:
        fix = "What an agent changes by shell is not reviewed: see docs/agents.md."
        found.append(Finding("note", "isolation", f"not available: {fault}", fix))
    else:
        found.append(Finding("ok", "isolation", _AVAILABLE))
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


async def _inspect(agents: Iterable[AgentSetup], system: System) -> tuple[dict[str, str], str]:
    """Return the versions of the agents that are installed, by name, and `isolation_fault`."""
    programs = {agent.name: shutil.which(agent.program) for agent in agents}
    found = {name: program for name, program in programs.items() if program}
    fault, *versions = await asyncio.gather(
        isolation_fault(system), *(_version(program, system) for program in found.values())
    )
    return dict(zip(found, versions, strict=True)), fault


async def _version(program: str, system: System) -> str:
    """Return the version that a program prints."""
    try:
        output = await output_of(system, (program, "--version"), VERSION_SECONDS)
    except OSError:  # it hangs, or can't be started: a TimeoutError is an OSError
        return "unknown version"
    version = re.search(r"\d+(?:\.\d+)+", output.decode(errors="replace"))
    return version[0] if version else "unknown version"
