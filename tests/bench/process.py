"""A language server as a process, with a minimal client, so that the server is measured."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VERIFIED = (sys.executable, "-I", str(Path(__file__).with_name("stet_server.py")))
STET = (sys.executable, "-I", "-m", "stet.cli.main", "serve")
BARE = (sys.executable, "-I", str(Path(__file__).with_name("bare_pygls.py")))
NEOVIM = Path(__file__).parents[1] / "support" / "clients" / "neovim_v0.12.4.json"
INITIALIZE: dict[str, Any] = {
    **json.loads(NEOVIM.read_text()),
    "processId": None,
    "rootUri": None,
}
"""The `initialize` parameters of a real editor: their size matters."""


def encoded(message: dict[str, Any]) -> bytes:
    """Frame a message."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class ServerProcess:
    """One running server.

    Attributes:
        shown: The message of the last progress report.
        takes_edits: Answers each edit request of the server; None: no edit is applied.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.shown = ""
        self.takes_edits: Callable[[dict[str, Any]], None] | None = None
        self._process = process

    def write(self, data: bytes) -> None:
        """Write bytes to the server's standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def ask(self, method: str, params: object) -> Any:
        """Return the result of a request; answer the server's requests with null."""
        return self.answer(method, params)["result"]

    def answer(self, method: str, params: object) -> dict[str, Any]:
        """Return the answer to a request, or its error: both follow all earlier messages."""
        self.write(encoded({"id": method, "method": method, "params": params}))
        while True:
            message = self._read()
            if "method" in message:
                self._answer(message)
            elif message.get("id") == method:
                return message

    def _answer(self, message: dict[str, Any]) -> None:
        if message["method"] == "$/progress":
            self.shown = message["params"]["value"].get("message") or ""
        if message["method"] == "workspace/applyEdit" and self.takes_edits is not None:
            self.takes_edits(message)
        elif "id" in message:
            result = [None] if message["method"] == "workspace/configuration" else None
            self.write(encoded({"id": message["id"], "result": result}))

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self.write(encoded({"method": method, "params": params}))

    def is_quiet(self, seconds: float) -> bool:
        """Tell whether the server sends nothing for `seconds`."""
        assert self._process.stdout is not None
        return not select.select([self._process.stdout], [], [], seconds)[0]

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline()) not in {b"\r\n", b""}:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message = json.loads(self._process.stdout.read(length))
        assert isinstance(message, dict)
        return message


@contextmanager
def running(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Iterator[ServerProcess]:
    """Start a server process without initializing it; kill the process at the end of the block.

    Args:
        argv: The command line.
        env: Variables that are merged into our environment.
    """
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    ) as process:
        try:
            yield ServerProcess(process)
        finally:
            process.kill()
