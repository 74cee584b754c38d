"""A client of the control socket: which server has a folder open, and requests to the server.

`stet hook` imports this module for each tool of an agent, so it imports nothing that takes long.
"""

import json
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stet.control.descriptor import Descriptor, read_descriptors
from stet.control.socket_path import short_path

CONNECT_SECONDS = 2.0
MAX_LINE = 16 * 1024 * 1024
"""The most bytes of one message."""


class ServerLost(Exception):
    """The server does not answer, or has ended; the message says so in a sentence."""


class RequestRefused(Exception):
    """The server refused a request; `code` is the JSON-RPC error code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ControlClient:
    """A connection to the control socket of one server; used as a context manager."""

    def __init__(self, descriptor: Descriptor, seconds: float | None = None) -> None:
        """Connect to a server.

        Args:
            descriptor: The server.
            seconds: The time limit of each answer; None for no limit.

        Raises:
            ServerLost: If the server can't be reached.
        """
        self.descriptor = descriptor
        self._last_id = 0
        try:
            self._socket = _connect(descriptor)
        except OSError as error:
            raise ServerLost(
                f"Stet's server (process {descriptor.pid}) can't be reached: {error}"
            ) from error
        self._socket.settimeout(seconds)
        self._stream = self._socket.makefile("rb")

    def __enter__(self) -> "ControlClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection: the server stops what waits for this client."""
        self._stream.close()
        self._socket.close()

    def abort(self) -> None:
        """End a request that waits in another thread; that thread gets `ServerLost`."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def request(self, method: str, *params: object) -> Any:
        """Send a request and return its result.

        Raises:
            RequestRefused: If the server answers with an error.
            ServerLost: If the server ends, or does not answer in time.
        """
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
            line = self._stream.readline(MAX_LINE)
        except OSError as error:
            raise ServerLost(
                f"Stet's server (process {self.descriptor.pid}) does not answer: {error}"
            ) from error
        if not line.endswith(b"\n"):
            raise ServerLost(f"Stet's server (process {self.descriptor.pid}) has ended")
        answer = json.loads(line)
        if (refusal := answer.get("error")) is not None:
            raise RequestRefused(str(refusal["message"]), int(refusal["code"]))
        return answer["result"]


def _connect(descriptor: Descriptor) -> socket.socket:
    """Return a connected socket.

    Raises:
        OSError: If there is no server.
    """
    if descriptor.socket:
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.settimeout(CONNECT_SECONDS)
            with short_path(Path(descriptor.socket)) as address:
                connected.connect(address)
        except OSError:
            connected.close()
            raise
        return connected
    connected = socket.create_connection(("127.0.0.1", descriptor.port), CONNECT_SECONDS)
    connected.sendall(json.dumps({"token": descriptor.token}).encode() + b"\n")
    return connected


def find_servers(runtime: Path, folder: str) -> list[Descriptor]:
    """Return the servers that have a folder open, the newest first.

    A server without workspace folders has a folder open if a file in the folder is open.

    Args:
        runtime: The folder of the descriptors.
        folder: An absolute path.
    """
    real = os.path.realpath(folder)
    return [
        one
        for one in read_descriptors(runtime)
        if one.contains(real) or (not one.roots and _has_open(one, real))
    ]


def choose_server(servers: Sequence[Descriptor], file: str) -> Descriptor:
    """Return the server whose editor has a file open, else the newest server.

    Args:
        servers: At least one server, the newest first.
        file: The absolute path of a file, or "" for the newest server.
    """
    if file and len(servers) > 1:
        real = os.path.realpath(file)
        return next((one for one in servers if _has_open(one, real)), servers[0])
    return servers[0]


def _has_open(descriptor: Descriptor, path: str) -> bool:
    """Return whether the editor of a server has a file open, or a file in a folder."""
    try:
        with ControlClient(descriptor, CONNECT_SECONDS) as client:
            return bool(client.request("control.hasOpen", {"path": path}))
    except (ServerLost, RequestRefused):
        return False
