"""A minimal HTTP server on loopback: connections and requests; subclasses make the answers."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from socket import socket
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class HttpRequest:
    """A received request; names of headers are in lower case.

    Attributes:
        method: The method, such as `GET`.
        path: The path with its query.
        headers: The last value of each header.
        body: The decoded JSON, or text if the body is not JSON; None without a body.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any = None


class HttpServer:
    """An HTTP server on loopback.

    Args:
        tls: The TLS context; None for plain HTTP.
        listening: The socket on which it listens; None for one of its own.

    Attributes:
        n_connections: The number of connections that were opened.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, listening: socket | None = None) -> None:
        self.n_connections = 0
        self._tls = tls
        self._listening = listening
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[Any]] = set()

    @property
    def port(self) -> int:
        """Return the port on which the server listens."""
        assert self._server
        return int(self._server.sockets[0].getsockname()[1])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Return the URL of a path."""
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    async def __aenter__(self) -> Self:
        place: dict[str, Any] = {"host": "127.0.0.1", "port": 0}
        if self._listening is not None:
            place = {"sock": self._listening}
        self._server = await asyncio.start_server(self._serve, ssl=self._tls, **place)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        assert self._server
        self._server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until the connection has to be closed."""
        raise NotImplementedError

    async def _note_left(self) -> None:
        """Record that a client has disconnected during an answer."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._handlers.add(task)
        self.n_connections += 1
        try:
            await self._connected(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            await self._note_left()
        except asyncio.CancelledError:
            pass  # the test is over; the streams' own callback would log a cancelled handler
        finally:
            writer.close()
            self._handlers.discard(task)


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """Read the next request on a connection; None if the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {key.lower(): value.strip() for key, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    if not body:
        return HttpRequest(method, path, headers)
    if headers.get("content-type", "").startswith("application/json"):
        return HttpRequest(method, path, headers, json.loads(body))
    return HttpRequest(method, path, headers, body.decode("utf-8", "replace"))


def response_head(status: int, headers: Mapping[str, str]) -> bytes:
    """Return the status line and headers of an answer."""
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{key}: {value}" for key, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
