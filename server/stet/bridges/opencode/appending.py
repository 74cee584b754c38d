"""Context by OpenCode's newer API (`/api`), which can neither replace nor hide what it was sent.

So what is sent is sent seldom: at most once in `SECONDS_BETWEEN`, only when it has changed, and with a
word that it stands in place of what came before. Nothing can be taken back when Stet leaves.
"""

from collections.abc import Callable

from stet.bridges.opencode import wire
from stet.bridges.opencode.connection import Connection
from stet.bridges.opencode.errors import Busy, Refused, Stopped
from stet.bridges.opencode.wish import Wish

SECONDS_BETWEEN = 30.0
"""Between two messages to a session."""
NOTHING_OPEN = "<system-reminder>\nNo file is open in the editor any more.\n</system-reminder>"
INSTEAD = "<system-reminder>\n(in place of what was said of the editor before)\n"
_N_LISTED = "50"


class Appending:
    """Tells the sessions of one server. Touched by one task at a time."""

    def __init__(self, connection: Connection, now: Callable[[], float]) -> None:
        """`now` is a monotonic clock, in seconds."""
        self._connection = connection
        self._now = now
        self._told: dict[str, str] = {}
        self._told_at: dict[str, float] = {}
        self._stopped: dict[str, str] = {}
        """Sessions that are told nothing more, and why."""

    async def keep(self, wish: Wish) -> bool:
        """Tell the session what has changed.

        Returns:
            False if there is no session.

        Raises:
            OpenCodeError: If it can't be told now.
            Stopped: If the session has refused a message.
        """
        session = await self._session(wish)
        if session is None:
            return False
        if session.id in self._stopped:
            raise Stopped(self._stopped[session.id])
        known = self._told.get(session.id, "")
        if wish.text == known:
            return True
        if self._now() - self._told_at.get(session.id, float("-inf")) < SECONDS_BETWEEN:
            raise Busy("the session was told a moment ago")
        text = wish.text or NOTHING_OPEN
        if known and wish.text:
            text = text.replace("<system-reminder>\n", INSTEAD, 1)
        body = {"prompt": {"text": text}, "resume": False}
        path = f"/api/session/{session.id}/prompt"
        try:
            await self._connection.ask("POST", path, wire.NOTHING, body=body)
        except Refused as refused:
            if not refused.is_final:
                raise
            why = f"the session {session.id} takes no message from Stet ({refused})"
            self._stopped[session.id] = why
            raise Stopped(why) from refused
        self._told[session.id] = wish.text
        self._told_at[session.id] = self._now()
        return True

    async def leave(self) -> None:
        """Nothing can be taken back."""

    async def _session(self, wish: Wish) -> wire.Session | None:
        if wish.pinned:
            path = f"/api/session/{wish.pinned}"
            try:
                return (await self._connection.ask("GET", path, wire.NEWER_SESSION)).data
            except Refused as refused:
                if refused.status in {400, 404}:
                    return None
                raise
        if not wish.folders:
            return None
        query = {"directory": wish.folders[0], "order": "desc", "limit": _N_LISTED}
        found = await self._connection.ask("GET", "/api/session", wire.NEWER_SESSIONS, query=query)
        return wire.newest(found.data, wish.folders)
