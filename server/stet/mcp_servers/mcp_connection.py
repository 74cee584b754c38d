"""The connection to one MCP server: its process, and JSON-RPC messages on its standard streams."""

import asyncio
import json
import logging
import os
import signal
from collections import deque
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from stet import __version__
from stet.settings.values import McpServerSettings
from stet.system.command_line import passed_env
from stet.system.system import System
from stet.text.escape import escape_line

log = logging.getLogger(__name__)
T = TypeVar("T")

VERSION = "2025-11-25"
"""The version of the protocol that `initialize` asks for."""
STATELESS_VERSION = "2026-07-28"
"""The version without `initialize`, for servers that don't know that request."""
KNOWN_VERSIONS = (VERSION, "2025-06-18", "2025-03-26", "2024-11-05")
"""The versions that a server may choose; in all of them lists and calls are the same."""
START_SECONDS = 60.0
"""The time limit of the first requests: some programs are downloaded first."""
MAX_LINE = 2**23
"""The longest line that a server may send, in bytes."""
MAX_IGNORED = 10_000
"""The most lines in a row that are no messages: some programs print a banner first."""
MAX_DEPTH = 100
"""The deepest nesting of a message."""
MAX_UNSENT = 2**22
"""The most bytes that wait for a server that does not read."""
METHOD_NOT_FOUND = -32601
_LARGE = 2**16
"""Longer lines are parsed in a thread."""
_N_AT_ONCE = 50
"""The most messages that are handled before other work goes on."""
_N_LINES = 3
"""The number of last lines of stderr that are used in a message."""
_MAX_LOGGED = 200
"""The most lines of stderr that are logged for one process."""
_MAX_SHOWN = 300
"""The most characters of a line of stderr, or of an error."""
_ENDING_SECONDS = 1.0
"""The seconds to wait for the exit of a process whose streams are closed."""


class SpawnTask(Protocol):
    """Starts a task and logs its errors."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], name: str, /) -> asyncio.Task[T]:
        """Start a task with a name for the log."""
        ...


class McpFailure(Exception):
    """The server can't do what it was asked; the message is a sentence that names the server."""


class McpConnection:
    """The connection to one running server; used on the event loop only.

    Attributes:
        is_stale: Whether the server has announced other tools since the last list.
    """

    def __init__(self, name: str, process: asyncio.subprocess.Process, spawn: SpawnTask) -> None:
        """Take over a process that has been started; it leads a process group.

        Args:
            name: The name of the server, for messages.
            process: The process, with its streams piped.
            spawn: Starts the tasks that read the streams.
        """
        self.is_stale = False
        self._name = name
        self._process = process
        self._fault = ""
        self._is_open = True
        self._n_requests = 0
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._meta: dict[str, Any] = {}
        """The metadata of each request to a server without `initialize`."""
        self._last_lines: deque[str] = deque(maxlen=_N_LINES)
        self._errors = spawn(self._read_errors(), f"stderr of the MCP server {name}")
        self._reading = spawn(self._read(), f"messages of the MCP server {name}")

    @classmethod
    async def start(
        cls, server: McpServerSettings, folder: Path, system: System, spawn: SpawnTask
    ) -> "McpConnection":
        """Start the program of a server in a folder; nothing is sent yet.

        It gets a few variables of this process (`passed_env`) and those of the settings.

        Raises:
            McpFailure: If it can't be started.
        """
        env = {**passed_env(system.environ()), **server.env}
        name, command = server.name, server.command
        if not command:
            raise McpFailure(
                f"The MCP server {name!r} has no program: set mcpServers.{name}.command."
            )
        try:
            process = await system.start_program(command, env=env, cwd=folder, limit=MAX_LINE)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise McpFailure(
                f"The MCP server {name!r} can't be started: {command[0]!r}: {reason}. Set "
                f"mcpServers.{name}.command."
            ) from error
        return cls(name, process, spawn)

    @property
    def is_running(self) -> bool:
        """Whether the server can still be asked."""
        return self._is_open

    async def initialize(self) -> None:
        """Agree on the version of the protocol.

        Raises:
            McpFailure: If the server fails, or speaks no version that Stet knows.
        """
        params = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "stet", "title": "Stet", "version": __version__},
        }
        answer = await self._ask("initialize", params, START_SECONDS)
        error = answer.get("error")
        if isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND:
            self._meta = {
                "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": params["clientInfo"],
            }
            return
        version = self._result("initialize", answer).get("protocolVersion")
        if not isinstance(version, str) or version not in KNOWN_VERSIONS:
            shown = escape_line(version[:_MAX_SHOWN]) if isinstance(version, str) else "unknown"
            raise McpFailure(
                f"The MCP server {self._name!r} speaks a version of the protocol that Stet does not "
                f"know: {shown}."
            )
        self._send({"method": "notifications/initialized"})

    async def request(
        self, method: str, params: Mapping[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Send a request and return its result, of any form.

        A request that is cancelled or takes too long is cancelled at the server too.

        Raises:
            McpFailure: If the server answers with an error, ends, or takes too long.
        """
        if self._meta:
            params = {**params, "_meta": self._meta}
        return self._result(method, await self._ask(method, params, seconds))

    async def close(self) -> None:
        """Close the streams, and kill the process group if the program does not end by itself."""
        self._is_open = False
        self._reading.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                await self._process.wait()
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            elif self._process.returncode is None:
                self._process.kill()
        await self._process.wait()
        self._errors.cancel()

    def _result(self, method: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of an answer.

        Raises:
            McpFailure: If there is none.
        """
        error, result = answer.get("error"), answer.get("result")
        if isinstance(error, dict):
            message = error.get("message")
            words = message if isinstance(message, str) else ""
            text = escape_line(words[:_MAX_SHOWN]).rstrip(". ")
            raise McpFailure(
                f"The MCP server {self._name!r} reports an error: {text or 'unknown'}."
            )
        if not isinstance(result, dict):
            raise McpFailure(
                f"The MCP server {self._name!r} answered {method!r} with what is not of the protocol."
            )
        if result.get("resultType", "complete") != "complete":
            raise McpFailure(
                f"The MCP server {self._name!r} asks for input, which Stet does not give."
            )
        return result

    async def _ask(self, method: str, params: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        self._n_requests += 1
        number = self._n_requests
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            if not self._is_open:
                raise await self._end_failure()
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            self._cancel(number, method, "it takes too long")
            raise McpFailure(
                f"The MCP server {self._name!r} did not answer {method!r} within {seconds:g} s"
                f"{self._last_words}."
            ) from None
        except asyncio.CancelledError:
            self._cancel(number, method, "the user has cancelled")
            raise
        except ConnectionError as error:
            raise await self._end_failure() from error
        finally:
            self._pending.pop(number, None)
            answer.cancel()

    async def _end_failure(self) -> McpFailure:
        """Return the failure of a server that can't be asked any more."""
        if self._fault:
            return McpFailure(f"The MCP server {self._name!r} {self._fault}, and was stopped.")
        with suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                await self._process.wait()
                await asyncio.wait({self._errors})
        code = self._process.returncode
        how = f" with exit code {code}" if code is not None else ""
        return McpFailure(f"The MCP server {self._name!r} has ended{how}{self._last_words}.")

    def _cancel(self, number: int, method: str, reason: str) -> None:
        if method != "initialize":
            params = {"requestId": number, "reason": reason}
            self._send({"method": "notifications/cancelled", "params": params})

    def _send(self, message: Mapping[str, Any]) -> None:
        """Send a message, unless the server has ended or reads too slowly."""
        writer = self._process.stdin
        if writer is None or not self._is_open or writer.is_closing():
            return
        writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        if writer.transport.get_write_buffer_size() > MAX_UNSENT:
            self._end("does not read what it is sent")

    async def _read(self) -> None:
        reader = self._process.stdout
        assert reader is not None, "all streams are piped"
        n_ignored = n_read = 0
        fault = ""
        while not fault and self._is_open:
            try:
                line = await reader.readline()
            except ValueError:
                fault = "sent a line that is too long"
                break
            except ConnectionError:
                break
            if not line:
                break
            is_large = len(line) > _LARGE
            try:
                message = await asyncio.to_thread(_parse, line) if is_large else _parse(line)
            except RecursionError:
                fault = "sent a message that is nested too deeply"
                break
            if message is not None:
                n_ignored = 0
                self._take(message)
            else:
                n_ignored += 1
                fault = "sent text that is no message of the protocol"
                fault = fault if n_ignored > MAX_IGNORED else ""
            n_read += 1
            if n_read % _N_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._end(fault)

    def _end(self, fault: str) -> None:
        """Answer all open requests with a failure; a server with a fault is killed."""
        self._is_open = False
        self._fault = self._fault or fault
        if fault and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ConnectionResetError("the server has ended"))

    def _take(self, message: Mapping[str, Any]) -> None:
        """Handle a message of the server; requests other than `ping` are refused."""
        method, number = message.get("method"), message.get("id")
        if method is None:
            answer = self._pending.get(number) if isinstance(number, int) else None
            if answer is not None and not answer.done():
                answer.set_result(dict(message))
        elif isinstance(number, int | str):
            refusal = {"error": {"code": METHOD_NOT_FOUND, "message": "Method not found"}}
            self._send({"id": number, **({"result": {}} if method == "ping" else refusal)})
        elif method == "notifications/tools/list_changed":
            self.is_stale = True

    @property
    def _last_words(self) -> str:
        """The end of stderr, after a colon; "" if there is none."""
        words = " ".join(filter(None, self._last_lines)).rstrip(". ")
        return f": {words[-_MAX_SHOWN:]}" if words else ""

    async def _read_errors(self) -> None:
        reader = self._process.stderr
        assert reader is not None, "all streams are piped"
        n_logged = 0
        while piece := await reader.read(2**16):
            for line in piece.decode(errors="replace").splitlines():
                shown = escape_line(line[:_MAX_SHOWN]).strip()
                self._last_lines.append(shown)
                if n_logged < _MAX_LOGGED:
                    n_logged += 1
                    log.info("stderr of the MCP server %s: %s", self._name, shown)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the message of a line, or None if the line has no message.

    An answer that is nested too deeply is returned without its result, and is a failure then.

    Raises:
        RecursionError: If the line is nested so deeply that it can't be parsed.
    """
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    if not _is_deep(message):
        return message
    number = message.get("id")
    return {"id": number} if isinstance(number, int) and "method" not in message else None


def _is_deep(value: object) -> bool:
    """Return whether JSON is nested deeper than `MAX_DEPTH`: other code could not handle it."""
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        if not inner:
            return False
        level = inner
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
