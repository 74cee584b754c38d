"""A client that sends raw bytes, for input that no well-behaved client sends."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.server_processes import start

WIRE_SERVER = (sys.executable, "-I", str(Path(__file__).with_name("wire_server.py")))
Message = dict[str, Any]


def frame(body: bytes | str, header: str = "Content-Length: {}\r\n\r\n") -> bytes:
    """Frame a body with its header; `{}` in the header stands for the length in bytes."""
    body = body.encode() if isinstance(body, str) else body
    return header.format(len(body)).encode() + body


def request(msg_id: object, method: str, params: object = None) -> Message:
    """Make a request."""
    return {"jsonrpc": "2.0", "id": msg_id, "method": method, "params": params}


def notification(method: str, params: object = None) -> Message:
    """Make a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def command(msg_id: object, name: str, *arguments: object) -> Message:
    """Make a request to execute a command."""
    params = {"command": name, "arguments": list(arguments)}
    return request(msg_id, "workspace/executeCommand", params)


def opened(uri: str, text: str) -> Message:
    """Make `textDocument/didOpen` with version 1."""
    document = {"uri": uri, "languageId": "", "version": 1, "text": text}
    return notification("textDocument/didOpen", {"textDocument": document})


def changed(uri: str, version: object, *changes: object) -> Message:
    """Make `textDocument/didChange`."""
    document = {"uri": uri, "version": version}
    params = {"textDocument": document, "contentChanges": list(changes)}
    return notification("textDocument/didChange", params)


def closed(uri: str) -> Message:
    """Make `textDocument/didClose`."""
    return notification("textDocument/didClose", {"textDocument": {"uri": uri}})


def replaced(start: tuple[object, object], end: tuple[object, object], text: object) -> Message:
    """Make one incremental change."""
    places = [{"line": line, "character": column} for line, column in (start, end)]
    return {"range": {"start": places[0], "end": places[1]}, "text": text}


class Peer:
    """A client of one server process; every wait has a limit."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._received: list[Message] = []

    def write(self, data: bytes) -> None:
        """Send bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def send(self, *messages: object) -> None:
        """Send messages, each in its frame, all in one write."""
        self.write(b"".join(frame(json.dumps(message)) for message in messages))

    async def drain(self) -> None:
        """Wait until the server has read what was written."""
        assert self.process.stdin is not None
        await self.process.stdin.drain()

    async def receive(self) -> Message:
        """Return the next message from the server."""
        reader = self.process.stdout
        assert reader is not None
        async with asyncio.timeout(60):
            header = await reader.readuntil(b"\r\n\r\n")
            name, _, length = header.strip().partition(b": ")
            assert name == b"Content-Length", header
            message = json.loads(await reader.readexactly(int(length)))
        assert isinstance(message, dict)
        return message

    async def answer(self, msg_id: object) -> Message:
        """Return the answer with that id; messages before it can be read with `earlier`."""
        while True:
            message = await self.receive()
            if "method" not in message and message.get("id") == msg_id:
                return message
            self._received.append(message)

    async def until(self, method: str) -> Message:
        """Return the next message of that method."""
        while True:
            message = await self.receive()
            if message.get("method") == method:
                return message
            self._received.append(message)

    def earlier(self) -> list[Message]:
        """Return and remove the messages received while waiting for another."""
        received, self._received = self._received, []
        return received

    async def ask(self, method: str, params: object = None) -> Any:
        """Return the result of a request."""
        self.send(request("ask", method, params))
        answer = await self.answer("ask")
        assert "error" not in answer, answer
        return answer["result"]

    async def code(self, msg_id: object) -> int:
        """Return the error code of the answer with that id."""
        return int((await self.answer(msg_id))["error"]["code"])

    async def initialize(self, **capabilities: object) -> Message:
        """Initialize the server; return its capabilities."""
        result = await self.ask(
            "initialize", {"processId": None, "rootUri": None, "capabilities": capabilities}
        )
        self.send(notification("initialized", {}))
        assert isinstance(result, dict)
        return result

    async def text(self, uri: str = "file:///a") -> object:
        """Return the server's text of a document."""
        return await self.ask("test/text", {"uri": uri})

    async def state(self) -> Message:
        """Return the server's state."""
        result = await self.ask("test/state")
        assert isinstance(result, dict)
        return result

    async def ended(self) -> int:
        """Return the exit code of the server, once it has exited."""
        async with asyncio.timeout(60):
            return await self.process.wait()

    def stop_reading(self) -> None:
        """Close the reading end of the server's standard output."""
        transport = self.process._transport  # type: ignore[attr-defined]
        transport.get_pipe_transport(1).close()

    def hang_up(self) -> None:
        """Close the server's standard input."""
        assert self.process.stdin is not None
        self.process.stdin.close()


@asynccontextmanager
async def connected(
    argv: Sequence[str] = WIRE_SERVER,
    *,
    initialized: bool = True,
    stderr: int = DEVNULL,
    env: Mapping[str, str] | None = None,
    fresh: bool = False,
) -> AsyncIterator[Peer]:
    """Start a server; terminate it, by force if needed, at the end of the block."""
    process = await start(argv, env=env, stderr=stderr, limit=64 * 1024 * 1024, fresh=fresh)
    peer = Peer(process)
    try:
        if initialized:
            await peer.initialize()
        yield peer
    finally:
        if process.returncode is None:
            process.kill()
        peer.hang_up()
        await process.communicate()
