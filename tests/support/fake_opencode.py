"""The parts of an OpenCode server that Stet uses, on loopback, with every fault that a test needs.

async with FakeOpenCode() as server:
    session = server.session("/ws")
    ...  # server.url(""), server.messages[session], server.asked
"""

import asyncio
import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head

Reply = tuple[int, Any]
_MESSAGES = re.compile(r"/session/(\w+)/message")
_MESSAGE = re.compile(r"/session/(\w+)/message/(\w+)(?:/part/(\w+))?")
_NEWER = re.compile(r"/api/session/(\w+)(/prompt)?")


class FakeOpenCode(HttpServer):
    """An OpenCode server on loopback.

    Attributes:
        asked: The received requests, oldest first.
        sessions: The sessions as reported to clients, by id.
        messages: The messages by session.
        status: The statuses of sessions, by id.
        is_newer: Whether the server has the newer API only.
        login: The required header `Authorization`; "" for a server that asks for no password.
        challenge: The header by which the server asks for a password.
        fault: Returns another answer: a reply, bytes to send as they are, or None for no fault.
        closes: Whether the server closes each connection after one answer.
        loses: Whether the server executes a request and closes the connection without an answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[HttpRequest] = []
        self.sessions: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, list[Any]] = {}
        self.status: dict[str, Any] = {}
        self.is_newer = False
        self.login = ""
        self.challenge = 'Basic realm="Secure Area"'
        self.closes = False
        self.fault: Callable[[HttpRequest], Reply | bytes | None] = lambda _: None
        self.loses: Callable[[HttpRequest], bool] = lambda _: False
        self._numbers = count(1)
        self._news = asyncio.Event()

    def session(self, folder: str, **more: Any) -> str:
        """Create a session, which is the most recently updated one; return its id."""
        number = next(self._numbers)
        name = f"ses_{number}"
        times = {"created": number, "updated": number}
        reported = {
            "id": name,
            "directory": folder,
            "location": {"directory": folder},
            "time": times,
        }
        self.sessions[name] = reported | more
        self.messages[name] = []
        return name

    def say(self, session: str, text: str, metadata: object = None) -> Any:
        """Add a message from another client; return its part."""
        return self._add(session, [{"type": "text", "text": text, "metadata": metadata}])["parts"][
            0
        ]

    def parts(self, session: str) -> list[tuple[str, bool]]:
        """Return all parts: the text, and whether the model sees it."""
        return [
            (part["text"], not part.get("ignored"))
            for message in self.messages[session]
            for part in message["parts"]
        ]

    def writes(self) -> list[str]:
        """Return the methods of the requests that change something."""
        return [one.method for one in self.asked if one.method != "GET"]

    async def wait_until(self, holds: Callable[[], object]) -> None:
        """Wait until `holds`; check after each request."""
        async with asyncio.timeout(60):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := await read_request(reader)) is not None:
            self.asked.append(asked)
            reply = self.fault(asked)
            if reply is None and asked.headers.get("authorization", "") != self.login:
                head = {"www-authenticate": self.challenge} if self.challenge else {}
                reply = response_head(401, {**head, "content-length": "0"})
            if reply is None:
                reply = self._reply(asked)
                if self.loses(asked):
                    self._news.set()
                    return
            if not isinstance(reply, bytes):
                body = json.dumps(reply[1]).encode()
                headers = {"content-type": "application/json", "content-length": str(len(body))}
                reply = response_head(reply[0], headers) + body
            writer.write(reply)
            await writer.drain()
            self._news.set()
            if self.closes:
                return

    def _reply(self, asked: HttpRequest) -> Reply:
        parts = urlsplit(asked.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path.startswith("/api/") != self.is_newer:
            return 404, {}
        if parts.path in {"/global/health", "/api/health"}:
            return 200, {"healthy": True, "version": "1.18.33"}
        if parts.path == "/session/status":
            return 200, self.status
        if parts.path in {"/session", "/api/session"}:
            found = [
                one for one in self.sessions.values() if one["directory"] == query["directory"]
            ]
            return 200, {"data": found} if self.is_newer else found
        if named := _NEWER.fullmatch(parts.path):
            return self._newer(asked, named[1])
        if named := _MESSAGES.fullmatch(parts.path):
            return self._messages(asked, named[1], query)
        if named := _MESSAGE.fullmatch(parts.path):
            return self._message(asked, named[1], named[2], named[3])
        one = self.sessions.get(parts.path.rpartition("/")[2])
        return (404, {}) if one is None else (200, one)

    def _newer(self, asked: HttpRequest, session: str) -> Reply:
        if session not in self.sessions:
            return 404, {}
        if asked.method == "GET":
            return 200, {"data": self.sessions[session]}
        self.say(session, asked.body["prompt"]["text"])
        return 200, {"data": {}}

    def _messages(self, asked: HttpRequest, session: str, query: dict[str, str]) -> Reply:
        if session not in self.sessions:
            return 404, {}
        if asked.method == "GET":
            return 200, self.messages[session][-int(query["limit"]) :]
        return 200, self._add(session, asked.body["parts"])

    def _message(self, asked: HttpRequest, session: str, message: str, part: str | None) -> Reply:
        found = [one for one in self.messages.get(session, ()) if one["info"]["id"] == message]
        if not found:
            return (404 if part is None else 500), {}
        if part is not None:
            assert (asked.body["id"], asked.body["messageID"]) == (part, message)
            known = [one for one in found[0]["parts"] if one["id"] != part]
            found[0]["parts"] = [*known, asked.body]
        return 200, found[0]

    def _add(self, session: str, parts: list[Any]) -> Any:
        number = next(self._numbers)
        self.sessions[session]["time"]["updated"] = number
        made = [{**part, "id": f"prt_{number}"} for part in parts]
        self.messages[session].append({"info": {"id": f"msg_{number}"}, "parts": made})
        return self.messages[session][-1]
