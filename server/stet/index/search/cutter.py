"""A second process that cuts files into passages and their words, for when there are many to read.

The process of the index then only reads and writes. What goes between the two are pickles: both are
ours, and nobody else can write into the pipe.
"""

import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from stet.index.search.engine import entry_of
from stet.index.search.store import Entry, Source

log = logging.getLogger(__name__)

_MODULE = "stet.index.search.cutter"
_LENGTH = 8
"""Bytes that tell how many follow."""


class Cutter:
    """The process, as its owner sees it; started with the first files it gets.

    One batch is under way at a time, and is received before the next is sent: so neither side ever
    waits for the other to read.
    """

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: Sequence[Source] = ()

    @property
    def is_busy(self) -> bool:
        """Whether a batch is under way."""
        return bool(self._sent)

    def send(self, sources: Sequence[Source]) -> None:
        """Have files cut, meanwhile; `receive` gives them."""
        assert not self._sent, "the batch before has not been received"
        if not sources:
            return
        self._sent = sources
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-I", "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._process.stdin is not None, "it is piped"
        with suppress(BrokenPipeError):  # seen when the answer does not come
            _write(self._process.stdin, list(sources))

    def receive(self) -> list[Entry]:
        """The batch under way; waits for it. Cut here where the process has died."""
        sources, self._sent = self._sent, ()
        if not sources:
            return []
        assert self._process is not None, "it was started to send"
        assert self._process.stdout is not None, "it is piped"
        try:
            entries: list[Entry] = _read(self._process.stdout)
        except EOFError:
            log.warning("the process that cuts files has ended by itself")
            self.close()
            return [entry_of(*source) for source in sources]
        return entries

    def close(self) -> None:
        """End the process; what is under way is lost."""
        self._sent = ()
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _write(stream: IO[bytes], batch: object) -> None:
    data = pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "big") + data)
    stream.flush()


def _read(stream: IO[bytes]) -> list:  # type: ignore[type-arg] # of either side's kind
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        raise EOFError
    data = stream.read(int.from_bytes(head, "big"))
    return pickle.loads(data)  # type: ignore[no-any-return] # noqa: S301 (see the module)


def main() -> None:
    """Cut what comes, until nothing does."""
    stdin, stdout = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    with suppress(EOFError, BrokenPipeError):
        while True:
            _write(stdout, [entry_of(*source) for source in _read(stdin)])


if __name__ == "__main__":
    main()
