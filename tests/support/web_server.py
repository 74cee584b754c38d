"""A server on loopback that answers with what a test tells it to, byte by byte if need be.

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
    """One answer.

    Attributes:
        status: The HTTP status.
        headers: All headers but the length.
        body: Sent in these pieces.
        length: The announced length; None: the true one; -1: none, the body ends with the connection.
        pause: Seconds before each piece.
        endless: Send the last piece again and again.
        raw: Sent instead of all that.
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
    """A page."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return WebReply(headers={"content-type": kind, **named}, body=[text.encode()])


def moved(to: str, status: int = 302) -> WebReply:
    """A redirect."""
    return WebReply(status=status, headers={"location": to})


def found(body: object, status: int = 200) -> WebReply:
    """A JSON answer."""
    return WebReply(status, {"content-type": "application/json"}, [json.dumps(body).encode()])


class WebServer(HttpServer):
    """The server.

    Args:
        pages: What each path (without its query) answers.
        tls: Speak TLS with this context.

    Attributes:
        asked: What was asked, oldest first.
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
