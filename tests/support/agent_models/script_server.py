"""A server that answers from a script; each form on the wire is a subclass."""

import asyncio
import itertools
import json
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from socket import socket
from typing import Any, ClassVar

from tests.support.agent_models.script import Answer, ModelRequest, Script, ScriptOver
from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent as an answer: status, body, and the type of the body."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


class ScriptServer(HttpServer):
    """The server.

    Args:
        script: Its answers.
        listening: The socket on which it listens; None for one of its own.

    Attributes:
        script: Its answers.
    """

    PATH: ClassVar[str]
    """The path whose requests are answered from the script."""

    def __init__(self, script: Script, listening: socket | None = None) -> None:
        super().__init__(listening=listening)
        self.script = script
        self._numbers = itertools.count(1)

    @abstractmethod
    def _read(self, body: Any) -> ModelRequest:
        """Return what the body of a request asks the model."""

    @abstractmethod
    def _sent(self, answer: Answer, body: Any) -> Sent:
        """Return an answer in the form that the body of its request asks for."""

    def _is_of_script(self, path: str) -> bool:
        """Return whether the requests of a path are answered from the script."""
        return path == self.PATH

    def _sent_beside(self, path: str) -> Sent:
        """Return the answer to a request of another path."""
        return json_body({"error": {"message": f"{path} is not there"}}, 404)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := await read_request(reader)) is not None:
            sent = self._answer(asked)
            length = str(len(sent.body))
            headers = {"content-type": sent.content_type, "content-length": length}
            writer.write(response_head(sent.status, headers))
            writer.write(b"" if asked.method == "HEAD" else sent.body)
            await writer.drain()

    def _answer(self, asked: HttpRequest) -> Sent:
        path = asked.path.partition("?")[0]
        if not self._is_of_script(path) or asked.method != "POST":
            self.script.side_requests.append(f"{asked.method} {path}")
            return self._sent_beside(path)
        try:
            answer = self.script.next(self._read(asked.body))
        except ScriptOver as over:
            error = {"type": "invalid_request_error", "message": str(over)}
            return json_body({"type": "error", "error": error}, 400)
        return self._sent(answer, asked.body)


def json_body(body: Any, status: int = 200) -> Sent:
    """Make an answer of JSON."""
    return Sent(json.dumps(body).encode(), status)


def event_stream(events: Iterable[dict[str, Any]]) -> Sent:
    """Make a stream of events that have their name as `type`."""
    pieces = (
        b"event: %b\ndata: %b\n\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in events
    )
    return Sent(b"".join(pieces), content_type="text/event-stream")
