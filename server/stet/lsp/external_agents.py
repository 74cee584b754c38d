"""The agents that answer over the Agent Client Protocol; their parts are imported at first use."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from stet.agent.agent_events import RoundStarted
from stet.agent.turn import ChoiceRefused, TurnFailed
from stet.bridges.session_views import SessionViews
from stet.lsp.tasks import Tasks
from stet.settings.values import AgentsSettings
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.session import Session
    from stet.agent.turn import Turn
    from stet.agent.turn_runner import TurnChannel
    from stet.bridges.acp.acp_sessions import AcpSessions
    from stet.bridges.acp.profiles import ConfiguredAgent
    from stet.bridges.acp.session_options import SessionOption
    from stet.bridges.session_view import SessionView


class ExternalAgents:
    """The external agents of one server; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        views: SessionViews,
        tasks: Tasks,
        warn: Callable[[str], None],
    ) -> None:
        """Start no agent.

        Args:
            workspace: The documents and the settings.
            views: The views of sessions.
            tasks: Starts tasks.
            warn: Shows a warning to the user.
        """
        self._warn = warn
        self._workspace = workspace
        self._views = views
        self._tasks = tasks
        self._sessions: AcpSessions | None = None
        self._configured: tuple[ConfiguredAgent, ...] = ()

    async def run(self, turn: "Turn", session: "Session", channel: "TurnChannel") -> "Turn":
        """Run a turn of the agent that it names to its end.

        Raises:
            TurnFailed: If the agent is unknown or fails.
        """
        channel.emit(RoundStarted(turn, 1, 1))
        try:
            create = await asyncio.to_thread(_import_sessions)
        except ImportError as error:
            raise TurnFailed(
                f"A package that other agents need can't be loaded ({error}). Install "
                "`stet-lsp[agents]` in Stet's environment."
            ) from error
        if self._sessions is None:
            self._sessions = create(
                self._workspace, self._views, spawn=self._tasks.spawn, warn=self._warn
            )
        return await self._sessions.run(turn, session, channel)

    def settings_changed(self) -> None:
        """Read the profiles of the configured agents."""
        settings = self._workspace.settings.agents
        if settings.servers or self._configured:
            self._tasks.start(self._read(settings), "profiles of agents")

    async def known(self) -> "tuple[ConfiguredAgent, ...]":
        """Return the agents of the settings, and others whose program is installed."""
        settings, system = self._workspace.settings.agents, self._workspace.snapshot().system
        return await asyncio.to_thread(_installed_agents, settings, system.environ().get("PATH"))

    def state_of(self, name: str) -> str:
        """Return whether an agent is `working`, `ready` or `off`."""
        return self._sessions.states().get(name, "off") if self._sessions is not None else "off"

    def options(self, chat: str, name: str) -> "tuple[SessionOption, ...]":
        """Return what an agent offers for a chat; nothing before it has answered a question."""
        return self._sessions.options(chat, name) if self._sessions is not None else ()

    def choose(self, chat: str, name: str, option: str, value: str) -> str:
        """Choose the value of an option of an agent in a chat.

        Returns:
            The name of the option and of the value, for the user.

        Raises:
            ChoiceRefused: If the agent does not offer it, as far as known.
        """
        if self._sessions is None:
            raise ChoiceRefused(f"What {name} offers is known after its first answer.")
        return self._sessions.choose(chat, name, option, value)

    def to_json(self) -> list[dict[str, str]]:
        """Return `agents` of `stet.status`."""
        states = self._sessions.states() if self._sessions is not None else {}
        return [
            {
                "name": one.name,
                "state": states.get(one.name, "off"),
                "capture": self._capture(one),
                "isolation": self._isolation(one),
            }
            for one in self._configured
        ]

    def _capture(self, agent: "ConfiguredAgent") -> str:
        """Return how the edits of an agent are caught."""
        if self._sessions is None:
            return agent.profile.capture
        if self._sessions.isolated().get(agent.name):
            return "overlay"
        has_hooks = agent.name in self._sessions.with_hooks()
        return "hook-redirect" if has_hooks else agent.profile.capture

    def _isolation(self, agent: "ConfiguredAgent") -> str:
        """Return how the program of an agent runs; if none runs, the setting."""
        isolated = self._sessions.isolated() if self._sessions is not None else {}
        if agent.name not in isolated:
            return self._workspace.settings.agents.isolation
        return "overlay" if isolated[agent.name] else "none"

    def view_of(self, session_id: str) -> "SessionView | None":
        """Return the view of the session that an agent calls so; None for another session."""
        return self._sessions.view_of(session_id) if self._sessions is not None else None

    async def close(self) -> None:
        """End all agents."""
        if self._sessions is not None:
            await self._sessions.close()

    async def _read(self, settings: AgentsSettings) -> None:
        self._configured = await asyncio.to_thread(_configured_agents, settings)


def _import_sessions() -> "type[AcpSessions]":
    from stet.bridges.acp.acp_sessions import AcpSessions

    return AcpSessions


def _configured_agents(settings: AgentsSettings) -> "tuple[ConfiguredAgent, ...]":
    from stet.bridges.acp.profiles import configured_agents

    return configured_agents(settings)


def _installed_agents(settings: AgentsSettings, path: str | None) -> "tuple[ConfiguredAgent, ...]":
    from stet.bridges.acp.profiles import installed_agents

    return installed_agents(settings, path)
