"""`stet agents install` and `uninstall`: the hooks in the settings of an agent.

Stet writes only into the user's own settings of an agent, and removes only entries that it has
written: those whose command is a `stet` with the arguments `hook NAME`.
"""

from contextlib import suppress

from stet.cli.agents.agent_setup import AgentSettingsFile, AgentSetup
from stet.cli.agents.known_agents import agents_of_chat, agents_with_hooks
from stet.cli.files import replace_text
from stet.cli.terminal import CliError, Terminal, coloured
from stet.text.diff import unified_diff


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
    known = {agent.name: agent for agent in agents_with_hooks()}
    if name in known:
        return known[name]
    for agent in agents_of_chat():
        if agent.name == name:
            raise CliError(
                f"{agent.title} has nothing to install: its edits are reviewed in the chat. "
                f"Ask it by `stet ask --agent {name}`.",
                code=2,
            )
    raise CliError(f"no such agent: {name!r}; known: {', '.join(known)}", code=2)


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
