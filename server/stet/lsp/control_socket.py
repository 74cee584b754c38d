"""The control socket in this server, while the setting `agents.socket` is on.

Its parts are imported when it is opened, after the settings are read, and those for other agents
with the first hook of one.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stet import __version__
from stet.bridges.session_views import SessionViews
from stet.lsp.editor_client import Client
from stet.lsp.optional_server import OptionalServer, Spawn, real_roots
from stet.lsp.other_editors import OtherEditors
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.bridges.hooks.hook_sessions import HookSessions
    from stet.bridges.isolation.isolated_sessions import IsolatedSessions
    from stet.bridges.mcp.mcp_session import McpSessions
    from stet.bridges.session_view import SessionView
    from stet.control.control_server import ControlServer
    from stet.control.descriptor import Descriptor
    from stet.lsp.control_methods import RunCommand
    from stet.search.word_search import Searcher

log = logging.getLogger(__name__)


class ControlSocket:
    """The control socket of one server, and what is reached by it; used on the event loop only.

    Attributes:
        server: The server that listens; it writes the workspace folders into its descriptor.
    """

    def __init__(  # noqa: PLR0913 - the parts that its methods need
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        views: SessionViews,
        client: Client,
        system: System,
        *,
        searcher: "Searcher",
        run_command: "RunCommand",
        spawn: Spawn,
        view_of: "Callable[[str], SessionView | None]",
        others: OtherEditors,
    ) -> None:
        """Create the socket; it is not open before the settings are read.

        Args:
            workspace: The settings, the documents and the workspace folders.
            ledger: The proposals.
            views: The views of sessions.
            client: Shows messages about the work of other agents.
            system: Names the runtime folder.
            searcher: Finds passages for other agents.
            run_command: Runs a command by name, as if the editor had sent it.
            spawn: Starts a task.
            view_of: Returns the view of the session with an id, if Stet runs the agent itself.
            others: The other editors on the folders, which are found by their sockets.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._views = views
        self._client = client
        self._system = system
        self._run_command = run_command
        self._spawn = spawn
        self._view_of = view_of
        self._others = others
        self.server: OptionalServer[ControlServer] = OptionalServer(
            "the control socket",
            spawn,
            is_wanted=lambda: workspace.settings.agents.socket,
            listen=self._listen,
            roots=self._roots,
            failed=_failed,
        )
        self._hooks: HookSessions | None = None
        self._searcher = searcher
        self._mcp: McpSessions | None = None
        self._isolated: IsolatedSessions | None = None
        self._folder = Path()

    async def close(self) -> None:
        """Close the socket and remove its files; what agents have written is proposed first."""
        if self._hooks is not None:
            await self._hooks.close()
        if self._isolated is not None:
            await self._isolated.close()
        await self.server.close()

    async def _listen(self) -> "ControlServer":
        """Return a server that listens.

        Raises:
            OSError: If there can be no socket.
        """
        server = await asyncio.to_thread(self._create)
        self._folder = await asyncio.to_thread(self._system.runtime_folder)
        roots = await asyncio.to_thread(self._roots)
        await server.open(self._folder, roots, self._system.now())
        _ = self._spawn(self._find_others(), "other editors")
        return server

    async def _find_others(self) -> None:
        """Find the servers of other editors that have one of the folders open."""
        self._others.watch(await asyncio.to_thread(self._servers_of_others))

    def _servers_of_others(self) -> "list[Descriptor]":
        """Return the other servers with one of the folders. Blocks on the disk."""
        from stet.control.descriptor import read_descriptors  # imported with the socket

        roots, pid = set(self._roots()), os.getpid()
        servers = read_descriptors(self._folder)
        return [one for one in servers if one.pid != pid and not roots.isdisjoint(one.roots)]

    def _is_asked_by(self, process: int) -> None:
        if not self._others.is_watched(process):
            _ = self._spawn(self._find_others(), "other editors")

    def _create(self) -> "ControlServer":
        """Import the parts; called in a thread."""
        from stet.control.control_server import ControlServer
        from stet.lsp.control_methods import DECISIONS, ControlMethods

        methods = ControlMethods(
            self._workspace,
            self._ledger,
            self._run_command,
            editor=self._client.capabilities.name.title(),
            is_asked_by=self._is_asked_by,
            hooks=self._hook_sessions,
            mcp=self._mcp_sessions,
            isolated=self._isolated_sessions,
        )
        return ControlServer(methods.table, self._spawn, __version__, decisions=DECISIONS)

    async def _hook_sessions(self) -> "HookSessions":
        """Return the sessions of other agents."""
        sessions = await asyncio.to_thread(_import_hooks)
        from stet.control.descriptor import shadow_path  # imported with the socket

        if self._hooks is None:
            self._hooks = sessions(
                self._workspace,
                self._views,
                self._system,
                shadow_path(self._folder, os.getpid()),
                show_message=self._client.show_message,
                warn=self._client.warn,
                view_of=self._view_of,
            )
        return self._hooks

    async def _mcp_sessions(self) -> "McpSessions":
        """Return the sessions of MCP clients."""
        sessions = await asyncio.to_thread(_import_mcp)
        if self._mcp is None:
            self._mcp = sessions(self._workspace, self._ledger, self._views, self._searcher)
        return self._mcp

    async def _isolated_sessions(self) -> "IsolatedSessions":
        """Return the sessions of isolated programs."""
        sessions = await asyncio.to_thread(_import_isolation)
        if self._isolated is None:
            self._isolated = sessions(
                self._workspace,
                self._views,
                self._system,
                show_message=self._client.show_message,
                warn=self._client.warn,
                spawn=self._spawn,
            )
        return self._isolated

    def _roots(self) -> list[str]:
        """Return the real paths of the folders that the editor has named. Blocks on the disk."""
        return real_roots(self._workspace, self._system)


def _failed(error: OSError) -> None:
    log.warning("no control socket: %s. `stet review` and agents can't reach this editor.", error)


def _import_hooks() -> "type[HookSessions]":
    from stet.bridges.hooks.hook_sessions import HookSessions

    return HookSessions


def _import_mcp() -> "type[McpSessions]":
    from stet.bridges.mcp.mcp_session import McpSessions

    return McpSessions


def _import_isolation() -> "type[IsolatedSessions]":
    from stet.bridges.isolation.isolated_sessions import IsolatedSessions

    return IsolatedSessions
