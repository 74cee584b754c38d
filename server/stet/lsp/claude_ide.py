"""Claude Code's IDE protocol in this server: opened and closed as the setting says.

Its parts are imported when it is opened: nobody else needs the websockets.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

from stet import __version__
from stet.bridges.session_views import SessionViews
from stet.lsp.control_socket import Spawn
from stet.lsp.editor_client import Client
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.position import Range
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.bridges.claude_ide.ide_server import IdeServer

log = logging.getLogger(__name__)

_NO_EXTRA = (
    "Stet: `agents.claudeIde` needs the package `websockets`: install Stet with its extra `agents`."
)
_OFF = "Claude Code can't connect: set `agents.claudeIde` to true, then run `claude --ide` here."
_HOW = "No Claude Code is connected: run `claude --ide` in this folder, or type /ide in Claude."


class NotConnected(Exception):
    """No Claude Code is connected; the message says what to do."""


class ClaudeIde:
    """The server for `claude --ide`; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - the parts that its sessions need
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        views: SessionViews,
        client: Client,
        system: System,
        *,
        spawn: Spawn,
    ) -> None:
        """Create it; it is not open before the settings are read.

        Args:
            workspace: The settings, the documents and the workspace folders.
            ledger: The proposals.
            views: The views of sessions.
            client: Shows messages and documents.
            system: Names Claude's folder.
            spawn: Starts a task.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._views = views
        self._client = client
        self._system = system
        self._spawn = spawn
        self._server: IdeServer | None = None
        self._others_moved = workspace.activity.moved
        self._is_missing = False
        self._in_order = asyncio.Lock()

    def settings_changed(self) -> None:
        """Open or close the server if the setting `agents.claudeIde` has changed."""
        if self._workspace.settings.agents.claude_ide != (self._server is not None):
            _ = self._spawn(self._apply(), "Claude's IDE protocol")

    def folders_changed(self) -> None:
        """Write the workspace folders into the lock file."""
        if self._server is not None:
            _ = self._spawn(self._apply(), "Claude's IDE protocol")

    async def mention(self, uri: str, lines: Range | None) -> int:
        """Name a file, or lines of it, in the prompt of each Claude Code; return their number.

        Claude reads the saved file: the user is warned of unsaved text.

        Raises:
            NotConnected: If no Claude Code is connected.
            NotShown: If the file may not be shown.
        """
        n_sessions = 0
        if self._server is not None:
            n_sessions, is_saved = await self._server.mention(uri, lines)
            if n_sessions and not is_saved:
                name = escape_line(self._workspace.snapshot().name_of(uri))
                self._client.warn(f"Stet: Claude does not see the unsaved text of {name}.")
        if not n_sessions:
            raise NotConnected(_HOW if self._server is not None else _OFF)
        return n_sessions

    async def close(self) -> None:
        """Close the server, and remove its lock file."""
        if self._server is not None:
            await self._server.close()

    async def _apply(self) -> None:
        async with self._in_order:
            is_wanted = self._workspace.settings.agents.claude_ide
            try:
                if self._server is None and is_wanted:
                    self._server = await self._open()
                elif self._server is not None and is_wanted:
                    await self._server.set_roots(await asyncio.to_thread(self._roots))
                elif self._server is not None:
                    server, self._server = self._server, None
                    self._workspace.activity.moved = self._others_moved
                    await server.close()
            except OSError as error:
                self._client.warn(f"Stet: Claude Code can't find this editor: {error}")

    async def _open(self) -> "IdeServer | None":
        """Return a server that listens; None without the package that it needs.

        Raises:
            OSError: If there can be none.
        """
        try:
            create = await asyncio.to_thread(_import_server)
        except ImportError:
            if not self._is_missing:
                self._client.warn(_NO_EXTRA)
            self._is_missing = True
            return None
        server = create(
            self._workspace,
            self._ledger,
            self._views,
            self._system,
            spawn=self._spawn,
            show=self._client.show_document,
            tell=self._client.show_message,
            warn=self._client.warn,
            version=__version__,
        )
        await server.open(await asyncio.to_thread(self._roots))

        def moved() -> None:  # on the hot path
            self._others_moved()
            server.moved()

        self._workspace.activity.moved = moved
        return server

    def _roots(self) -> list[str]:
        """Return the paths of the folders that the editor has named, as it names them and without
        links. Blocks on the disk.
        """
        if not self._workspace.folders:
            return []
        named = [root.path for root in self._workspace.roots]
        real = [self._system.real_path(path) for path in named]
        return list(dict.fromkeys(str(path) for path in (*named, *real)))


def _import_server() -> "type[IdeServer]":
    from stet.bridges.claude_ide.ide_server import IdeServer

    return IdeServer
