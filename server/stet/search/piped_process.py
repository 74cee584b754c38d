"""A second process that works for the process of the index, and ends with it.

Threads send and receive, so that neither side blocks the other.
"""

import pickle
import queue
import subprocess
import threading
from contextlib import suppress
from typing import IO, Any

_LENGTH = 8
"""Bytes of the length prefix."""


def write_value(stream: IO[bytes], value: object) -> None:
    """Send a value. Raise BrokenPipeError if the reader is gone."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big") + data)
    stream.flush()


def read_value(stream: IO[bytes]) -> Any:
    """Return the next value. Raise EOFError if there is no value or only a part of one."""
    head = stream.read(_LENGTH)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == _LENGTH else b""
    if len(head) < _LENGTH or len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 (see the module)


class ProcessEnded(Exception):
    """The process has ended by itself."""


class PipedProcess:
    """One run of a module of Stet that reads values and writes values."""

    def __init__(self, module: str) -> None:
        """Start the module in a new process."""
        from stet.system.helper_process import (
            module_command,  # late: the other side needs none of it
        )

        self._process = subprocess.Popen(  # noqa: S603 - our own module
            module_command(module), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._to_do: queue.SimpleQueue[object | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[object | None] = queue.SimpleQueue()
        for target, stream, values in (
            (_write_all, self._process.stdin, self._to_do),
            (_read_all, self._process.stdout, self._done),
        ):
            threading.Thread(target=target, args=(stream, values), daemon=True).start()

    @property
    def pid(self) -> int:
        """What the system calls the process."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, by itself or not."""
        return self._process.poll() is not None

    @property
    def has_done(self) -> bool:
        """Whether `receive` need not wait."""
        return not self._done.empty()

    def send(self, value: object) -> None:
        """Send a value, meanwhile; None can't be sent."""
        self._to_do.put(value)

    def receive(self, seconds: float | None = None) -> Any:
        """Wait for the next value that the process has written and return it.

        Raises:
            TimeoutError: If there is no value within `seconds`.
            Ended: If there will be no value.
        """
        try:
            value = self._done.get(timeout=seconds)
        except queue.Empty as error:
            raise TimeoutError from error
        if value is None:
            raise ProcessEnded
        return value

    def end(self) -> None:
        """End it at once; what is under way is lost."""
        self._process.kill()
        self._process.wait()
        self._to_do.put(None)


def _write_all(stream: IO[bytes], to_do: "queue.SimpleQueue[object | None]") -> None:
    """Send values until there are no more, or the process has ended, which `_read_all` tells."""
    with suppress(BrokenPipeError), stream:
        while (value := to_do.get()) is not None:
            write_value(stream, value)


def _read_all(stream: IO[bytes], done: "queue.SimpleQueue[object | None]") -> None:
    """Take in values until the process ends."""
    with stream, suppress(EOFError):
        while True:
            done.put(read_value(stream))
    done.put(None)
