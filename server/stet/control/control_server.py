"""The control socket of a server: JSON-RPC 2.0, one message a line, for programs of this user.

A connection from another user is closed at once: the kernel reports who connects to a Unix socket,
and on a system without such sockets the first line must hold the token of the descriptor. Requests
of one connection are answered in the order in which they are done. When a client closes its
connection, its requests are cancelled.
"""

import asyncio
import hmac
import json
import logging
import os
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stet.control.descriptor import (
    Descriptor,
    path_of_socket,
    remove_descriptor,
    write_descriptor,
)
from stet.control.peer import is_in_other_namespace, is_same_user, is_supported
from stet.control.socket_path import short_path

log = logging.getLogger(__name__)

MAX_LINE = 16 * 1024 * 1024
"""The most bytes of one message."""
MAX_CONNECTIONS = 64
HELLO_SECONDS = 5.0
"""The time limit for the token of a connection."""
PARSE_ERROR, INVALID_REQUEST, NOT_FOUND, INTERNAL = -32700, -32600, -32601, -32603
_FAILED = -32803

Method = Callable[[tuple[object, ...]], Awaitable[object]]
Start = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class MethodRefused(Exception):
    """A method refuses its request; `code` is the JSON-RPC error code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ControlServer:
    """The control socket of one server; used on the event loop only."""

    def __init__(
        self,
        methods: Mapping[str, Method],
        start: Start,
        version: str,
        *,
        decisions: Collection[str] = (),
    ) -> None:
        """Create a server that does not listen yet.

        Args:
            methods: By name, the methods that a client may call; each gets the params in order.
            start: Starts a task with a name for the log.
            version: The version of Stet, for the descriptor.
            decisions: The methods that a program in an overlay may not call.
        """
        self._methods = methods
        self._decisions = decisions
        self._start = start
        self._version = version
        self._server: asyncio.Server | None = None
        self._descriptor: Descriptor | None = None
        self._folder = Path()
        self._connections: set[StreamWriter] = set()

    @property
    def is_open(self) -> bool:
        """Whether the server listens."""
        return self._server is not None

    async def open(self, folder: Path, roots: Sequence[str], now: float) -> None:
        """Listen, and write the descriptor.

        Args:
            folder: The runtime folder.
            roots: The absolute paths of the workspace folders.
            now: The time in seconds since the epoch.

        Raises:
            OSError: If there can be no socket or no descriptor.
        """
        pid = os.getpid()
        path = path_of_socket(folder, pid)
        self._folder = folder
        if is_supported():
            await asyncio.to_thread(path.unlink, missing_ok=True)
            with short_path(path) as address:
                self._server = await asyncio.start_unix_server(
                    self._connected, address, limit=MAX_LINE
                )
            descriptor = Descriptor(pid, now, self._version, tuple(roots), str(path))
        else:
            self._server = await asyncio.start_server(
                self._connected, "127.0.0.1", 0, limit=MAX_LINE
            )
            port = self._server.sockets[0].getsockname()[1]
            token = secrets.token_urlsafe(32)
            descriptor = Descriptor(pid, now, self._version, tuple(roots), "", port, token)
        self._descriptor = descriptor
        await asyncio.to_thread(write_descriptor, folder, descriptor)

    async def set_roots(self, roots: Sequence[str]) -> None:
        """Write the descriptor with other workspace folders.

        Raises:
            OSError: If the descriptor can't be written.
        """
        if self._descriptor is not None:
            self._descriptor = self._descriptor._replace(roots=tuple(roots))
            await asyncio.to_thread(write_descriptor, self._folder, self._descriptor)

    async def close(self) -> None:
        """Stop listening, end all connections, and remove the descriptor and the socket."""
        server, descriptor = self._server, self._descriptor
        self._server = self._descriptor = None
        if server is not None:
            server.close()
        for writer in list(self._connections):
            writer.close()
        if descriptor is not None:
            await asyncio.to_thread(remove_descriptor, self._folder, descriptor.pid)

    def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        if len(self._connections) >= MAX_CONNECTIONS or not self._is_allowed(writer):
            writer.close()
            return
        self._connections.add(writer)
        _ = self._start(self._serve(reader, writer), "a control connection")

    def _is_allowed(self, writer: StreamWriter) -> bool:
        """Return whether a connection may go on: a client of the port must still name the token."""
        if self._descriptor is not None and self._descriptor.token:
            return True
        return is_same_user(writer.get_extra_info("socket"))

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        running: set[asyncio.Task[None]] = set()
        try:
            if not await self._is_authentic(reader):
                return
            peer = writer.get_extra_info("socket")
            is_isolated = await asyncio.to_thread(is_in_other_namespace, peer)
            refused = self._decisions if is_isolated else ()
            while line := await reader.readline():
                task = self._start(self._answer(line, writer, refused), "a control request")
                running.add(task)
                task.add_done_callback(running.discard)
        except (OSError, ValueError) as error:  # ValueError: a line that is too long
            log.info("a control connection ended: %s", error)
        finally:
            for task in running:
                task.cancel()
            self._connections.discard(writer)
            writer.close()

    async def _is_authentic(self, reader: StreamReader) -> bool:
        """Return whether a client has named the token, if there is one."""
        token = self._descriptor.token if self._descriptor is not None else ""
        if not token:
            return True
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                given = json.loads(await reader.readline())["token"]
        except (TimeoutError, OSError, ValueError, TypeError, KeyError):
            return False
        return hmac.compare_digest(str(given).encode(), token.encode())

    async def _answer(self, line: bytes, writer: StreamWriter, refused: Collection[str]) -> None:
        """Run one request, unless its method is refused, and write its answer."""
        answer: dict[str, object] = {"jsonrpc": "2.0", "id": None}
        try:
            message = _parse(line)
            answer["id"] = message.get("id")
            answer["result"] = await self._run(message, refused)
        except MethodRefused as error:
            answer["error"] = {"code": error.code, "message": str(error)}
        except Exception as error:  # the boundary: one bug must not end the session
            log.exception("a control request failed")
            text = f"internal error in Stet ({type(error).__name__}); see its log"
            answer["error"] = {"code": INTERNAL, "message": text}
        with suppress(OSError):
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()

    async def _run(self, message: Mapping[str, object], refused: Collection[str]) -> object:
        """Run the method of a request, unless it is in `refused`; return its result.

        Raises:
            MethodRefused: If there is no such method, or the method refuses.
        """
        method, params = message.get("method"), message.get("params", [])
        if not isinstance(method, str) or not isinstance(params, list):
            raise MethodRefused("a request has a method and a list of params", INVALID_REQUEST)
        if method in refused:
            raise MethodRefused(
                "a program that `stet run` has started can't decide about hunks: the user does",
                _FAILED,
            )
        run = self._methods.get(method)
        if run is None:
            raise MethodRefused(f"there is no method {method!r}", NOT_FOUND)
        return await run(tuple(params))


def _parse(line: bytes) -> Mapping[str, object]:
    """Return the JSON object of a line.

    Raises:
        MethodRefused: If the line is no JSON object.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise MethodRefused("a request is one JSON object a line", PARSE_ERROR)
    return message
