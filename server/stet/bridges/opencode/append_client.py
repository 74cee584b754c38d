"""Context by OpenCode's newer API (`/api`), which can neither replace nor hide what it was sent.

So what is sent is sent seldom: at most once in `SECONDS_BETWEEN`, only when it has changed, and with a
word that it stands in place of what came before. Nothing can be taken back when Stet leaves.
"""

from collections.abc import Callable

from stet.bridges.opencode import opencode_schema
from stet.bridges.opencode.context_part import ContextPart
from stet.bridges.opencode.opencode_connection import OpenCodeConnection
from stet.bridges.opencode.opencode_errors import OpenCodeRefused, SessionBusy, SessionStopped

SECONDS_BETWEEN = 30.0
"""Between two messages to a session."""
NOTHING_OPEN = "<system-reminder>\nNo file is open in the editor any more.\n</system-reminder>"
INSTEAD = "<system-reminder>\n(in place of what was said of the editor before)\n"
_N_LISTED = "50"


class AppendClient:
    """Tells the sessions of one server. Touched by one task at a time."""

    def __init__(self, connection: OpenCodeConnection, now: Callable[[], float]) -> None:
        """`now` is a monotonic clock, in seconds."""
        self._connection = connection
        self._now = now
        self._last_text: dict[str, str] = {}
        self._last_sent_at: dict[str, float] = {}
        self._stopped: dict[str, str] = {}
        """Sessions that are told nothing more, and why."""

    async def update(self, part: ContextPart) -> bool:
        """Tell the session what has changed.

        Returns:
            False if there is no session.

        Raises:
            OpenCodeError: If it can't be told now.
            Stopped: If the session has refused a message.
        """
        session = await self._session(part)
        if session is None:
            return False
        if session.id in self._stopped:
            raise SessionStopped(self._stopped[session.id])
        known = self._last_text.get(session.id, "")
        if part.text == known:
            return True
        if self._now() - self._last_sent_at.get(session.id, float("-inf")) < SECONDS_BETWEEN:
            raise SessionBusy("the session was told a moment ago")
        text = part.text or NOTHING_OPEN
        if known and part.text:
            text = text.replace("<system-reminder>\n", INSTEAD, 1)
        body = {"prompt": {"text": text}, "resume": False}
        path = f"/api/session/{session.id}/prompt"
        try:
            await self._connection.request("POST", path, opencode_schema.NOTHING, body=body)
        except OpenCodeRefused as refused:
            if not refused.is_final:
                raise
            why = f"the session {session.id} takes no message from Stet ({refused})"
            self._stopped[session.id] = why
            raise SessionStopped(why) from refused
        self._last_text[session.id] = part.text
        self._last_sent_at[session.id] = self._now()
        return True

    async def release(self) -> None:
        """Nothing can be taken back."""

    async def _session(self, part: ContextPart) -> opencode_schema.OpenCodeSession | None:
        if part.pinned:
            path = f"/api/session/{part.pinned}"
            try:
                return (
                    await self._connection.request("GET", path, opencode_schema.NEWER_SESSION)
                ).data
            except OpenCodeRefused as refused:
                if refused.status in {400, 404}:
                    return None
                raise
        if not part.folders:
            return None
        query = {"directory": part.folders[0], "order": "desc", "limit": _N_LISTED}
        session = await self._connection.request(
            "GET", "/api/session", opencode_schema.NEWER_SESSIONS, query=query
        )
        return opencode_schema.newest_session(session.data, part.folders)
