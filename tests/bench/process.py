"""A language server as a process, driven as plainly as can be: what is measured is the server."""

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
"""What a real editor says: how much that is counts."""


def encoded(message: dict[str, Any]) -> bytes:
    """A message in its frame."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


class ServerProcess:
    """One running server.

    Attributes:
        shown: What its last report of progress said.
        takes_edits: Is given each edit that the server asks for, to be answered; None: none is taken.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.shown = ""
        self.takes_edits: Callable[[dict[str, Any]], None] | None = None
        self._process = process

    def write(self, data: bytes) -> None:
        """Put bytes on its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def ask(self, method: str, params: object) -> Any:
        """The result of a request; what the server asks is answered with nothing, the rest skipped."""
        return self.answer(method, params)["result"]

    def answer(self, method: str, params: object) -> dict[str, Any]:
        """The answer to a request, a refusal too: its place behind what was sent before is the same."""
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
        """Whether it says nothing for so long."""
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
    """A server process, not initialized; killed when the block is left.

    Args:
        argv: Its command line.
        env: Put over our own environment.
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
