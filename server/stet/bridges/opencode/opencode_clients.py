"""Keep one context part in an OpenCode session, by either of the server's APIs.

`ReplaceClient` uses the first API. A part can be replaced while its message is the session's last.
After an answer, a replacement would change the text that the model has answered, and invalidate the
provider's cache of all later messages. Then the part is marked `ignored`, which hides it from the
model, and a new message is posted. The two steps have this order, so that no failure leaves two
parts. Nothing is reverted, because a revert would remove messages of others.

A message that arrives while the session's agent works makes the agent continue for another round,
so no message is posted then; the old part is still hidden at once, before the agent's next step.
Each message names the session's agent: without the name, OpenCode uses `build` when the user is in
`plan`.

A server may refuse to replace a part although the part exists. Then the part is hidden at once, and
every later text of that session is posted as a new message. If hiding or posting is refused too,
nothing more is sent to the session (`SessionStopped`) until the server has been away. Parts are
recognised by their metadata, also after a restart of either side or a lost answer.

`AppendClient` uses the newer API (`/api`), which can neither replace nor hide a message. So a
message is sent at most once in `SECONDS_BETWEEN`, only when the context has changed, and says that
it replaces the earlier one. Nothing can be removed when Stet leaves.

This module is imported late, because it imports the HTTP client.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter

from stet.bridges.opencode import opencode_schema
from stet.bridges.opencode.opencode_address import (
    NotOpenCode,
    OpenCodeRefused,
    OpenCodeUnreachable,
    SessionBusy,
    SessionStopped,
)
from stet.bridges.opencode.opencode_connection import REPLACING, OpenCodeConnection
from stet.bridges.opencode.session_context import ContextPart

T = TypeVar("T")

METADATA = {"kind": "editor_context", "source": "stet"}
N_SEARCHED = (100, 10)
"""The last messages of a session that are searched for Stet's parts: fewer if they are too long."""
N_LISTED = "50"
_GONE = frozenset({400, 404})
"""The statuses of OpenCode for a session or message that does not exist."""


@dataclass(frozen=True, slots=True)
class LivePart:
    """A part of Stet's that the model sees.

    Attributes:
        session: The id of the session.
        message: The id of the message.
        part: The id of the part.
        text: The text of the part.
        folder: The folder of the session.
    """

    session: str
    message: str
    part: str
    text: str
    folder: str


class PartClient(ABC):
    """A client that keeps the context in one server's sessions. Used by one task at a time."""

    _sessions_path: str
    _order: Mapping[str, str]
    """The query parameters that order and filter the list of sessions."""
    _session_form: TypeAdapter[opencode_schema.OpenCodeSession]
    _sessions_form: TypeAdapter[list[opencode_schema.OpenCodeSession]]

    def __init__(self, connection: OpenCodeConnection) -> None:
        self._connection = connection
        self._stopped: dict[str, str] = {}
        """Sessions that get no more updates, with the reason."""

    @abstractmethod
    async def update(self, part: ContextPart) -> bool:
        """Bring the context in the session up to date with `part`.

        Returns:
            False if there is no session.

        Raises:
            OpenCodeError: If the update fails now.
            SessionStopped: If the session accepts no part of Stet's.
        """

    @abstractmethod
    async def release(self) -> None:
        """Hide the live part, because it will not be updated any more.

        Raises:
            OpenCodeError: If the server can't be reached.
        """

    async def _find_session(self, part: ContextPart) -> opencode_schema.OpenCodeSession | None:
        """Return the session to send to, or None if there is no session."""
        if part.pinned:
            return await self._get(f"{self._sessions_path}/{part.pinned}", self._session_form)
        if not part.folders:
            return None
        query = {"directory": part.folders[0], "limit": N_LISTED, **self._order}
        sessions = await self._connection.request(
            "GET", self._sessions_path, self._sessions_form, query=query
        )
        return opencode_schema.newest_session(sessions, part.folders)

    async def _get(
        self, path: str, form: TypeAdapter[T], query: Mapping[str, str] | None = None
    ) -> T | None:
        """Return a session or a message, or None if it does not exist."""
        try:
            return await self._connection.request("GET", path, form, query=query)
        except OpenCodeRefused as refused:
            if refused.status in _GONE:
                return None
            raise

    def _check_not_stopped(self, session: str) -> None:
        if session in self._stopped:
            raise SessionStopped(self._stopped[session])

    def _stop_if_final(self, session: str, why: str, refused: OpenCodeRefused) -> NoReturn:
        """Record that a session gets no more updates, unless the request may succeed later."""
        if not refused.is_final:
            raise refused
        self._stopped[session] = f"the session {session} {why} ({refused})"
        raise SessionStopped(self._stopped[session]) from refused


class ReplaceClient(PartClient):
    """A client that keeps one part in a session; the API can replace and hide the part."""

    _sessions_path = "/session"
    _order = MappingProxyType({"roots": "true"})
    _session_form = opencode_schema.SESSION
    _sessions_form = opencode_schema.SESSIONS

    def __init__(self, connection: OpenCodeConnection) -> None:
        super().__init__(connection)
        self._live_part: LivePart | None = None
        self._session: opencode_schema.OpenCodeSession | None = None
        self._is_searched = False  # whether all of Stet's parts in the session are known
        self._not_replaced: set[str] = set()
        """Sessions in which a part could not be replaced."""

    async def update(self, part: ContextPart) -> bool:
        """See `PartClient.update`. After an error, the next update searches for the parts again."""
        try:
            return await self._update(part)
        except BaseException as error:
            if isinstance(error, OpenCodeUnreachable):  # another server may come back
                self._not_replaced.clear()
                self._stopped.clear()
            if not isinstance(error, SessionBusy):
                self._is_searched = False  # a request may have succeeded without an answer
            raise

    async def release(self) -> None:
        """See `PartClient.release`."""
        if self._session is None or self._session.id in self._stopped:
            return
        try:
            if not self._is_searched:
                await self._find_parts(self._session)
            if self._live_part is not None:
                await self._hide(self._live_part)
        except OpenCodeRefused as refused:
            if refused.status not in _GONE:
                raise
            self._live_part = None  # the session is gone, and the part with it

    async def _update(self, part: ContextPart) -> bool:
        session = await self._find_session(part)
        if session is None:
            return False
        if self._session is None or self._session.id != session.id:
            with suppress(SessionStopped):  # this concerns the old session
                await self.release()
            self._session, self._live_part, self._is_searched = session, None, False
        self._check_not_stopped(session.id)
        if not self._is_searched:
            await self._find_parts(session)
        if part.text != ("" if self._live_part is None else self._live_part.text):
            await self._change(session, part.text)
        return True

    async def _change(self, session: opencode_schema.OpenCodeSession, text: str) -> None:
        """Change the text of the part; "": hide the part."""
        live = self._live_part
        may_replace = live is not None and text and session.id not in self._not_replaced
        if live is not None:
            if may_replace and await self._is_last(live) and await self._replace(live, text):
                return
            await self._hide(live)  # at once, even while the agent works: the part is out of date
        if text:
            await self._check_idle(session)
            await self._post(session, text)

    async def _replace(self, live: LivePart, text: str) -> bool:
        """Replace the text of a part. Return False if the server refuses or the part is gone."""
        try:
            await self._write(live, text)
        except OpenCodeRefused as refused:
            if not refused.is_final:
                raise
            if await self._exists(live):
                self._not_replaced.add(live.session)
            return False
        self._live_part = replace(live, text=text)
        return True

    async def _find_parts(self, session: opencode_schema.OpenCodeSession) -> None:
        """Find the parts that Stet has posted, and hide all but the last."""
        found = [
            LivePart(session.id, message.info.id, part.id, part.text, session.folder)
            for message in await self._last_messages(session)
            for part in message.parts
            if part.metadata is not None
            and METADATA.items() <= part.metadata.items()
            and not part.ignored
        ]
        known = {one.part for one in found}
        if self._live_part is not None and self._live_part.part not in known:
            await self._hide(self._live_part)  # too many messages follow it
        for older in found[:-1]:
            await self._hide(older)
        self._live_part = found[-1] if found else None
        self._is_searched = True

    async def _last_messages(
        self, session: opencode_schema.OpenCodeSession
    ) -> list[opencode_schema.OpenCodeMessage]:
        for n in N_SEARCHED[:-1]:
            with suppress(NotOpenCode):  # probably too long: ask for fewer
                return await self._messages(session.id, session.folder, n)
        return await self._messages(session.id, session.folder, N_SEARCHED[-1])

    async def _messages(
        self, session: str, folder: str, n: int
    ) -> list[opencode_schema.OpenCodeMessage]:
        """Return the last `n` messages, the last message at the end."""
        path, query = f"/session/{session}/message", {"directory": folder, "limit": str(n)}
        return await self._connection.request("GET", path, opencode_schema.MESSAGES, query=query)

    async def _is_last(self, live: LivePart) -> bool:
        last = await self._messages(live.session, live.folder, 1)
        return bool(last) and last[-1].info.id == live.message

    async def _check_idle(self, session: opencode_schema.OpenCodeSession) -> None:
        path, query = "/session/status", {"directory": session.folder}
        states = await self._connection.request("GET", path, opencode_schema.STATUSES, query=query)
        state = states.get(session.id)
        if state is not None and state.type != "idle":
            raise SessionBusy("the session's agent is running")

    async def _post(self, session: opencode_schema.OpenCodeSession, text: str) -> None:
        body: dict[str, Any] = {"noReply": True, "parts": [_content(text)]}
        if session.agent:
            body["agent"] = session.agent
        if session.model.variant:
            body["variant"] = session.model.variant
        path, query = f"/session/{session.id}/message", {"directory": session.folder}
        try:
            made = await self._connection.request(
                "POST", path, opencode_schema.MESSAGE, query=query, body=body
            )
        except OpenCodeRefused as refused:
            self._stop_if_final(session.id, "does not accept messages from Stet", refused)
        part = made.parts[0].id if made.parts else ""
        self._live_part = LivePart(session.id, made.info.id, part, text, session.folder)
        if not part:
            raise NotOpenCode("it created an empty message")

    async def _hide(self, live: LivePart) -> None:
        """Hide a part from the model; do nothing if the part does not exist."""
        try:
            await self._write(live, live.text, ignored=True)
        except OpenCodeRefused as refused:
            if await self._exists(live):
                why = "does not let Stet replace or hide its earlier context"
                self._stop_if_final(live.session, why, refused)
        if live == self._live_part:
            self._live_part = None

    async def _exists(self, live: LivePart) -> bool:
        path, query = f"/session/{live.session}/message/{live.message}", {"directory": live.folder}
        message = await self._get(path, opencode_schema.MESSAGE, query)
        return message is not None and any(part.id == live.part for part in message.parts)

    async def _write(self, live: LivePart, text: str, *, ignored: bool = False) -> None:
        """Replace a part. OpenCode requires the whole part, with the ids of its address."""
        ids = {"id": live.part, "sessionID": live.session, "messageID": live.message}
        body = ids | _content(text)
        if ignored:
            body["ignored"] = True
        path = f"/session/{live.session}/message/{live.message}/part/{live.part}"
        query = {"directory": live.folder}
        await self._connection.request(
            "PATCH", path, opencode_schema.NOTHING, query=query, body=body
        )


def _content(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text, "synthetic": True, "metadata": dict(METADATA)}


SECONDS_BETWEEN = 30.0
"""The least time between two messages to a session."""
NOTHING_OPEN = "<system-reminder>\nNo file is open in the editor any more.\n</system-reminder>"
INSTEAD = "<system-reminder>\n(in place of what was said of the editor before)\n"


class AppendClient(PartClient):
    """A client that sends changed context as a new message; the API can only append."""

    _sessions_path = "/api/session"
    _order = MappingProxyType({"order": "desc"})
    _session_form = opencode_schema.NEWER_SESSION
    _sessions_form = opencode_schema.NEWER_SESSIONS

    def __init__(self, connection: OpenCodeConnection, now: Callable[[], float]) -> None:
        """Create the client. `now` is a monotonic clock, in seconds."""
        super().__init__(connection)
        self._now = now
        self._last_text: dict[str, str] = {}
        self._last_sent_at: dict[str, float] = {}

    async def update(self, part: ContextPart) -> bool:
        """See `PartClient.update`."""
        session = await self._find_session(part)
        if session is None:
            return False
        self._check_not_stopped(session.id)
        known = self._last_text.get(session.id, "")
        if part.text == known:
            return True
        if self._now() - self._last_sent_at.get(session.id, float("-inf")) < SECONDS_BETWEEN:
            raise SessionBusy("the session was just informed")
        text = part.text or NOTHING_OPEN
        if known and part.text:
            text = text.replace("<system-reminder>\n", INSTEAD, 1)
        body = {"prompt": {"text": text}, "resume": False}
        path = f"/api/session/{session.id}/prompt"
        try:
            await self._connection.request("POST", path, opencode_schema.NOTHING, body=body)
        except OpenCodeRefused as refused:
            self._stop_if_final(session.id, "does not accept messages from Stet", refused)
        self._last_text[session.id] = part.text
        self._last_sent_at[session.id] = self._now()
        return True

    async def release(self) -> None:
        """Do nothing, because nothing can be removed."""


async def create_part_client(
    connection: OpenCodeConnection, now: Callable[[], float]
) -> PartClient:
    """Create the client that keeps the context of this server. The API that can replace is used if
    available.

    Raises:
        OpenCodeError: If the server is not OpenCode, or requires another password.
    """
    if await connection.identify() == REPLACING:
        return ReplaceClient(connection)
    return AppendClient(connection, now)
