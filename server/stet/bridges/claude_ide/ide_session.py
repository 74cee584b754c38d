"""One connection of Claude Code: JSON-RPC over a websocket, in the form of MCP."""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed

from stet.bridges.claude_ide.ide_tools import IdeTools
from stet.bridges.claude_ide.open_diffs import OpenDiffs
from stet.bridges.claude_ide.tool_arguments import ToolRefused

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions of MCP that are answered, the newest first."""
MAX_CALLS = 64
"""The most requests of a session that wait for their answers."""
_BIG = 100_000
"""The characters from which a message is parsed beside the event loop."""
_INVALID, _NO_METHOD, _REFUSED, _FAILED = -32600, -32601, -32000, -32603


class IdeSession:
    """A session, from the connection to its end; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - all its ports
        self,
        connection: "ServerConnection",
        diffs: OpenDiffs,
        tools: IdeTools,
        *,
        spawn: Spawn,
        version: str,
        joined: Callable[[], None],
    ) -> None:
        """Create a session.

        Args:
            connection: The connection, whose client has sent the token.
            diffs: The diffs of the session.
            tools: The tools of the session.
            spawn: Starts a task.
            version: The version of Stet.
            joined: Called when Claude Code has ended its handshake.
        """
        self._connection = connection
        self._diffs = diffs
        self._tools = tools
        self._spawn = spawn
        self._version = version
        self._joined = joined
        self._calls: set[object] = set()
        self._is_ready = False

    @property
    def is_ready(self) -> bool:
        """Whether Claude Code has ended its handshake, and takes notifications."""
        return self._is_ready

    async def serve(self) -> None:
        """Answer the messages of the connection until its end; then withdraw its open diffs."""
        try:
            async for message in self._connection:
                await self._receive(message)
        except ConnectionClosed:
            pass  # without a goodbye, as when Claude Code is killed
        finally:
            self._diffs.close_all()

    async def close(self) -> None:
        """End the session: answer each open request with an error, and close the connection."""
        self._diffs.close_all()
        for call in list(self._calls):
            await self._answer(call, error=(_REFUSED, "Stet is ending. Decide in the terminal."))
        await self._connection.close(1001)

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification; a connection that has ended is ignored."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _receive(self, message: str | bytes) -> None:
        """Handle one message; what is no message of JSON-RPC is answered with an error."""
        try:
            parsed = await _parse(message)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            await self._answer(None, error=(_INVALID, "This is no request."))
            return
        method, call = parsed.get("method"), parsed.get("id")
        if not isinstance(method, str):
            return  # an answer; nothing was asked
        if "id" not in parsed:
            if method == "notifications/initialized" and not self._is_ready:
                self._is_ready = True
                self._joined()
            return
        if type(call) not in (str, int) or call in self._calls:
            await self._answer(None, error=(_INVALID, "The id is invalid."))
            return
        if len(self._calls) >= MAX_CALLS:
            self._calls.add(call)
            await self._answer(call, error=(_REFUSED, "Too many requests wait for an answer."))
            return
        params = parsed.get("params")
        self._calls.add(call)
        work = self._run(call, method, params if isinstance(params, dict) else {})
        _ = self._spawn(work, "a request of Claude Code")

    async def _run(self, call: object, method: str, params: dict[str, object]) -> None:
        """Answer one request."""
        try:
            answer = await self._result(method, params)
        except ToolRefused as refused:
            await self._answer(call, error=(_REFUSED, str(refused)))
        except Exception:  # the boundary: one bug must not end the session
            log.exception("a request of Claude Code failed")
            await self._answer(call, error=(_FAILED, "Stet failed; see its log."))
        else:
            if answer is None:
                await self._answer(call, error=(_NO_METHOD, "Method not found"))
            else:
                await self._answer(call, result=answer)

    async def _result(self, method: str, params: dict[str, object]) -> dict[str, Any] | None:
        """Return the result of a request; None for a method that is not known.

        Raises:
            ToolRefused: If a tool can't do what it is asked.
        """
        if method == "initialize":
            wanted = params.get("protocolVersion")
            return {
                "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stet", "version": self._version},
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": self._tools.listed()}
        if method == "tools/call":
            name, arguments = params.get("name"), params.get("arguments")
            if not isinstance(name, str) or not isinstance(arguments, dict | None):
                raise ToolRefused("A call has a name and arguments.")
            return {"content": await self._tools.call(name, arguments or {})}
        return None

    async def _answer(
        self, call: object, *, result: Any = None, error: tuple[int, str] | None = None
    ) -> None:
        """Answer a request once; later answers to it are dropped."""
        if call is not None and call not in self._calls:
            return
        self._calls.discard(call)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": call}
        if error is None:
            answer["result"] = result
        else:
            answer["error"] = {"code": error[0], "message": error[1]}
        await self._send(answer)

    async def _send(self, message: Mapping[str, object]) -> None:
        with suppress(ConnectionClosed):
            await self._connection.send(json.dumps(message))


async def _parse(message: str | bytes) -> object:
    """Return the JSON of a message.

    Raises:
        ValueError: If it is no JSON.
        RecursionError: If it is nested too deeply.
    """
    if len(message) < _BIG:
        return json.loads(message)
    return await asyncio.to_thread(json.loads, message)
