"""A server on loopback with scripted answers, byte by byte if needed.

async with WebServer({"/a": page("<p>Hello</p>")}) as server:
    ...  # server.url("/a"), server.asked
"""

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head


@dataclass(frozen=True)
class WebReply:
    """One scripted answer.

    Attributes:
        status: The HTTP status.
        headers: All headers except the length.
        body: The body, in the pieces in which it is sent.
        length: The announced length; None: the real one; -1: none, the connection closes.
        pause: Seconds before each piece.
        endless: Whether to repeat the last piece forever.
        raw: Bytes that are sent instead of everything else.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Sequence[bytes] = ()
    length: int | None = None
    pause: float = 0.0
    endless: bool = False
    raw: bytes = b""


Answer = WebReply | Callable[[HttpRequest], WebReply]


def page(text: str, *, kind: str = "text/html; charset=utf-8", **headers: str) -> WebReply:
    """Make a page."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return WebReply(headers={"content-type": kind, **named}, body=[text.encode()])


def moved(to: str, status: int = 302) -> WebReply:
    """Make a redirect."""
    return WebReply(status=status, headers={"location": to})


def found(body: object, status: int = 200) -> WebReply:
    """Make a JSON answer."""
    return WebReply(status, {"content-type": "application/json"}, [json.dumps(body).encode()])


class WebServer(HttpServer):
    """A web server on loopback.

    Args:
        pages: The answer of each path (without its query).
        tls: The TLS context; None for plain HTTP.

    Attributes:
        asked: The received requests, oldest first.
    """

    def __init__(
        self, pages: Mapping[str, Answer] | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(tls)
        self.pages = dict(pages or {})
        self.asked: list[HttpRequest] = []

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await read_request(reader)
        if asked is None:
            return
        self.asked.append(asked)
        answer = self.pages.get(asked.path.partition("?")[0], WebReply(404))
        await _write(writer, answer if isinstance(answer, WebReply) else answer(asked))


async def _write(writer: asyncio.StreamWriter, reply: WebReply) -> None:
    if reply.raw:
        writer.write(reply.raw)
        await writer.drain()
        return
    length = sum(map(len, reply.body)) if reply.length is None else reply.length
    headers = {**reply.headers, **({"content-length": str(length)} if length >= 0 else {})}
    writer.write(response_head(reply.status, headers))
    for piece in reply.body:
        await asyncio.sleep(reply.pause)
        writer.write(piece)
        await writer.drain()
    while reply.endless:
        await asyncio.sleep(reply.pause)
        writer.write(reply.body[-1])
        await writer.drain()
