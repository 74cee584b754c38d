"""The programs that `stet run` has started in the workspace of this server."""

import asyncio
import os
import re
import secrets
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from stet.bridges.hooks.agent_hooks import AGENTS
from stet.bridges.hooks.hook_events import context_answer
from stet.bridges.hooks.hook_sessions import is_session_id
from stet.bridges.isolation.isolated_session import INTRODUCTION, IsolatedSession
from stet.bridges.isolation.workspace_layers import layers_folder, make_layers, remove_layers
from stet.bridges.session_views import SessionViews
from stet.system.process_id import is_alive
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.render import counted
from stet.workspace.workspace import Workspace

MAX_SESSIONS = 8
_PROGRAM = re.compile(r"[A-Za-z0-9][\w.+-]{0,39}")


class RunRefused(ValueError):
    """A program can't be isolated; the message says why."""


class _Running:
    """A session, the folder of its layers, and the `stet run` that has it.

    Attributes:
        view: The view of the program itself; an agent that it starts has its own.
    """

    def __init__(self, session: IsolatedSession, folder: Path, process: int) -> None:
        self.session = session
        self.view = session.view
        self.folder = folder
        self.process = process
        self.introduced: set[str] = set()
        self.reported: set[str] = set()
        self.watching: asyncio.Task[None] | None = None


class IsolatedSessions:
    """All isolated programs of one server; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - all its ports
        self,
        workspace: Workspace,
        views: SessionViews,
        system: System,
        *,
        show_message: Callable[[str], None],
        warn: Callable[[str], None],
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> None:
        """Have no session yet.

        Args:
            workspace: The open documents and the files.
            views: The views of sessions.
            system: The access to the disk.
            show_message: Shows the user a message.
            warn: Shows the user a warning.
            spawn: Starts a task.
        """
        self._workspace = workspace
        self._views = views
        self._system = system
        self._show_message = show_message
        self._warn = warn
        self._spawn = spawn
        self._running: dict[str, _Running] = {}

    async def start(self, program: str, process: int) -> dict[str, object]:
        """Prepare the layers for a program; return what `stet run` needs to start it.

        Args:
            program: The name of the program, the author of its hunks.
            process: The process id of `stet run`: when it ends, the session ends.

        Raises:
            RunRefused: If the layers can't be made.
        """
        if len(self._running) >= MAX_SESSIONS:
            raise RunRefused(f"{MAX_SESSIONS} programs are isolated already: end one of them")
        author = program if _PROGRAM.fullmatch(program) else "program"
        name = f"{author}-run-{secrets.token_hex(4)}"
        try:
            isolated = await asyncio.to_thread(layers_folder, self._system)
            folder = isolated / str(os.getpid()) / name
            roots = self._workspace.roots
            layers = await asyncio.to_thread(make_layers, folder, roots, self._system)
            view = self._views.open(author, name)
            session = IsolatedSession(view, self._workspace, layers)
            await view.begin_turn()
            await session.prepare()
        except OSError as error:
            raise RunRefused(f"the layers of the workspace can't be made: {error}") from error
        running = self._running[name] = _Running(session, folder, process)
        running.watching = self._spawn(self._scan(name, running), "an isolated program")
        return {
            "session": name,
            "overlays": [[str(path) for path in one.overlay] for one in layers],
            "hidden": str(isolated),
        }

    async def end(self, name: str) -> dict[str, object]:
        """Propose what a program has changed, remove its layers, and return a summary for people.

        Raises:
            RunRefused: If there is no such session.
        """
        running = self._running.pop(name, None)
        if running is None:
            raise RunRefused(f"there is no isolated session {name!r}")
        if running.watching is not None:
            running.watching.cancel()
        session = running.session
        await session.finish()
        await asyncio.to_thread(remove_layers, running.folder)
        self._views.close(running.view)
        self._report(running)
        return {
            "hunks": len(session.hunks),
            "warnings": [escape_line(one) for one in session.warnings],
        }

    async def close(self) -> None:
        """Propose what the programs have changed until now; their layers stay."""
        for running in self._running.values():
            if running.watching is not None:
                running.watching.cancel()
            await running.session.finish()
        self._running.clear()

    async def handle(self, name: str, agent: str, event: Mapping[str, Any]) -> dict[str, object]:
        """Handle a hook that an isolated agent has called.

        Args:
            name: The session.
            agent: The name of the agent.
            event: The input of the hook.

        Returns:
            The `answer` that the agent reads, and `files`: paths and texts, None for no file, which
            the hook is to write within the overlay before it answers.

        Raises:
            RunRefused: If the session or the agent is unknown.
        """
        running, hooks = self._running.get(name), AGENTS.get(agent)
        if running is None or hooks is None or not is_session_id(event.get(hooks.session_key)):
            raise RunRefused(f"there is no isolated session {name!r} of an agent {agent!r}")
        kind, agent_session = event.get("hook_event_name"), event[hooks.session_key]
        answer: object = {}
        files: dict[Path, str | None] = {}
        if event.get(hooks.parent_key) not in {None, agent_session}:
            pass  # a subagent: its prompt is the agent's
        elif kind == hooks.turn_end:
            await running.session.collect(is_end=True)
            self._report(running)
        elif kind == hooks.prompt:
            view = self._views.open(agent, f"{agent}-{agent_session}")
            feedback, files = await running.session.begin_turn(view)
            answer = context_answer(hooks, kind, self._introduction(running), feedback)
        return {"answer": answer, "files": [[str(path), text] for path, text in files.items()]}

    def _introduction(self, running: _Running) -> str:
        """Return the first text for an agent, or "" later."""
        chat = running.session.view.chat
        if chat in running.introduced:
            return ""
        running.introduced.add(chat)
        folders = ", ".join(str(root.path) for root in self._workspace.roots)
        return INTRODUCTION.format(folders=folders)

    def _report(self, running: _Running) -> None:
        """Show the user the new warnings of a session, and how many hunks are new."""
        session, reported = running.session, running.reported
        author = session.view.agent
        for warning in [one for one in session.warnings if one not in reported]:
            self._warn(f"Stet: {author}: {escape_line(warning)}")
        if n_new := len(session.hunks.keys() - reported):
            self._show_message(f"Stet: {author} proposed {counted(n_new, 'hunk')} to review.")
        reported |= session.warnings.keys() | session.hunks.keys()

    async def _scan(self, name: str, running: _Running) -> None:
        """Propose changes while the program runs, and end the session with it."""
        await running.session.watch(lambda: is_alive(running.process))
        running.watching = None
        if name in self._running:
            await self.end(name)
