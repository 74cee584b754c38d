"""A language server as a process, driven as plainly as can be: what is measured is the server."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
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
    """One running server."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def write(self, data: bytes) -> None:
        """Put bytes on its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def ask(self, method: str, params: object) -> Any:
        """The result of a request; what the server asks is answered with nothing, the rest skipped."""
        self.write(encoded({"id": method, "method": method, "params": params}))
        while True:
            message = self._read()
            if "method" in message:
                self._answer(message)
            elif message.get("id") == method:
                return message["result"]

    def _answer(self, message: dict[str, Any]) -> None:
        if "id" in message:
            result = [None] if message["method"] == "workspace/configuration" else None
            self.write(encoded({"id": message["id"], "result": result}))

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        self.write(encoded({"method": method, "params": params}))

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
def running(argv: Sequence[str]) -> Iterator[ServerProcess]:
    """A server process, not initialized; killed when the block is left."""
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield ServerProcess(process)
        finally:
            process.kill()
