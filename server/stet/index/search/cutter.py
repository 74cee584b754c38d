"""A second process that cuts files into passages and their words, for when there are many to read.

The process of the index then only reads and writes. What goes between the two are pickles: both are
ours, and nobody else can write into the pipe.
"""

import logging
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any

from stet.index.search.engine import entry_of
from stet.index.search.store import Entry, Source

log = logging.getLogger(__name__)

_MODULE = "stet.index.search.cutter"
_LENGTH = 8
"""Bytes that tell how many follow."""


class Cutter:
    """The process, as its owner sees it; started with the first files it gets.

    Threads send and take in what comes back, so that neither side waits for the other to read.
    """

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._under_way: deque[Sequence[Source]] = deque()
        self._to_do: queue.SimpleQueue[list[Source] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[list[Entry] | None] = queue.SimpleQueue()

    @property
    def n_under_way(self) -> int:
        """Batches that have been sent and not received."""
        return len(self._under_way)

    @property
    def has_done(self) -> bool:
        """Whether the oldest of them can be received without waiting."""
        return not self._done.empty()

    def send(self, sources: Sequence[Source]) -> None:
        """Have files cut, meanwhile; `receive` gives them."""
        if not sources:
            return
        self._under_way.append(sources)
        if self._process is None:
            self._start()
        self._to_do.put(list(sources))

    def receive(self) -> list[Entry]:
        """The oldest batch under way; waits for it. Cut here where the process has died."""
        if not self._under_way:
            return []
        sources = self._under_way.popleft()
        entries = self._done.get() if self._process is not None else None
        if entries is None:
            log.warning("the process that cuts files has ended by itself")
            self._end()
            return [entry_of(*source) for source in sources]
        return entries

    def close(self) -> None:
        """End the process; what is under way is lost."""
        self._under_way.clear()
        self._end()

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-I", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._to_do, self._done = queue.SimpleQueue(), queue.SimpleQueue()
        for target, stream, batches in (
            (_tell, self._process.stdin, self._to_do),
            (_hear, self._process.stdout, self._done),
        ):
            threading.Thread(target=target, args=(stream, batches), daemon=True).start()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._to_do.put(None)
            self._process = None


def _tell(stream: IO[bytes], to_do: "queue.SimpleQueue[list[Source] | None]") -> None:
    """Send batches until there are no more, or the process has ended, which `_hear` tells."""
    with suppress(BrokenPipeError), stream:
        while (batch := to_do.get()) is not None:
            _write(stream, batch)


def _hear(stream: IO[bytes], done: "queue.SimpleQueue[list[Entry] | None]") -> None:
    """Take in batches until the process ends."""
    with stream, suppress(EOFError):
        while True:
            done.put(_read(stream))
    done.put(None)


def _write(stream: IO[bytes], batch: object) -> None:
    data = pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big") + data)
    stream.flush()


def _read(stream: IO[bytes]) -> Any:
    """A batch; raises EOFError where there is none."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 (see the module)


def main() -> None:
    """Cut what comes, until nothing does."""
    stdin, stdout = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    with suppress(EOFError, BrokenPipeError):
        while True:
            _write(stdout, [entry_of(*source) for source in _read(stdin)])


if __name__ == "__main__":
    main()
