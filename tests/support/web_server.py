"""A server on loopback that answers with what a test tells it to, byte by byte if need be.

async with WebServer({"/a": page("<p>Hello</p>")}) as server:
    ...  # server.url("/a"), server.asked
"""

import asyncio
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
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


@dataclass(frozen=True)
class Got:
    """A request that came in; names of headers in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any = None


Answer = Reply | Callable[[Got], Reply]


def page(text: str, *, kind: str = "text/html; charset=utf-8", **headers: str) -> Reply:
    """A page."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(headers={"content-type": kind, **named}, body=[text.encode()])


def moved(to: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"location": to})


def found(body: object, status: int = 200) -> Reply:
    """A JSON answer."""
    return Reply(status, {"content-type": "application/json"}, [json.dumps(body).encode()])


class WebServer:
    """The server.

    Args:
        pages: What each path (without its query) answers.
        tls: Speak TLS with this context.

    Attributes:
        asked: What was asked, oldest first.
        n_connections: How many connections were opened.
    """

    def __init__(
        self, pages: Mapping[str, Answer] | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self.pages = dict(pages or {})
        self.asked: list[Got] = []
        self.n_connections = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[Any]] = set()

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server
        return int(self._server.sockets[0].getsockname()[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """The address of a page."""
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        assert self._server
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._handlers.add(task)
        self.n_connections += 1
        try:
            got = await _read(reader)
            self.asked.append(got)
            answer = self.pages.get(got.path.partition("?")[0], Reply(404))
            await _write(writer, answer if isinstance(answer, Reply) else answer(got))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has left, or the test is over
        finally:
            writer.close()
            self._handlers.discard(task)


async def _read(reader: asyncio.StreamReader) -> Got:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Got(method, path, headers, json.loads(body) if body else None)


async def _write(writer: asyncio.StreamWriter, reply: Reply) -> None:
    if reply.raw:
        writer.write(reply.raw)
        await writer.drain()
        return
    length = sum(map(len, reply.body)) if reply.length is None else reply.length
    headers = {**reply.headers, **({"content-length": str(length)} if length >= 0 else {})}
    lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    for piece in reply.body:
        await asyncio.sleep(reply.pause)
        writer.write(piece)
        await writer.drain()
    while reply.endless:
        await asyncio.sleep(reply.pause)
        writer.write(reply.body[-1])
        await writer.drain()
