"""Claude Code's IDE protocol in this server, while the setting `agents.claudeIde` is on.

Its parts are imported when it is opened: nobody else needs the websockets.
"""

import asyncio
from typing import TYPE_CHECKING

from stet import __version__
from stet.bridges.session_views import SessionViews
from stet.lsp.editor_client import Client
from stet.lsp.optional_server import OptionalServer, Spawn, real_roots
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.text.escape import escape_line
from stet.text.position import Range
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.bridges.claude_ide.ide_server import IdeServer

_NO_EXTRA = (
    "Stet: `agents.claudeIde` needs the package `websockets`: install Stet with its extra `agents`."
)
_OFF = "Claude Code can't connect: set `agents.claudeIde` to true, then run `claude --ide` here."
_HOW = "No Claude Code is connected: run `claude --ide` in this folder, or type /ide in Claude."


class NotConnected(Exception):
    """No Claude Code is connected; the message says what to do."""


class ClaudeIde:
    """What `claude --ide` reaches; used on the event loop only.

    Attributes:
        server: The server that it connects to; it writes the workspace folders into a lock file.
    """

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
        """Create the server; it is not open before the settings are read.

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
        self._others_moved = workspace.activity.moved
        self._is_missing = False
        self.server: OptionalServer[IdeServer] = OptionalServer(
            "Claude's IDE protocol",
            spawn,
            is_wanted=lambda: workspace.settings.agents.claude_ide,
            listen=self._listen,
            roots=self._roots,
            failed=self._failed,
        )

    async def mention(self, uri: str, lines: Range | None) -> int:
        """Name a file, or lines of it, in the prompt of each Claude Code; return their number.

        Claude reads the saved file: the user is warned of unsaved text.

        Raises:
            NotConnected: If no Claude Code is connected.
            NotShown: If the file may not be shown.
        """
        n_sessions, listener = 0, self.server.listener
        if listener is not None:
            n_sessions, is_saved = await listener.mention(uri, lines)
            if n_sessions and not is_saved:
                name = escape_line(self._workspace.snapshot().name_of(uri))
                self._client.warn(f"Stet: Claude does not see the unsaved text of {name}.")
        if not n_sessions:
            raise NotConnected(_OFF if listener is None else _HOW)
        return n_sessions

    async def _listen(self) -> "IdeServer | None":
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
            show_message=self._client.show_message,
            warn=self._client.warn,
            version=__version__,
        )
        await server.open(await asyncio.to_thread(self._roots))
        self._workspace.activity.moved = self._moved
        return server

    def _moved(self) -> None:
        """Pass on that the selection has moved. On the hot path."""
        self._others_moved()
        if (listener := self.server.listener) is not None:
            listener.moved()

    def _roots(self) -> list[str]:
        """Return the paths of the folders that the editor has named, as it names them and without
        links. Blocks on the disk.
        """
        real = real_roots(self._workspace, self._system)
        named = [str(root.path) for root in self._workspace.roots] if real else []
        return list(dict.fromkeys((*named, *real)))

    def _failed(self, error: OSError) -> None:
        self._client.warn(f"Stet: Claude Code can't find this editor: {error}")


def _import_server() -> "type[IdeServer]":
    from stet.bridges.claude_ide.ide_server import IdeServer

    return IdeServer
