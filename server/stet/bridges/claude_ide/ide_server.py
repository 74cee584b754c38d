"""The websocket on loopback that Claude Code connects to, and its sessions.

A client must send the token of the lock file. A request with an `Origin` is from a web page, and is
refused.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.typing import Subprotocol

from stet.bridges.claude_ide.editor_view import EditorView, IdeSelection
from stet.bridges.claude_ide.ide_session import IdeSession, Spawn
from stet.bridges.claude_ide.ide_tools import IdeTools, ShowDocument
from stet.bridges.claude_ide.lock_file import LockFile, lock_folder
from stet.bridges.claude_ide.open_diffs import OpenDiffs
from stet.bridges.session_views import SessionViews
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.text.position import Range
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

AGENT = "claude"
HEADER = "x-claude-code-ide-authorization"
MAX_MESSAGE = 16 * 2**20
"""The most bytes of a message."""
MAX_SESSIONS = 32
SELECTION_SECONDS = 0.1
"""How long the selection must have been quiet before it is sent."""
JOINED_SECONDS = (0.0, 1.0)
"""When a new session is sent the selection, after its handshake."""
_SILENT = logging.getLogger(f"{__name__}.websocket")
_SILENT.disabled = True  # its messages hold the token


class IdeServer:
    """The server of one editor; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - the parts that its sessions need
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        views: SessionViews,
        system: System,
        *,
        spawn: Spawn,
        show: ShowDocument,
        show_message: Callable[[str], None],
        warn: Callable[[str], None],
        version: str,
    ) -> None:
        """Create a server that does not listen yet.

        Args:
            workspace: The open documents and the files.
            ledger: The proposals.
            views: The views of sessions.
            system: The environment.
            spawn: Starts a task.
            show: Asks the editor to show a document; returns whether it does.
            show_message: Shows the user a message.
            warn: Shows the user a warning.
            version: The version of Stet.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._system = system
        self._views = views
        self._spawn = spawn
        self._show = show
        self._show_message = show_message
        self._warn = warn
        self._version = version
        self._editor = EditorView(workspace)
        self._token = secrets.token_urlsafe(32)
        self._server: Server | None = None
        self._lock: LockFile | None = None
        self._sessions: set[IdeSession] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_sending = asyncio.Lock()
        self._last_sent: dict[str, object] | None = None

    async def open(self, roots: Sequence[str]) -> None:
        """Listen, and write the lock file.

        Args:
            roots: The absolute paths of the workspace folders.

        Raises:
            OSError: If the server can't listen, or the file can't be written.
        """
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            origins=[None],
            subprotocols=[Subprotocol("mcp")],
            process_request=self._check,
            compression=None,
            max_size=MAX_MESSAGE,
            server_header=None,
            logger=_SILENT,
        )
        port: int = next(iter(self._server.sockets)).getsockname()[1]
        try:
            folder = lock_folder(self._system.environ())
            self._lock = LockFile(folder, port, self._token)
            await self.set_roots(roots)
        except OSError:
            await self.close()
            raise

    async def set_roots(self, roots: Sequence[str]) -> None:
        """Write the lock file with other workspace folders.

        Raises:
            OSError: If it can't be written.
        """
        if self._lock is not None:
            await asyncio.to_thread(self._lock.write, roots)

    async def close(self) -> None:
        """Remove the lock file, answer what waits, and end all sessions."""
        if self._timer is not None:
            self._timer.cancel()
        if self._lock is not None:
            await asyncio.to_thread(self._lock.remove)
        for session in list(self._sessions):
            await session.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def moved(self) -> None:
        """Send the selection when it has been quiet for a moment. On the hot path."""
        if self._sessions and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SELECTION_SECONDS, self._send_later)

    async def mention(self, uri: str, lines: Range | None) -> tuple[int, bool]:
        """Name a file in the prompts of all sessions.

        Args:
            uri: The file.
            lines: The lines, in code points of its text; None for the whole file.

        Returns:
            The number of sessions, and whether the file on the disk has the text of the editor.

        Raises:
            NotShown: If the file may not be shown.
        """
        if not (sessions := self._ready):
            return 0, True
        mentioned = await self._editor.mention(uri, lines)
        for session in sessions:
            await session.notify("at_mentioned", mentioned.wire)
        return len(sessions), mentioned.is_saved

    @property
    def _ready(self) -> list[IdeSession]:
        return [session for session in self._sessions if session.is_ready]

    def _send_later(self) -> None:
        self._timer = None
        _ = self._spawn(self._send_selection(), "the selection for Claude Code")

    async def _send_selection(self) -> None:
        """Send the selection to all sessions, unless it is the one that was sent last."""
        async with self._is_sending:
            selected = await self._editor.selection()
            sessions = self._ready
            if selected is None or not sessions or selected.wire == self._last_sent:
                return
            self._last_sent = selected.wire
            self._record(selected)
            for session in sessions:
                await session.notify("selection_changed", selected.wire)

    def _record(self, selected: IdeSelection) -> None:
        if selected.record is not None:
            self._workspace.request_log.add(selected.record)

    def _check(self, connection: ServerConnection, request: "Request") -> "Response | None":
        """Return a refusal of a request without the token; None to accept it."""
        sent = request.headers.get_all(HEADER)
        token = sent[0] if len(sent) == 1 else ""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return connection.respond(HTTPStatus.UNAUTHORIZED, "The token is missing or wrong.\n")
        if len(self._sessions) >= MAX_SESSIONS:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "Too many sessions.\n")
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        """Serve one connection until its end."""
        view = self._views.open(AGENT, f"{AGENT}-ide-{secrets.token_hex(6)}")
        diffs = OpenDiffs(
            self._workspace, self._ledger, view, show_message=self._show_message, warn=self._warn
        )
        tools = IdeTools(self._workspace, self._editor, diffs, self._show)
        session = IdeSession(
            connection,
            diffs,
            tools,
            spawn=self._spawn,
            version=self._version,
            joined=self._joined,
        )
        self._sessions.add(session)
        try:
            await session.serve()
        finally:
            self._sessions.discard(session)
            self._views.close(view)

    def _joined(self) -> None:
        """Send a new session the selection, twice: Claude Code does not listen at once."""
        loop = asyncio.get_running_loop()
        for seconds in JOINED_SECONDS:
            loop.call_later(seconds, self._send_again)

    def _send_again(self) -> None:
        self._last_sent = None
        self.moved()
