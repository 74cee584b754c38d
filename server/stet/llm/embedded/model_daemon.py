"""The process of a local model that stays between the questions of `stet ask`.

Started as `python -I -m stet.llm.embedded.model_daemon`. One JSON line on stdin contains the
options of `stet.llm.embedded.llama_server` and those of `ModelDaemons.order`. One JSON line on
stdout answers `{"state": "started"}` once clients can connect, `{"state": "running"}` if there is a
daemon for this model already, or `{"error": "…"}`. The process that was started then ends, and a
child of it loads the model: it belongs to no session and no folder of the user.

Who connects to the socket gets one JSON line when the model is loaded: the `port` and the `key` of
the server of llama.cpp, and how many others are connected (`users`); or the `error` of the start,
as `llama_server` answers it. Other users are refused, by the mode of the folder and by what the
kernel reports of them. A connection counts as a user until it is closed. A killed client closes its
connections, with which llama.cpp ends its request.

Without a user the daemon ends after its idle time, and at once when the file of weights has changed
or is gone. The lock is held until the end of the process, so that there is never a second daemon,
and names the process.
"""

import json
import os
import secrets
import selectors
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from stet.control.peer import is_same_user
from stet.llm.embedded import llama_server
from stet.system.file_lock import FileLock

LOOK_SECONDS = 1.0
"""How often the file of weights is looked at."""
FAILED_SECONDS = 5.0
"""How long a daemon whose model can't be loaded waits for the client that has started it."""
_QUEUE = 16
_ONLY_THE_USER = 0o077


def main() -> None:
    """Start the daemon, and end; in its own process, serve until it is no longer needed."""
    order = json.loads(sys.stdin.readline())
    os.umask(_ONLY_THE_USER)
    try:
        lock = FileLock.acquire(Path(order["lock"]))
        listening = _listen(order["socket"]) if lock is not None else None
    except OSError as error:
        _answer({"error": str(error)})
        return
    _answer({"state": "started" if listening else "running"})
    if listening is None or os.fork():
        os._exit(0)  # without closing what the child uses
    _leave_session()
    Path(order["lock"]).write_text(
        json.dumps({"pid": os.getpid(), "model": order["model"]}), encoding="utf-8"
    )
    reply, idle = _load(order)
    daemon = ModelDaemon(listening, reply, lambda: _is_unchanged(order), idle)
    daemon.serve()
    with suppress(OSError):
        Path(order["socket"]).unlink()
    os._exit(0)  # llama.cpp's threads would delay an ordinary exit


class ModelDaemon:
    """The users of a loaded model.

    Args:
        listening: The socket to which users connect.
        reply: What each of them is sent, besides the number of the others.
        is_unchanged: Returns whether the file of weights is the one that was loaded.
        idle_seconds: The time without a user after which the daemon ends.
    """

    def __init__(
        self,
        listening: socket.socket,
        reply: Mapping[str, object],
        is_unchanged: Callable[[], bool],
        idle_seconds: float,
    ) -> None:
        self._listening = listening
        self._reply = reply
        self._is_unchanged = is_unchanged
        self._idle_seconds = idle_seconds
        self._users: set[socket.socket] = set()
        self._idle_since = time.monotonic()
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Serve until there is no user, and the idle time is over or the weights have changed."""
        self._listening.settimeout(0)
        self._selector.register(self._listening, selectors.EVENT_READ)
        while (seconds := self._seconds_left()) > 0:
            for ready, _ in self._selector.select(min(seconds, LOOK_SECONDS)):
                if ready.fileobj is self._listening:
                    self._accept()
                else:
                    assert isinstance(ready.fileobj, socket.socket)
                    self._read(ready.fileobj)
        self._listening.close()

    def _seconds_left(self) -> float:
        """Return the seconds until the end, if no user comes; 0 for now."""
        if self._users:
            return LOOK_SECONDS
        if not self._is_unchanged():
            return 0
        return self._idle_since + self._idle_seconds - time.monotonic()

    def _accept(self) -> None:
        """Let a process of this user in, unless it wants a model that has changed."""
        try:
            connection, _ = self._listening.accept()
        except OSError:
            return  # it has gone again
        if not is_same_user(connection) or not self._is_unchanged():
            connection.close()
            return
        connection.settimeout(0)
        line = json.dumps({**self._reply, "users": len(self._users)}).encode() + b"\n"
        self._users.add(connection)
        self._selector.register(connection, selectors.EVENT_READ)
        try:
            connection.sendall(line)
        except OSError:
            self._remove(connection)

    def _read(self, connection: socket.socket) -> None:
        """Notice that a user has gone; a user sends nothing."""
        try:
            is_open = bool(connection.recv(1024))
        except OSError:
            is_open = False
        if not is_open:
            self._remove(connection)

    def _remove(self, connection: socket.socket) -> None:
        self._users.discard(connection)
        self._selector.unregister(connection)
        connection.close()
        self._idle_since = time.monotonic()


def file_state(path: str) -> list[int]:
    """Return what changes when a file is replaced or written.

    Raises:
        OSError: If there is no such file.
    """
    found = Path(path).stat()
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]


def _listen(path: str) -> socket.socket:
    """Return a socket that listens at a path, in the place of one that an earlier daemon has left.

    Raises:
        OSError: If the socket can't be created.
    """
    Path(path).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(path)
        listening.listen(_QUEUE)
    except OSError:
        listening.close()
        raise
    return listening


def _answer(reply: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def _leave_session() -> None:
    """Leave the session, the folder and the streams of the process that asked for the daemon."""
    os.setsid()
    os.chdir("/")  # noqa: TID251 - this process has no workspace, and must keep none mounted
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _load(order: Mapping[str, Any]) -> tuple[dict[str, object], float]:
    """Load the model; return the reply to users, and the idle time in seconds."""
    key = secrets.token_urlsafe(32)
    try:
        server = llama_server.serve({**order, "key": key})
    except llama_server.START_ERRORS as error:
        return llama_server.describe_failure(error), FAILED_SECONDS
    port = urlsplit(server.listening_address).port
    _running.append(server)
    return {"port": port, "key": key}, float(order["idle"])


_running: list[object] = []
"""The server of llama.cpp, which stops when nothing refers to it."""


def _is_unchanged(order: Mapping[str, Any]) -> bool:
    """Return whether the file of weights is the one that the daemon was started for."""
    try:
        return bool(file_state(order["model"]) == order["state"])
    except OSError:
        return False


if __name__ == "__main__":
    main()
