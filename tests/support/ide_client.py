"""A client of Claude Code's IDE protocol, which finds the server as Claude Code does."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

SECONDS = 20.0
HEADER = "X-Claude-Code-Ide-Authorization"


class IdeRefused(Exception):
    """The server has answered with an error."""


class IdeClient:
    """One session of Claude Code.

    Attributes:
        notifications: What the server has sent unasked, oldest first: method and parameters.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.notifications: list[tuple[str, Any]] = []
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._notified = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def at(cls, lock: Path, *, pid: int = 1) -> AsyncIterator["IdeClient"]:
        """Connect by a lock file, and end the handshake."""
        async with connection(lock, token_of(lock)) as connected:
            client = cls(connected)
            reading = asyncio.ensure_future(client._read())  # noqa: TID251 - ends with the client
            try:
                await client.ask("initialize", protocolVersion="2025-11-25", capabilities={})
                await client.notify("notifications/initialized")
                await client.notify("ide_connected", pid=pid)
                yield client
            finally:
                await connected.close()
                await reading

    async def ask(self, method: str, **params: object) -> Any:
        """Send a request; return its result.

        Raises:
            IdeRefused: If the answer is an error.
        """
        async with asyncio.timeout(SECONDS):
            return await (await self.asked(method, **params))

    async def asked(self, method: str, **params: object) -> asyncio.Future[Any]:
        """Send a request; return the future of its result."""
        number = len(self._answers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await self.connection.send(json.dumps(message))
        return answer

    async def notify(self, method: str, **params: object) -> None:
        """Send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        await self.connection.send(json.dumps(message))

    async def call(self, tool: str, **arguments: object) -> list[str]:
        """Call a tool; return the texts of its result.

        Raises:
            IdeRefused: If the answer is an error.
        """
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        return texts(result)

    async def values(self, tool: str, **arguments: object) -> Any:
        """Call a tool whose result is JSON; return its values."""
        [text] = await self.call(tool, **arguments)
        return json.loads(text)

    async def open_diff(self, path: Path | str, new: str, tab: str = "tab") -> asyncio.Future[Any]:
        """Ask for a review of a text; return the future of the decision."""
        arguments = {
            "old_file_path": str(path),
            "new_file_path": str(path),
            "new_file_contents": new,
            "tab_name": tab,
        }
        return await self.asked("tools/call", name="openDiff", arguments=arguments)

    async def notified(self, method: str, **wanted: object) -> Any:
        """Return the parameters of a notification with these values, as soon as it is there."""
        async with asyncio.timeout(SECONDS):
            while True:
                for name, params in self.notifications:
                    if name == method and wanted.items() <= params.items():
                        return params
                self._notified.clear()
                await self._notified.wait()

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for text in self.connection:
                self._receive(json.loads(text))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(IdeRefused("the connection has ended"))
                answer.exception()  # nobody needs to wait for it

    def _receive(self, message: Mapping[str, Any]) -> None:
        if "method" in message:
            self.notifications.append((message["method"], message["params"]))
            self._notified.set()
        elif (answer := self._answers.get(message["id"])) is not None:
            if "error" in message:
                answer.set_exception(IdeRefused(message["error"]["message"]))
                answer.exception()  # nobody needs to wait for it
            else:
                answer.set_result(message["result"])


def token_of(lock: Path) -> str:
    """Return the token of a lock file."""
    return str(json.loads(lock.read_text())["authToken"])


def locks_in(home: str) -> list[Path]:
    """Return the lock files in a home folder."""
    return sorted(Path(home, ".claude", "ide").glob("*.lock"))


def texts(result: Any) -> list[str]:
    """Return the texts of the result of a tool."""
    return [item["text"] for item in result["content"]]


def connection(
    lock: Path, token: str | None, *, origin: str | None = None, subprotocol: str | None = "mcp"
) -> connect:
    """Return a connection to the port of a lock file, for `async with`."""
    return connect(
        f"ws://127.0.0.1:{lock.stem}/",
        additional_headers={} if token is None else {HEADER: token},
        origin=None if origin is None else Origin(origin),
        subprotocols=None if subprotocol is None else [Subprotocol(subprotocol)],
        max_size=2**25,
        proxy=None,
    )
