"""`stet agents`: the agents whose edits are reviewed, and the hooks in their settings.

Stet writes only into the user's own settings of an agent, and removes only entries that it has
written: those whose command is a `stet` with the arguments `hook NAME`.
"""

import asyncio
import re
import shutil
from contextlib import suppress

from stet.cli.agents.agent_setup import AgentSettingsFile, AgentSetup, HookState
from stet.cli.agents.known_agents import known_agents
from stet.cli.editor_check import VERSION_SECONDS
from stet.cli.files import replace_text
from stet.cli.finding import Finding
from stet.cli.terminal import CliError, Terminal, coloured
from stet.system.helper_process import output_of
from stet.system.overlay_probe import isolation_fault
from stet.system.system import System
from stet.text.diff import unified_diff

_INSTALL = {
    HookState.MISSING: "to review its edits",
    HookState.OUTDATED: "its hooks are not those of this Stet, or not trusted; to install them again",
}

_AVAILABLE = "overlay available, for agents in the chat and stet run PROGRAM"


def show() -> int:
    """Show the agents, their versions and whether their hooks are installed."""
    terminal, system = Terminal(), System()
    for agent in known_agents():
        program = shutil.which(agent.program)
        version = asyncio.run(_version(program, system)) if program else ""
        found = f"{version}, {program}" if program else "not found on the PATH"
        state = agent.state
        how = "not reviewed" if state is HookState.MISSING else "hook-redirect"
        paths = ", ".join(str(file.path) for file in agent.files)
        terminal.show(f"{agent.name}: {agent.title} {found}", "bold")
        terminal.show(f"  capture: {how} ({paths})")
        terminal.show(f"  tested with version {agent.tested}")
        for line in agent.not_captured:
            terminal.show(f"  {line}")
        if state is not HookState.CURRENT:
            terminal.show(f"  {_INSTALL[state]}: stet agents install {agent.name} --write")
    fault = asyncio.run(isolation_fault(system))
    terminal.show(f"isolation: {f'not available: {fault}' if fault else _AVAILABLE}")
    return 0


async def check_agents(system: System) -> list[Finding]:
    """Return a finding for each agent that is installed: whether its edits are reviewed."""
    found: list[Finding] = []
    for agent in known_agents():
        if (program := shutil.which(agent.program)) is None:
            continue
        version = await _version(program, system)
        state = agent.state
        if state is not HookState.CURRENT:
            how = "not reviewed" if state is HookState.MISSING else "some edits are not reviewed"
            fix = f"{_INSTALL[state].capitalize()}: stet agents install {agent.name} --write"
            found.append(Finding("note", agent.title, f"{version}, {how}", fix))
        elif _numbers(version) > _numbers(agent.tested):
            fix = f"Stet was tested with {agent.tested}. If an edit is not redirected, Stet warns."
            found.append(Finding("note", agent.title, f"{version}, reviewed", fix))
        else:
            found.append(Finding("ok", agent.title, f"{version}, reviewed"))
    if fault := await isolation_fault(system):
        fix = "What an agent changes by shell is not reviewed: see docs/agents.md."
        found.append(Finding("note", "isolation", f"not available: {fault}", fix))
    else:
        found.append(Finding("ok", "isolation", _AVAILABLE))
    return found


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def install(name: str, *, write: bool) -> int:
    """Show or write the hooks of an agent into the user's settings.

    Raises:
        CliError: If the agent is unknown, or its settings can't be read or written.
    """
    agent = _named(name)
    done = f"{agent.title} is reviewed from its next start on, in folders that an editor has open."
    changes = [(file, text := file.read(), file.with_hooks(text)) for file in agent.files]
    return _apply(changes, done, write=write)


def uninstall(name: str, *, write: bool) -> int:
    """Show or make the removal of Stet's hooks from the user's settings of an agent.

    Raises:
        CliError: If the agent is unknown, or its settings can't be read or written.
    """
    agent = _named(name)
    changes = [(file, text := file.read(), file.without_hooks(text)) for file in agent.files]
    return _apply(changes, f"{agent.title} is no longer reviewed.", write=write)


def _named(name: str) -> AgentSetup:
    known = {agent.name: agent for agent in known_agents()}
    if name not in known:
        raise CliError(f"no such agent: {name!r}; known: {', '.join(known)}", code=2)
    return known[name]


def _apply(changes: list[tuple[AgentSettingsFile, str, str]], done: str, *, write: bool) -> int:
    """Show the difference of the texts of files, and write the wanted ones if `write`.

    Args:
        changes: Each file, its text, and the wanted text; "" for no file.
        done: A sentence for the user after it was written.
        write: Whether to write.

    Raises:
        CliError: If a file can't be written.
    """
    terminal = Terminal()
    for file, before, after in changes:
        name = str(file.path)
        if before == after:
            terminal.say(f"Nothing to change in {name}.")
            continue
        terminal.show(coloured(unified_diff(before, after, name, name)))
        if not write:
            terminal.say("Nothing was written: add --write.", "yellow")
            continue
        try:
            _write(file, after)
        except OSError as error:
            raise CliError(f"{name} can't be written: {error}") from error
        terminal.say(f"Wrote {name}. {done}" if after else f"Removed {name}. {done}", "green")
    return 0


def _write(file: AgentSettingsFile, text: str) -> None:
    """Write a file, or remove it if its text is empty.

    Raises:
        OSError: If it can't be written or removed.
    """
    if text:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(file.path.resolve(), text)
        return
    with suppress(FileNotFoundError):
        file.path.unlink()


async def _version(program: str, system: System) -> str:
    """Return the version that a program prints."""
    try:
        output = await output_of(system, (program, "--version"), VERSION_SECONDS)
    except OSError:  # it hangs, or can't be started: a TimeoutError is an OSError
        return "unknown version"
    version = re.search(r"\d+(?:\.\d+)+", output.decode(errors="replace"))
    return version[0] if version else "unknown version"
