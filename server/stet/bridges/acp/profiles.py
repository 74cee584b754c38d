"""The profiles of the agents: what Stet knows of each program, as data files beside this module."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any, Literal, get_args, get_type_hints

from stet.agent.turn import STET
from stet.settings.values import AgentServerSettings, AgentsSettings

NAMES: tuple[str, ...] = get_args(get_type_hints(AgentServerSettings)["profile"])
"""The names of the profiles."""
Capture = Literal["client-fs", "none"]
"""How edits are caught: by the requests of the agent to write a file, or not by the protocol."""


class UnknownAgent(Exception):
    """There is no such agent; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class AgentProfile:
    """What is known of a program.

    Attributes:
        title: The name of the program for the user; "" if unknown.
        tested: The version of the program with which the tests run, if no hooks name it; else "".
        command: The program and its arguments.
        model_arguments: The arguments that choose a model, with `{model}` for its name.
        mode: The agent's mode that is set at the start of a session; "" for its own.
        capture: How edits are caught.
        reads_disk: Whether the agent reads files past the client, so that it misses unsaved text.
        missing_is_empty: Whether a file that does not exist is answered as an empty file.
        login: What the user runs in a terminal to log in; "" if unknown.
        pass_env: Variables that the program gets if they are set, beside those of any program.
        authentication: By variable, the method by which the agent is authenticated if it is set.
    """

    title: str = ""
    tested: str = ""
    command: tuple[str, ...] = ()
    model_arguments: tuple[str, ...] = ()
    mode: str = ""
    capture: Capture = "none"
    reads_disk: bool = False
    missing_is_empty: bool = False
    login: str = ""
    pass_env: tuple[str, ...] = ()
    authentication: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConfiguredAgent:
    """An agent as the user has configured it: its settings, and the profile for the rest."""

    server: AgentServerSettings
    profile: AgentProfile

    @property
    def name(self) -> str:
        """The user's name for the agent."""
        return self.server.name

    @property
    def title(self) -> str:
        """The user's name for the agent, and the name of the program if it is known."""
        return f"{self.name} ({self.profile.title})" if self.profile.title else self.name

    @property
    def argv(self) -> tuple[str, ...]:
        """The program and its arguments."""
        argv = self.server.command or self.profile.command
        if not self.server.model:
            return argv
        chosen = (one.format(model=self.server.model) for one in self.profile.model_arguments)
        return (*argv, *chosen)

    @property
    def mode(self) -> str:
        """The mode that is set at the start of a session; "" for the agent's own."""
        return self.server.mode or self.profile.mode


@cache
def read_profile(name: str) -> AgentProfile:
    """Return a profile. Blocks on the disk, the first time."""
    path = Path(__file__).with_name("profiles") / f"{name}.toml"
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    fields: dict[str, Any] = {
        key: tuple(one) if isinstance(one, list) else one for key, one in values.items()
    }
    return AgentProfile(**fields)


def find_agent(name: str, settings: AgentsSettings) -> ConfiguredAgent:
    """Return the agent of a name: one of the user's, or else a profile of that name.

    Blocks on the disk, the first time.

    Raises:
        UnknownAgent: If there is none.
    """
    server = next((one for one in settings.servers if one.name == name), None)
    if server is None and name in NAMES and name != "generic":
        server = AgentServerSettings(name, profile=name)  # type: ignore[arg-type]  # in NAMES
    if server is None:
        known = (STET, *(one.name for one in settings.servers), *NAMES[1:])
        listed = ", ".join(dict.fromkeys(known))
        raise UnknownAgent(f"There is no agent {name[:60]!r}. Known agents: {listed}.")
    agent = ConfiguredAgent(server, read_profile(server.profile))
    if not agent.argv:
        raise UnknownAgent(f"Set agents.servers.{name[:60]}.command to the program of the agent.")
    return agent


def configured_agents(settings: AgentsSettings) -> tuple[ConfiguredAgent, ...]:
    """Return the agents of the settings that have a program. Blocks on the disk."""
    found = []
    for server in settings.servers:
        try:
            found.append(find_agent(server.name, settings))
        except UnknownAgent:
            continue  # a question to it reports this
    return tuple(found)


def installed_agents(settings: AgentsSettings, path: str | None) -> tuple[ConfiguredAgent, ...]:
    """Return the agents of the settings, and the profiles whose program is installed.

    Blocks on the disk.

    Args:
        settings: The settings.
        path: The value of the variable `PATH`.
    """
    found = configured_agents(settings)
    names = {one.name for one in settings.servers}
    others = (
        find_agent(name, settings)
        for name in NAMES[1:]
        if name not in names and which(read_profile(name).command[0], path=path)
    )
    return (*found, *others)
