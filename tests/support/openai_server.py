"""An OpenAI-compatible server on loopback with scripted answers and faults.

    async with OpenAIServer([say("Hello."), Reply(status=500)]) as server:
        ...  # server.base_url, server.requests, await server.asked(1)

A reply is a `WebReply`, a function of the request that makes one, or a `Completion` of `stet.llm`.
"""

import asyncio
import json
import socket
import ssl
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from stet.llm.model import Completion
from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head


class End(Enum):
    """The end of a streamed reply."""

    DONE = "done"
    """The stream ends with `[DONE]`, as specified."""
    EOF = "eof"
    """The body ends normally, but without `[DONE]`."""
    CUT = "cut"
    """The connection is closed in the middle of the body."""
    RESET = "reset"
    """The connection is reset in the middle of the body."""
    HANG = "hang"
    """The connection stays open without data until the client closes it."""


@dataclass(frozen=True)
class Reply:
    """One scripted answer.

    Attributes:
        events: The stream: a mapping as a `data:` event, text and bytes unchanged.
        end: The end of the stream.
        status: The HTTP status.
        headers: Additional headers.
        content_type: The content type of the body.
        body: The whole body instead of a stream: text, or something to be sent as JSON.
        slice: Send this many bytes at a time, each in its own packet; 0: event by event.
        pause: Seconds between two pieces.
        drop: Whether to close the connection without an answer.
        trailer: Header lines after the last chunk of a stream, each with its line end.
    """

    events: Sequence[Mapping[str, Any] | str | bytes] = ()
    end: End = End.DONE
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    body: Any = None
    slice: int = 0
    pause: float = 0.0
    drop: bool = False
    trailer: bytes = b""


Scripted = Reply | Completion | Callable[[HttpRequest], Reply]


def delta(*, finish: str | None = None, index: int = 0, **fields: Any) -> dict[str, Any]:
    """Make a chunk: `delta(content="Hi")`, `delta(finish="stop")`."""
    choice = {"index": index, "delta": fields, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "test-1", "choices": [choice]}


def usage(prompt: int, completion: int, cached: int = 0) -> dict[str, Any]:
    """Make the last chunk of a stream with `include_usage`: no choices, only counts."""
    figures = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": figures}


def piece(index: int | None = 0, **fields: Any) -> dict[str, Any]:
    """Make a piece of a tool call: `piece(0, id="a", name="read_file", arguments="{")`."""
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    numbered = {} if index is None else {"index": index}
    return {**numbered, **fields, "function": function}


def say(text: str, *, finish: str = "stop") -> Reply:
    """Make a text answer, one event per word."""
    words = text.split(" ")
    pieces = [word if n == 0 else f" {word}" for n, word in enumerate(words)]
    events = [delta(content=one) for one in pieces]
    return Reply([delta(role="assistant", content=""), *events, delta(finish=finish), usage(10, 5)])


def call(name: str, /, **arguments: Any) -> Reply:
    """Make an answer that calls one tool, its arguments in two pieces."""
    return of(Completion("", (_wire_call(name, arguments),)))


def of(completion: Completion) -> Reply:
    """Make a stream of a completion."""
    events = [delta(role="assistant", content=completion.text)]
    for n, one in enumerate(completion.tool_calls):
        half = len(one.arguments) // 2
        first = piece(n, id=one.id or f"call_{n}", name=one.name, arguments=one.arguments[:half])
        events.append(delta(tool_calls=[first]))
        events.append(delta(tool_calls=[piece(n, arguments=one.arguments[half:])]))
    finish = "tool_calls" if completion.tool_calls else "stop"
    return Reply([*events, delta(finish=finish), usage(10, 5)])


def _wire_call(name: str, arguments: Mapping[str, Any]) -> Any:
    from stet.llm.model import ToolCall

    return ToolCall("call_0", name, json.dumps(arguments))


def error(status: int, message: str, *, code: str | None = None, **headers: str) -> Reply:
    """Make an error answer: `error(429, "slow down", retry_after="1")`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Reply(status=status, body=body, headers=named)


class OpenAIServer(HttpServer):
    """An OpenAI-compatible server on loopback.

    Args:
        replies: The answers to requests to `/chat/completions`, in order.
        pages: Other paths and their answers to GET: text, a `Reply`, or something sent as JSON.
        tls: The TLS context, for https.
        paths: The ends of the paths whose requests get `replies`.

    Attributes:
        requests: The requests to `paths`, oldest first.
        others: The other requests.
    """

    def __init__(
        self,
        replies: Sequence[Scripted] = (),
        pages: Mapping[str, Any] | None = None,
        tls: ssl.SSLContext | None = None,
        paths: tuple[str, ...] = ("/chat/completions",),
    ) -> None:
        super().__init__(tls)
        self.requests: list[HttpRequest] = []
        self.others: list[HttpRequest] = []
        self._replies = list(replies)
        self._pages = dict(pages or {})
        self._paths = paths
        self._changed = asyncio.Condition()
        self._n_left = 0

    @property
    def base_url(self) -> str:
        """Return the value for `model.baseUrl`."""
        return self.url("/v1")

    def add_page(self, path: str, page: object) -> None:
        """Add the answer to GET of a path."""
        self._pages[path] = page

    def add(self, *replies: Scripted) -> None:
        """Add replies."""
        self._replies.extend(replies)

    def forget(self) -> None:
        """Remove all remaining replies."""
        self._replies.clear()

    async def asked(self, n: int) -> None:
        """Wait until `n` requests have come in."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.requests) >= n)

    async def left(self, n: int = 1) -> None:
        """Wait until the client has closed `n` connections in the middle of an answer."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._n_left >= n)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := await read_request(reader)) and await self._answer(asked, reader, writer):
            pass

    async def _answer(
        self, asked: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether the connection may be reused."""
        if not asked.path.partition("?")[0].endswith(self._paths):
            self.others.append(asked)
            await _write(writer, self._page(asked))
            return asked.headers.get("connection", "").lower() != "close"
        async with self._changed:
            self.requests.append(asked)
            self._changed.notify_all()
        reply = self._next(asked)
        if reply.drop:
            return False
        if reply.body is not None:
            await _write(writer, reply)
            return True
        return await self._stream(reply, reader, writer)

    def _page(self, asked: HttpRequest) -> Reply:
        if asked.path not in self._pages:
            return Reply(status=404, body="not found", content_type="text/plain")
        body = self._pages[asked.path]
        if isinstance(body, Reply):
            return body
        return Reply(body=body, content_type="text/plain" if isinstance(body, str) else "")

    def _next(self, asked: HttpRequest) -> Reply:
        if not self._replies:
            return error(400, "the test's server has no reply left")
        reply = self._replies.pop(0)
        if isinstance(reply, Completion):
            return of(reply)
        return reply if isinstance(reply, Reply) else reply(asked)

    async def _stream(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        headers = {"content-type": reply.content_type, "transfer-encoding": "chunked"}
        writer.write(response_head(reply.status, {**headers, **reply.headers}))
        for part in _parts(reply):
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(reply.pause)
        if reply.end is End.HANG:
            await reader.read()
            await self._note_left()
        elif reply.end is End.RESET:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif reply.end is not End.CUT:
            writer.write(b"0\r\n%b\r\n" % reply.trailer)
            await writer.drain()
            return True
        return False

    async def _note_left(self) -> None:
        async with self._changed:
            self._n_left += 1
            self._changed.notify_all()


def _parts(reply: Reply) -> list[bytes]:
    """Return the body in the pieces in which it is sent."""
    pieces = [encoded(event) for event in reply.events]
    if reply.end is End.DONE:
        pieces.append(b"data: [DONE]\n\n")
    if not reply.slice:
        return pieces
    whole = b"".join(pieces)
    return [whole[at : at + reply.slice] for at in range(0, len(whole), reply.slice)]


def encoded(event: Mapping[str, Any] | str | bytes) -> bytes:
    """Encode an event as it is streamed."""
    if isinstance(event, bytes):
        return event
    if isinstance(event, str):
        return event.encode()
    return b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"


async def _write(writer: asyncio.StreamWriter, reply: Reply) -> None:
    is_text = isinstance(reply.body, str)
    body = (reply.body if is_text else json.dumps(reply.body)).encode()
    kind = reply.content_type if is_text else "application/json"
    headers = {"content-type": kind, "content-length": str(len(body)), **reply.headers}
    writer.write(response_head(reply.status, headers) + body)
    await writer.drain()
