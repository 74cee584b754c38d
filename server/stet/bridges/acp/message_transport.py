"""JSON-RPC messages of an agent, one on each line, checked before the library sees them.

The library logs what it can't handle with its text, and stops reading. So a message of another form
is left out here.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

_LARGE = 2**16
"""Longer lines are parsed in a thread."""
MAX_IGNORED = 10_000
"""The most lines in a row that are no messages: some agents print a banner first."""


class MessageTransport:
    """The messages to and from one agent; used on the event loop only.

    Attributes:
        fault: Why the agent is not read any more, as the end of a sentence; "" if it is.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Create the transport over the streams of a process."""
        self.fault = ""
        self._reader = reader
        self._writer = writer

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; an answer to an agent that has ended is left out.

        Raises:
            ConnectionError: If the agent has closed its input.
        """
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        try:
            self._writer.write(line)
            await self._writer.drain()
        except OSError as error:
            if "method" in message:
                raise ConnectionError("the agent has closed its input") from error

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, or None at the end or after a line that is too long."""
        for _ in range(MAX_IGNORED):
            try:
                line = await self._reader.readline()
            except ValueError:
                self.fault = "sent a line that is too long"
                return None
            except ConnectionError:
                return None
            if not line:
                return None
            large = len(line) > _LARGE
            message = await asyncio.to_thread(_parse, line) if large else _parse(line)
            if message is not None:
                return message
        self.fault = "sent text that is no message of the protocol"
        return None

    async def close(self) -> None:
        """Close the input of the agent."""
        self._writer.close()


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return a message of the right form, or None."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not _is_valid(message):
        return None
    error = message.get("error")
    if "method" in message or error is None:
        return message
    code, text = error.get("code"), error.get("message")
    message["error"] = {
        "code": code if isinstance(code, int) else -32603,
        "message": text if isinstance(text, str) else "Error",
        "data": error.get("data"),
    }
    return message


def _is_valid(message: Mapping[str, Any]) -> bool:
    """Return whether a message has the form of a request, a notification or an answer."""
    if "method" not in message:
        return isinstance(message.get("id"), int) and isinstance(message.get("error"), dict | None)
    return (
        isinstance(message["method"], str)
        and isinstance(message.get("params", {}), dict | None)
        and isinstance(message.get("id", 0), int | str)
    )
