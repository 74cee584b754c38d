"""A server and its editor in one process, for the benchmark of hunks.

The server is complete, except for the pipe to the editor. The editor applies requested edits and
reports them as changes from the bottom up, as most editors do.
"""

import asyncio
import gc
import json
from itertools import count
from typing import Any, cast

from stet.lsp.connection.stdio import FrameReader
from stet.lsp.presentation.diagnostics_publisher import DELAY
from stet.lsp.server import build_server
from stet.lsp.state import ServerState
from tests.bench.process import INITIALIZE


class HunksWorkspace:
    """One server and its editor.

    Attributes:
        state: The state of the server.
        lasting: The tasks that last as long as the server, and the task that measures.
    """

    def __init__(self) -> None:
        self._server = build_server()
        self._server.input = FrameReader(self._server.protocol.receive)
        self._server.protocol.set_writer(self)
        self._ids = count(1)
        self._versions = count(1)
        self._answers: dict[object, Any] = {}
        self._answered = asyncio.Event()
        self.lasting: set[asyncio.Task[Any]] = set()

    @property
    def state(self) -> ServerState:
        return cast("ServerState", self._server.state())

    async def begin(self) -> None:
        """Initialize the server, and wait until it is ready."""
        self.ask("initialize", INITIALIZE)
        self._notify("initialized", {})
        _ = await self.state.startup.wait_pipeline()
        self.lasting = asyncio.all_tasks()

    async def end(self) -> None:
        """Shut the server down."""
        await self._server.tasks.close()
        assert self._server.closing is not None
        await self._server.closing()

    # -- from the server -------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Receive a message; answer a request after the server's current step."""
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        method = message.get("method")
        if method is None:
            self._answers[message["id"]] = message["result"]
            self._answered.set()
        elif "id" in message:
            asyncio.get_running_loop().call_soon(self._answer, message)

    def close(self) -> None:
        """Do nothing: the pipe is missing."""

    def _answer(self, message: dict[str, Any]) -> None:
        result: object = None
        if message["method"] == "workspace/configuration":
            result = [None]
        elif message["method"] == "workspace/applyEdit":
            for change in message["params"]["edit"]["documentChanges"]:
                edits = [{"range": e["range"], "text": e["newText"]} for e in change["edits"]]
                self.change(change["textDocument"]["uri"], *reversed(edits))
            result = {"applied": True}
        self._receive({"id": message["id"], "result": result})

    # -- to the server ---------------------------------------------------------------------------

    def ask(self, method: str, params: object) -> Any:
        """Return the result of a request, which the server answers at once."""
        number = next(self._ids)
        self._receive({"id": number, "method": method, "params": params})
        return self._answers.pop(number)

    def command(self, name: str, **arguments: object) -> Any:
        """Return the result of a command."""
        return self.ask("workspace/executeCommand", {"command": name, "arguments": [arguments]})

    async def decide(self, name: str, **arguments: object) -> Any:
        """Return the result of a command that the server answers after the editor or the disk."""
        number = next(self._ids)
        params = {"command": name, "arguments": [arguments]}
        self._receive({"id": number, "method": "workspace/executeCommand", "params": params})
        while number not in self._answers:
            self._answered.clear()
            await self._answered.wait()
        return self._answers.pop(number)

    def open(self, uri: str, text: str) -> None:
        """Open a document."""
        document = {"uri": uri, "languageId": "plaintext", "version": 0, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, *changes: dict[str, Any]) -> None:
        """Change a document with one message."""
        document = {"uri": uri, "version": next(self._versions)}
        self.state.text_sync.change({"textDocument": document, "contentChanges": list(changes)})

    async def rests(self) -> None:
        """Wait until all changes are published, so that no work is left over."""
        await asyncio.sleep(2 * DELAY)
        gc.collect()

    def _notify(self, method: str, params: object) -> None:
        self._receive({"method": method, "params": params})

    def _receive(self, message: dict[str, Any]) -> None:
        assert self._server.protocol.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())
