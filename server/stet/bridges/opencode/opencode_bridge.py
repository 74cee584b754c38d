"""Send the editor's context to an OpenCode server, and retry while the server is down.

The bridge waits until nothing has changed for `debounceSeconds`. Then one task at a time sends the
current state; later changes are sent afterwards. A server that is down is retried at growing
intervals, and at once when the user does something; the log has one line about the failure. Without
a session nothing is sent. A session that refuses every kind of update gets no more updates.
`to_json` is the state for `stet.status`.

When Stet exits, or the settings name another server, the part is hidden, because it would not be
updated any more. If the server does not answer within `LEAVE_SECONDS`, the part stays, and the next
Stet process takes the part over.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from stet.bridges.opencode.opencode_address import (
    InvalidSetting,
    NotOpenCode,
    OpenCodeAddress,
    OpenCodeError,
    OpenCodeRefused,
    OpenCodeUnreachable,
    SessionBusy,
    SessionStopped,
    resolve_address,
)
from stet.bridges.opencode.session_context import ContextPart, collect_context, render_context
from stet.privacy.redactor import RedactedText
from stet.privacy.request_log import Recipient, RequestRecord
from stet.system.system import System
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.bridges.opencode.opencode_clients import PartClient
    from stet.bridges.opencode.opencode_connection import OpenCodeConnection

log = logging.getLogger(__name__)

LEAVE_SECONDS = 1.0
MIN_WAIT = 0.05
MAX_WAIT_AWAY = 30.0
"""The longest interval in seconds between two attempts while the server is down."""
MAX_WAIT_BUSY = 5.0
"""The longest interval in seconds while the session's agent is working."""

OFF, CONNECTING, UPDATED, NO_SESSION = "off", "connecting", "told", "no session"
WAITING, RETRYING, STOPPED = "waiting", "retrying", "stopped"
NOT_AGAIN = "Nothing more is sent to that session; start another one, or restart OpenCode"

Start = Callable[[Coroutine[Any, Any, None], str], None]

_FAULTS = frozenset(
    kind.__name__ for kind in (OpenCodeUnreachable, NotOpenCode, OpenCodeRefused, SessionStopped)
)
"""Names of errors that end when an update succeeds again."""


class OpenCodeBridge:
    """The connection of this editor to one OpenCode server. Used on the event loop only."""

    def __init__(
        self, workspace: Workspace, system: System, start: Start, warn: Callable[[str], None]
    ) -> None:
        """Create the bridge. Nothing is sent before the settings name a server.

        Args:
            workspace: The state of the editor.
            system: Provides the environment.
            start: Starts a task.
            warn: Warns the user of a setting that can't be applied.
        """
        self._workspace = workspace
        self._system = system
        self._start = start
        self._warn = warn
        self._address: OpenCodeAddress | None = None
        self._connection: OpenCodeConnection | None = None
        self._part_client: PartClient | None = None
        self._changed_at = 0.0
        self._is_due = False
        self._is_working = False
        self._changed = asyncio.Event()
        self._last_warning: set[str] = set()
        self._last_logged_request = ("", "")
        self._state = (OFF, "")

    def to_json(self) -> dict[str, str]:
        """Return the bridge's `state` (off, connecting, told, no session, waiting, retrying,
        stopped) and `why`.
        """
        state, why = self._state
        return {"state": state, "why": why}

    def focus_changed(self) -> None:
        """Handle a change of the focus, a selection or the open files. Called on the hot path."""
        if self._address is not None:
            self._mark_changed()

    def settings_changed(self) -> None:
        """Apply changed settings."""
        address = None
        try:
            address = resolve_address(
                self._workspace.settings.bridges.opencode, self._system.environ()
            )
        except InvalidSetting as bad:
            if str(bad) not in self._last_warning:
                self._last_warning.add(str(bad))
                self._warn(f"Stet: settings: {bad}.")
            self._state = (OFF, str(bad))
        else:
            self._state = (OFF, "") if address is None else (CONNECTING, "")
        before, self._address = self._address, address
        if before is not None or address is not None:
            self._mark_changed()

    async def close(self) -> None:
        """Hide the live part and close the connection to the server."""
        self._address = None
        await self._disconnect()

    def _mark_changed(self) -> None:
        """Schedule an update for when nothing has changed for long enough."""
        self._changed_at = asyncio.get_running_loop().time()
        self._is_due = True
        self._changed.set()
        if not self._is_working:
            self._is_working = True
            self._start(self._run(), "context for OpenCode")

    async def _run(self) -> None:
        wait = 0.0
        try:
            while self._is_due:
                await self._wait_quiet()
                self._is_due = False
                self._changed.clear()
                try:
                    await self._send_update()
                except OpenCodeError as error:
                    self._failed(error)
                    if not isinstance(error, SessionStopped):
                        most = MAX_WAIT_BUSY if isinstance(error, SessionBusy) else MAX_WAIT_AWAY
                        wait = min(most, 2 * wait or max(MIN_WAIT, self._debounce))
                        await self._wait(wait)
                        self._is_due = True
                        continue
                wait = 0.0
        finally:
            self._is_working = False

    @property
    def _debounce(self) -> float:
        return self._workspace.settings.bridges.opencode.debounce_seconds

    async def _wait_quiet(self) -> None:
        """Wait until nothing has changed for `debounceSeconds`."""
        now = asyncio.get_running_loop().time
        # No polling: each round sleeps until the moment that was due when the round began.
        while (left := self._changed_at + self._debounce - now()) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)

    async def _wait(self, seconds: float) -> None:
        """Wait for `seconds`, or until something has changed since the last attempt."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    async def _send_update(self) -> None:
        """Send the current state to the session.

        Raises:
            OpenCodeError: If the update fails now.
        """
        address = self._address
        if self._connection is not None and self._connection.address != address:
            await self._disconnect()
        if address is None:
            return
        context = await asyncio.to_thread(collect_context, self._workspace.snapshot())
        part_client = await self._ensure_connected(address)
        session = self._workspace.settings.bridges.opencode.session.strip()
        text, sending = await asyncio.to_thread(
            self._redacted_update, render_context(context), address
        )
        has_session = await part_client.update(ContextPart(text, context.folders, session))
        self._state = (UPDATED, "") if has_session else (NO_SESSION, "")
        if text and (sending.host, text) != self._last_logged_request:
            self._last_logged_request = (sending.host, text)
            self._workspace.request_log.add(sending)
        self._succeeded(address)

    def _redacted_update(self, text: str, address: OpenCodeAddress) -> tuple[str, RequestRecord]:
        """Return the text to send, with marks for secrets, and its record. Called in a worker
        thread.
        """
        is_redacting = self._workspace.settings.privacy.redact_secrets
        redacted = self._workspace.redactor.redact(text) if is_redacting else RedactedText(text)
        sending = RequestRecord(
            self._system.now(),
            Recipient.OPENCODE,
            urlsplit(address.url).netloc.rpartition("@")[2],
            parts=("names of open files, and what is selected",),
            characters=len(redacted.text),
            tokens=len(redacted.text) // 4,
            kinds=tuple(sorted(redacted.kinds.items())),
            is_open=not is_redacting,
        )
        return redacted.text, sending

    async def _disconnect(self) -> None:
        """Hide the live part in the current server, and close the connections to this server."""
        connection, part_client = self._connection, self._part_client
        self._connection = self._part_client = None
        if connection is None:
            return
        try:
            if part_client is not None:
                async with asyncio.timeout(LEAVE_SECONDS):
                    await part_client.release()
        except (OpenCodeError, TimeoutError) as error:
            log.info("the context part stays in OpenCode's session: %s", str(error) or "no answer")
        finally:
            await connection.close()

    async def _ensure_connected(self, address: OpenCodeAddress) -> "PartClient":
        """Return the client that keeps the part of this server.

        Raises:
            OpenCodeError: If the server can't be used.
        """
        if self._connection is None:
            self._connection = await asyncio.to_thread(_connect, address)
        if self._part_client is None:
            from stet.bridges.opencode import opencode_clients  # late, with the HTTP client

            now = asyncio.get_running_loop().time
            self._part_client = await opencode_clients.create_part_client(self._connection, now)
        return self._part_client

    def _failed(self, error: OpenCodeError) -> None:
        """Log once that updates fail, and again only if the error is of another kind."""
        kind = type(error).__name__
        if isinstance(error, NotOpenCode) or (
            isinstance(error, OpenCodeRefused) and error.status == 404
        ):
            self._part_client = None  # perhaps it speaks another API now
        self._state = _state_after_error(error)
        if isinstance(error, SessionBusy) or kind in self._last_warning or self._address is None:
            return
        self._last_warning.add(kind)
        log.warning(
            "OpenCode at %s can't be informed: %s. %s",
            self._address.url,
            error,
            NOT_AGAIN if isinstance(error, SessionStopped) else "Retrying",
        )

    def _succeeded(self, address: OpenCodeAddress) -> None:
        faults = self._last_warning & _FAULTS
        if faults:
            self._last_warning -= faults
            log.info("OpenCode at %s is informed again", address.url)


def _state_after_error(error: OpenCodeError) -> tuple[str, str]:
    """Return the state after an error, and the reason."""
    if isinstance(error, SessionStopped):
        return STOPPED, f"{error}. {NOT_AGAIN}"
    return WAITING if isinstance(error, SessionBusy) else RETRYING, str(error)


def _connect(address: OpenCodeAddress) -> "OpenCodeConnection":
    """Return connections to a server. Blocks on imports and reads."""
    from stet.bridges.opencode.opencode_connection import OpenCodeConnection

    return OpenCodeConnection(address)
