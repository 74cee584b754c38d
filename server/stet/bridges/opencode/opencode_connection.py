"""Requests to one OpenCode server.

This module is imported late, in a worker thread: it imports httpx2 and pydantic.

Any program that listens at a port of this machine can answer there. So each new connection begins
with a request for the server's identity, without password and text. Nothing is sent to a port of
another user, if the system reports its owner (`stet.system.socket_owner`). The password is sent
after the server has asked for it as OpenCode does, and all else after the server has identified
itself as OpenCode.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from stet.bridges.opencode import opencode_schema
from stet.bridges.opencode.opencode_address import (
    NotOpenCode,
    OpenCodeAddress,
    OpenCodeRefused,
    OpenCodeUnreachable,
)
from stet.privacy.redactor import Redactor
from stet.system.socket_owner import SocketAddress, current_uid, foreign_owner
from stet.text.bounded_input import ACCEPTED, ContentDecoder, InvalidContentCoding
from stet.text.render import MAX_LINE, quote_line

SECONDS = 15.0
"""The limit for one request; the first message of a session takes OpenCode several seconds."""
MAX_BYTES = 8_000_000
"""The longest answer."""
MAX_PARTS = 200_000
"""The most objects and lists in an answer: each takes much more memory than its text."""
MAX_HEALTH = 100_000
"""The longest answer to a health request, in bytes."""
REPLACING, APPENDING = "/global/health", "/api/health"
"""The paths at which each API of OpenCode identifies itself."""
IDLE_SECONDS = 60.0
"""How long a connection is kept open for the next request."""

_REALM = re.compile(r'\bbasic\s++realm="?(?:secure area|[^",]{0,40}opencode)', re.IGNORECASE)
"""OpenCode's challenge for a password: `Basic realm="Secure Area"`."""

T = TypeVar("T")

# These libraries log whole addresses, and headers at debug level.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class _HttpRequest:
    """A request to a path of the server."""

    method: str
    path: str
    query: Mapping[str, str] | None = None
    body: object = None


@dataclass(frozen=True, slots=True)
class _HttpAnswer:
    """An answer of the server.

    Attributes:
        status: The HTTP status.
        raw: The body.
        challenge: The header `WWW-Authenticate`.
    """

    status: int
    raw: bytes
    challenge: str


class _UnverifiedConnection(Exception):
    """The request would be the first of a connection whose server has not identified itself."""


class OpenCodeConnection:
    """A client for one request at a time. Create it in a worker: it reads certificates."""

    def __init__(self, address: OpenCodeAddress, uid: int | None = None) -> None:
        """Create the connection to a server of root or of `uid`, by default the current user."""
        self.address = address
        self._uid = current_uid() if uid is None else uid
        self._login = httpx2.BasicAuth(address.username, address.password)
        self._wants_login = False
        self._api = ""
        self._client = httpx2.AsyncClient(
            timeout=None,
            headers={"accept-encoding": ACCEPTED},
            # A proxy from the environment does not reach the ports of this machine.
            trust_env=not address.is_loopback,
            limits=httpx2.Limits(
                max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS
            ),
        )

    async def identify(self) -> str:
        """Ask the server for its identity. Return its API, `REPLACING` if it has both.

        Raises:
            OpenCodeUnreachable: If no server answers; `NotOpenCode` if another program answers.
            OpenCodeRefused: If the server requires another password.
        """
        async with _failures_as_unreachable():
            return await self._identify()

    async def request(
        self,
        method: str,
        path: str,
        form: TypeAdapter[T],
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
    ) -> T:
        """Send a request and read the answer as `form`.

        Raises:
            OpenCodeUnreachable: If no server answers; `NotOpenCode` if another program answers.
            OpenCodeRefused: If the server answers with an error.
        """
        async with _failures_as_unreachable():
            request = _HttpRequest(method, path, query, body)
            answer = await self._verified_answer(request)
        self._check_status(answer, request)
        if answer.raw.count(b"{") + answer.raw.count(b"[") > MAX_PARTS:
            raise NotOpenCode(f"its response to {path} has too many parts")
        try:
            return form.validate_json(answer.raw)
        except ValidationError as error:
            raise NotOpenCode(f"its response to {path} is not from OpenCode") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _verified_answer(self, request: _HttpRequest) -> _HttpAnswer:
        """Return the answer of a server that has identified itself on this connection."""
        known = self._api
        if known:
            try:
                return await self._authenticated_answer(request, may_connect=False)
            except _UnverifiedConnection:
                pass  # perhaps another program has the port now
        if await self._identify() != known and known:
            raise NotOpenCode("its API has changed")
        return await self._authenticated_answer(request)

    async def _identify(self) -> str:
        self._api, self._wants_login = "", False
        for path in (REPLACING, APPENDING):
            request = _HttpRequest("GET", path)
            answer = await self._authenticated_answer(request)
            if answer.status not in {200, 404, 405}:
                self._check_status(answer, request)
            if answer.status == 200 and _is_healthy(answer.raw):
                self._api = path
                return path
        raise NotOpenCode("the server there is not a supported OpenCode server")

    async def _authenticated_answer(
        self, request: _HttpRequest, *, may_connect: bool = True
    ) -> _HttpAnswer:
        """Return the answer. The password is sent if the server asks for a password.

        Raises:
            NotOpenCode: If the server asks in another way than OpenCode and is not identified.
            _UnverifiedConnection: If there is no open connection and none may be made.
        """
        answer = await self._send(request, may_connect=may_connect)
        if answer.status != 401 or self._wants_login or not self.address.password:
            return answer
        if not self._api and not _REALM.search(answer.challenge):
            raise NotOpenCode(
                "the server there asks for a password, but not like OpenCode; none was sent"
            )
        self._wants_login = True
        return await self._send(request, may_connect=True)

    async def _send(self, request: _HttpRequest, *, may_connect: bool) -> _HttpAnswer:
        async def trace(event: str, info: Mapping[str, Any]) -> None:
            if event.endswith("connect_tcp.started") and not may_connect:
                raise _UnverifiedConnection
            if event.endswith("connect_tcp.complete"):
                await self._check_owner(info["return_value"])

        async with self._client.stream(
            request.method,
            f"{self.address.url}{request.path}",
            params=request.query or None,
            json=request.body,
            auth=self._login if self._wants_login else None,
            extensions={"trace": trace},
        ) as response:
            challenge = response.headers.get("www-authenticate", "")
            body = await _body_of(response, request.path)
            return _HttpAnswer(response.status_code, body, challenge)

    async def _check_owner(self, stream: Any) -> None:
        """Check that a port of this machine does not belong to another user.

        Raises:
            NotOpenCode: If the port belongs to another user.
        """
        if not self.address.is_loopback or self._uid is None:
            return
        server = SocketAddress.of(stream.get_extra_info("server_addr"))
        client = SocketAddress.of(stream.get_extra_info("client_addr"))
        owner = await asyncio.to_thread(foreign_owner, server, client, self._uid)
        if owner is not None:
            await stream.aclose()
            raise NotOpenCode(
                f"the port {server.port} belongs to another user of this machine (uid {owner}); "
                "nothing is sent to it. Start OpenCode as yourself on a free port"
            )

    def _check_status(self, answer: _HttpAnswer, request: _HttpRequest) -> None:
        """Check that an answer is not an error.

        Raises:
            OpenCodeRefused: If the answer is an error.
        """
        if answer.status == 401:
            raise OpenCodeRefused(401, f"it requires a password: set {self.address.password_env}")
        if answer.status != 200:
            asked = f"{request.method} {request.path}"
            raise OpenCodeRefused(answer.status, f"it refused {asked} with status {answer.status}")


@asynccontextmanager
async def _failures_as_unreachable() -> AsyncIterator[None]:
    """Convert failures of the network and time-outs in the block.

    Raises:
        OpenCodeUnreachable: In place of the failure or the time-out.
    """
    try:
        async with asyncio.timeout(SECONDS):
            yield
    except TimeoutError as late:
        raise OpenCodeUnreachable(f"it did not respond within {SECONDS:g} s") from late
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        message = Redactor().excerpt(str(error) or type(error).__name__, MAX_LINE)
        raise OpenCodeUnreachable(quote_line(message)) from error


async def _body_of(response: httpx2.Response, path: str) -> bytes:
    """Return the decoded body of an answer to `path`.

    Raises:
        NotOpenCode: If the body is too long, or can't be decoded.
    """
    body = bytearray()
    try:
        decoder = ContentDecoder(response.headers.get("content-encoding", ""))
        async for raw in response.aiter_raw():
            for piece in decoder.feed(raw):
                body += piece
                if len(body) > MAX_BYTES:
                    raise NotOpenCode(f"its response to {path} is longer than {MAX_BYTES} bytes")
                await asyncio.sleep(0)  # decompressed pieces arrive without a wait
        decoder.finish()
    except InvalidContentCoding as error:
        raise NotOpenCode(f"its response to {path} {error}") from error
    return bytes(body)


def _is_healthy(raw: bytes) -> bool:
    """Return whether `raw` is OpenCode's report of good health, and not a web page, say."""
    if len(raw) > MAX_HEALTH:
        return False
    try:
        return opencode_schema.HEALTH.validate_json(raw).healthy
    except ValidationError:
        return False
