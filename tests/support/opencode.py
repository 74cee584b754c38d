"""A real `opencode serve` on loopback, and a proxy that records its requests.

async with OpenCode.start(program, home) as server, RecordingProxy.tap(server) as proxy:
    ...  # the bridge's url is proxy.url()
"""

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.support.http_server import HttpRequest, HttpServer, read_request, response_head

WAIT_SECONDS = 30.0
"""Seconds that a server may take to start; it loads 180 MB."""
PASSWORD = "canary-password-91c4"
_LISTENS = re.compile(r"listening on http")
_QUIET = {
    f"OPENCODE_DISABLE_{what}": "1"
    for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "PRUNE")
}


class OpenCode:
    """A server process, which can be killed and restarted at the same port.

    Attributes:
        port: The port on which the server listens.
    """

    def __init__(self, program: Path, home: Path) -> None:
        self.port = _free_port()
        self._program = program
        self._home = home
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[bytes] | None = None
        self._client = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            auth=httpx2.BasicAuth("opencode", PASSWORD),
            trust_env=False,
            timeout=WAIT_SECONDS,
        )

    @classmethod
    @asynccontextmanager
    async def start(cls, program: Path, home: Path) -> AsyncIterator["OpenCode"]:
        """Start a server that listens."""
        server = cls(program, home)
        try:
            await server.run()
            yield server
        finally:
            await server.kill()
            await server._client.aclose()

    async def run(self) -> None:
        """Start the process, and wait until it listens."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._home), **_QUIET}
        self._process = await asyncio.create_subprocess_exec(
            str(self._program), "serve", "--hostname", "127.0.0.1", "--port", str(self.port),
            cwd=self._home,
            env={**environment, "OPENCODE_SERVER_PASSWORD": PASSWORD},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        assert self._process.stdout is not None
        shown_text = ""
        async with asyncio.timeout(WAIT_SECONDS):
            while not _LISTENS.search(shown_text):
                line = await self._process.stdout.readline()
                assert line, f"opencode ended: {shown_text}"
                shown_text += line.decode(errors="replace")
        self._reading = asyncio.get_running_loop().create_task(self._process.stdout.read())

    async def kill(self) -> None:
        """Kill the process."""
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        if self._reading is not None:
            await self._reading
        self._process = None

    async def ask(
        self, method: str, path: str, folder: Path | None = None, body: Any = None
    ) -> Any:
        """Return the answer to a request of the test."""
        query = {"directory": str(folder)} if folder else None
        response = await self._client.request(method, path, params=query, json=body)
        assert response.status_code == 200, f"{method} {path}: {response.text[:300]}"
        return response.json()

    async def session(self, folder: Path, **body: Any) -> str:
        """Create a session; return its id."""
        return str((await self.ask("POST", "/session", folder, body))["id"])

    async def say(self, session: str, folder: Path, text: str, **body: Any) -> None:
        """Send a user message that the agent does not answer."""
        parts = [{"type": "text", "text": text}]
        path = f"/session/{session}/message"
        await self.ask("POST", path, folder, {"noReply": True, "parts": parts, **body})

    async def ask_agent(self, session: str, folder: Path, text: str, **body: Any) -> None:
        """Send a user message that the agent begins to answer."""
        parts = [{"type": "text", "text": text}]
        path = f"/session/{session}/prompt_async"
        response = await self._client.post(
            path, params={"directory": str(folder)}, json={"parts": parts, **body}
        )
        assert response.status_code == 204, response.text[:300]

    async def is_busy(self, session: str, folder: Path) -> bool:
        """Tell whether the session's agent is running."""
        states = await self.ask("GET", "/session/status", folder)
        return bool(states.get(session, {}).get("type", "idle") != "idle")

    async def messages(self, session: str, folder: Path) -> list[Any]:
        """Return all messages, oldest first."""
        return list(await self.ask("GET", f"/session/{session}/message", folder))

    async def live(self, session: str, folder: Path) -> list[str]:
        """Return the texts of the context parts that the model sees."""
        return [text for text, is_ignored in await self.ours(session, folder) if not is_ignored]

    async def ours(self, session: str, folder: Path) -> list[tuple[str, bool]]:
        """Return all context parts: the text, and whether it is hidden from the model."""
        return [
            (part["text"], part.get("ignored", False))
            for message in await self.messages(session, folder)
            for part in message["parts"]
            if (part.get("metadata") or {}).get("kind") == "editor_context"
        ]


class RecordingProxy(HttpServer):
    """A proxy that forwards requests to a server and records them.

    Attributes:
        asked: The received requests, oldest first.
        reported: The answered requests other than GET, oldest first.
        hides: Selects paths that the proxy answers with 404.
        refuses: Selects requests that the proxy answers with 400.
    """

    def __init__(self, port: int) -> None:
        super().__init__()
        self.asked: list[HttpRequest] = []
        self.reported: list[HttpRequest] = []
        self.hides: Callable[[str], bool] = lambda _: False
        self.refuses: Callable[[HttpRequest], bool] = lambda _: False
        self._news = asyncio.Event()
        self._client = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=WAIT_SECONDS
        )

    @classmethod
    @asynccontextmanager
    async def tap(cls, server: OpenCode) -> AsyncIterator["RecordingProxy"]:
        """Start a proxy for this server."""
        async with cls(server.port) as wire, wire._client:
            yield wire

    async def wait_until(self, holds: Callable[[], object]) -> None:
        """Wait until `holds`; check after each answered request."""
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                while not holds():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            last = [(one.method, one.path, one.body) for one in self.asked[-5:]]
            raise AssertionError(f"waited in vain; the last requests: {last}") from None

    async def wait_for(self, part: str) -> None:
        """Wait until the last write contains `part`."""
        await self.wait_until(lambda: self.reported and part in str(self.reported[-1].body))

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (asked := await read_request(reader)) is not None:
            self.asked.append(asked)
            status, body, challenge = await self._answer(asked)
            if asked.method != "GET" and status == 200:
                self.reported.append(asked)
            headers = {"content-type": "application/json", "content-length": str(len(body))}
            headers |= {"www-authenticate": challenge} if challenge else {}
            writer.write(response_head(status, headers) + body)
            await writer.drain()
            self._news.set()

    async def _answer(self, asked: HttpRequest) -> tuple[int, bytes, str]:
        """Return status, body and authentication header of an answer."""
        if self.hides(asked.path):
            return 404, b"{}", ""
        if self.refuses(asked):
            return 400, b"{}", ""
        given = asked.headers.get("authorization")
        headers = {"authorization": given} if given is not None else {}
        try:
            response = await self._client.request(
                asked.method, asked.path, headers=headers, json=asked.body
            )
        except httpx2.HTTPError as error:
            self._news.set()
            raise ConnectionError from error
        challenge = response.headers.get("www-authenticate", "")
        return response.status_code, response.content, challenge


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
