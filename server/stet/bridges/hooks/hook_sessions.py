"""The sessions of other agents that work in the workspace of this server."""

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stet.bridges.hooks.agent_hooks import AGENTS, AgentHooks
from stet.bridges.hooks.hook_events import INTRODUCTION, handle_event
from stet.bridges.hooks.hook_session import HookSession
from stet.bridges.hooks.shadow_folder import ShadowFolder
from stet.bridges.session_view import SessionView
from stet.bridges.session_views import SessionViews
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.render import counted
from stet.workspace.workspace import Workspace

MAX_SESSIONS = 32
"""The most sessions; the oldest is forgotten."""
MAX_SUBAGENTS = 1000
"""The most subagents of which the session is known."""
_SESSION_ID = re.compile(r"[\w-]{1,100}")


class InvalidEvent(ValueError):
    """An event of an agent can't be understood; the message says why."""


class HookSessions:
    """All sessions of one server; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - all its ports
        self,
        workspace: Workspace,
        views: SessionViews,
        system: System,
        folder: Path,
        *,
        show_message: Callable[[str], None],
        warn: Callable[[str], None],
        view_of: Callable[[str], SessionView | None],
    ) -> None:
        """Create no session yet.

        Args:
            workspace: The open documents and the files.
            views: The views of sessions.
            system: The access to the disk.
            folder: The shadow folder of this server.
            show_message: Shows the user a message.
            warn: Shows the user a warning.
            view_of: Returns the view of the session with an id, if Stet runs the agent itself.
        """
        self._workspace = workspace
        self._views = views
        self._system = system
        self._folder = folder
        self._show_message = show_message
        self._warn = warn
        self._view_of = view_of
        self._sessions: dict[tuple[str, str], HookSession] = {}
        self._parents: dict[tuple[str, str], str] = {}
        self._is_closed = False

    async def handle(self, agent: str, event: object) -> object:
        """Handle an event of an agent; return the JSON that the agent reads.

        Raises:
            InvalidEvent: If the agent or the event is unknown, or the server is ending.
        """
        if self._is_closed:
            raise InvalidEvent("Stet is ending")
        if (hooks := AGENTS.get(agent)) is None:
            raise InvalidEvent(f"there is no agent {agent!r}; known: {', '.join(sorted(AGENTS))}")
        if not isinstance(event, Mapping) or not is_session_id(event.get(hooks.session_key)):
            raise InvalidEvent(f"an event is an object with a {hooks.session_key}")
        key, is_subagent = self._session_of(hooks, event)
        kind = event.get("hook_event_name")
        if is_subagent and kind in {hooks.turn_end, hooks.session_end}:
            return {}
        if kind == hooks.session_end:
            await self._suspend(key)
            return {}
        is_new = key not in self._sessions
        session = self._sessions.get(key) or await self._begin(key)
        if (view := self._view_of(key[1])) is not None:
            session.share(view)
        async with session.lock:
            if is_new and (is_subagent or kind != hooks.prompt):
                await session.begin_turn()
            introduction = self._introduction() if is_new or is_subagent else ""
            answer = await handle_event(
                hooks, session, event, introduction, is_subagent=is_subagent
            )
            self._report(agent, session, is_end=kind == hooks.turn_end)
        return answer

    async def close(self) -> None:
        """Close all sessions."""
        self._is_closed = True
        if self._sessions:
            for key in list(self._sessions):
                await self._suspend(key)
            with suppress(OSError):
                await asyncio.to_thread(self._folder.rmdir)

    def _session_of(
        self, hooks: AgentHooks, event: Mapping[str, Any]
    ) -> tuple[tuple[str, str], bool]:
        """Return the key of an event's session, and whether the event is that of a subagent.

        A subagent has the view of the session that has started it.
        """
        key, parent = (hooks.name, str(event[hooks.session_key])), event.get(hooks.parent_key)
        if not is_session_id(parent) or parent == key[1]:
            return key, False
        root = hooks.name, self._parents.get((hooks.name, str(parent)), str(parent))
        self._parents[key] = root[1]
        if len(self._parents) > MAX_SUBAGENTS:
            del self._parents[next(iter(self._parents))]
        return root, root != key

    async def _begin(self, key: tuple[str, str]) -> HookSession:
        agent, session_id = key
        chat = f"{agent}-{session_id}"
        shadow = ShadowFolder(self._system, self._folder / chat)
        session = HookSession(self._views.open(agent, chat), shadow, self._workspace)
        self._sessions[key] = session
        if len(self._sessions) > MAX_SESSIONS:
            oldest = next(iter(self._sessions))
            await self._suspend(oldest)
            del self._sessions[oldest]
        return session

    async def _suspend(self, key: tuple[str, str]) -> None:
        """Remove the copies of a session, which may be resumed later."""
        if (session := self._sessions.get(key)) is not None:
            async with session.lock:
                await session.close()

    def _introduction(self) -> str:
        folders = ", ".join(str(root.path) for root in self._workspace.roots)
        return INTRODUCTION.format(folders=folders)

    def _report(self, agent: str, session: HookSession, *, is_end: bool) -> None:
        """Show warnings of a session, and at the end of a turn how many hunks it has proposed."""
        for warning in session.warnings:
            self._warn(f"Stet: {escape_line(warning)}")
        session.warnings.clear()
        if is_end and session.hunks:
            if not session.is_shared:  # else the end of its turn says so
                number = counted(len(session.hunks), "hunk")
                self._show_message(f"Stet: {agent} proposed {number} to review.")
            session.hunks.clear()


def is_session_id(value: object) -> bool:
    """Return whether a value of an event can be the id of a session."""
    return _SESSION_ID.fullmatch(str(value)) is not None and value is not None
