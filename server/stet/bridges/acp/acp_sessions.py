"""The chats of one server with other agents, each with a process of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from stet.agent.session import Session
from stet.agent.turn import ChoiceRefused, Mode, Turn, TurnFailed
from stet.agent.turn_runner import TurnChannel
from stet.bridges.acp.acp_session import AcpSession, Sent
from stet.bridges.acp.agent_process import AgentFailure, Spawn
from stet.bridges.acp.profiles import UnknownAgent, find_agent
from stet.bridges.acp.session_options import SessionOption
from stet.bridges.session_view import SessionView
from stet.bridges.session_views import SessionViews
from stet.llm.model import CHARACTERS_PER_TOKEN
from stet.privacy.request_log import Recipient, RequestRecord, short_names
from stet.workspace.workspace import Workspace

MAX_PROCESSES = 8
"""The most programs of agents that run without a turn; the one unused for longest is ended."""


class AcpSessions:
    """All sessions of one server; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        views: SessionViews,
        *,
        spawn: Spawn,
        warn: Callable[[str], None],
    ) -> None:
        """Create no session yet.

        Args:
            workspace: The open documents, the files and the settings.
            views: The views of sessions.
            spawn: Starts a task.
            warn: Shows a warning to the user.
        """
        self._warn = warn
        self._workspace = workspace
        self._views = views
        self._spawn = spawn
        self._sessions: dict[tuple[str, str], AcpSession] = {}
        self._chosen: dict[tuple[str, str], dict[str, str]] = {}

    async def run(self, turn: Turn, session: Session, channel: TurnChannel) -> Turn:
        """Run a turn of the agent that it names to its end.

        Raises:
            TurnFailed: If the agent is unknown or fails.
        """
        if turn.ask.mode is Mode.REWRITE:
            raise TurnFailed(f"The agent {turn.agent} can't answer in the mode 'rewrite'.")
        settings = self._workspace.settings.agents
        try:
            agent = await asyncio.to_thread(find_agent, turn.agent, settings)
        except UnknownAgent as error:
            raise TurnFailed(str(error)) from error
        key = turn.ask.chat, turn.agent
        one = self._sessions.pop(key, None)
        if one is None or one.agent != agent:
            if one is not None:
                await one.close()
                self._views.close(one.view)
            view = self._views.open(agent.name, turn.ask.chat)
            one = AcpSession(
                agent, view, self._workspace, self._spawn, self._recorder(turn),
                chosen=self._chosen.setdefault(key, {}),
            )  # fmt: skip
        self._sessions[key] = one  # the latest one last
        await self._limit()
        return await one.run(replace(turn, model=agent.name), session, channel)

    def states(self) -> dict[str, str]:
        """Return by name of the agent whether it is `working`, `ready`, or `off`."""
        found: dict[str, str] = {}
        for (_, name), one in self._sessions.items():
            state = "working" if one.is_working else "ready" if one.is_running else "off"
            found[name] = max(found.get(name, ""), state)  # the letters are in this order
        return found

    def options(self, chat: str, agent: str) -> tuple[SessionOption, ...]:
        """Return what an agent offers for a chat, as far as known: as in its other chats, the
        latest first, if it has not begun this one.
        """
        session = self._sessions.get((chat, agent))
        if session is not None and session.options.offered:
            return session.options.offered
        chosen = self._chosen.get((chat, agent), {})
        for (_, name), other in reversed(self._sessions.items()):
            if name == agent and other.options.offered:
                return tuple(
                    replace(one, current=chosen.get(one.id, "")) for one in other.options.offered
                )
        return ()

    def choose(self, chat: str, agent: str, option: str, value: str) -> str:
        """Choose the value of an option for a chat, from the next prompt on at the latest.

        Returns:
            The name of the option and of the value, for the user.

        Raises:
            ChoiceRefused: If the agent does not offer it.
        """
        offered = self.options(chat, agent)
        found = next((one for one in offered if one.id == option), None)
        if found is None:
            known = ", ".join(one.id for one in offered)
            raise ChoiceRefused(f"{agent} has no option {option[:60]!r}. Known: {known or 'none'}.")
        if not found.has(value):
            raise ChoiceRefused(f"{agent} has no {option} {value[:60]!r}.")
        chosen = self._chosen.setdefault((chat, agent), {})
        chosen[option] = value
        session = self._sessions.get((chat, agent))
        if session is not None and session.is_running:
            _ = self._spawn(self._set_chosen(session, chosen, option), f"set {option} of {agent}")
        return f"{found.name}: {found.name_of(value)}"

    async def _set_chosen(self, session: AcpSession, chosen: dict[str, str], option: str) -> None:
        try:
            await session.set_chosen(option)
        except AgentFailure as failure:
            chosen.pop(option, None)
            self._warn(f"The {option} was not set: {failure}")

    def view_of(self, session_id: str) -> SessionView | None:
        """Return the view of the session that an agent calls so, and whose hooks are called."""
        for one in self._sessions.values():
            if one.session_id == session_id and one.is_running:
                one.has_hooks = True
                return one.view
        return None

    def with_hooks(self) -> frozenset[str]:
        """Return the names of the agents whose hooks have been called."""
        return frozenset(name for (_, name), one in self._sessions.items() if one.has_hooks)

    def isolated(self) -> dict[str, bool]:
        """Return by name of the agent whether its program, the latest one, runs isolated."""
        return {
            name: one.is_isolated for (_, name), one in self._sessions.items() if one.is_running
        }

    async def close(self) -> None:
        """End all programs."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for one in sessions:
            await one.close()

    async def _limit(self) -> None:
        """End programs that have not been used for longest."""
        idle = [one for one in self._sessions.values() if one.is_running and not one.is_working]
        for one in idle[: max(0, len(idle) - MAX_PROCESSES)]:
            await one.close()

    def _recorder(self, turn: Turn) -> Callable[[Sent], None]:
        """Return a function that adds what is sent to the request log."""
        chat, name = turn.ask.chat, turn.agent

        def record(sent: Sent) -> None:
            self._workspace.request_log.add(
                RequestRecord(
                    self._workspace.snapshot().system.now(),
                    Recipient.AGENT,
                    host="",
                    model=name,
                    turn=sent.turn,
                    chat=chat,
                    parts=short_names(list(sent.parts)),
                    characters=sent.n_characters,
                    tokens=-(-sent.n_characters // CHARACTERS_PER_TOKEN),
                    kinds=sent.kinds,
                    is_open=sent.is_open,
                )
            )

        return record
