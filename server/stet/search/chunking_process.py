"""A second process that cuts files into passages and their words, for when there are many to read.

The process of the index then only reads and writes.
"""

import logging
import os
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from stet.search.chunk import IndexEntry, SourceFile
from stet.search.piped_process import PipedProcess, ProcessEnded, read_value, write_value
from stet.search.search_engine import make_entry

log = logging.getLogger(__name__)

_MODULE = "stet.search.chunking_process"


class ChunkingProcess:
    """The process, as its owner sees it; started with the first files it gets."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._process: PipedProcess | None = None
        self._has_died = False
        self._under_way: deque[Sequence[SourceFile]] = deque()

    @property
    def n_under_way(self) -> int:
        """Batches that have been sent and not received."""
        return len(self._under_way)

    @property
    def has_done(self) -> bool:
        """Whether the oldest of them can be received without waiting."""
        if self._process is None:
            return bool(self._under_way)
        return self._process.has_done

    def send(self, sources: Sequence[SourceFile]) -> None:
        """Send files to be cut in the process; `receive` returns them.

        If the process has died by itself, no other process is started until `close`: the batch that
        killed it may still be under way, and another process would answer batches in another order.
        """
        if not sources:
            return
        self._under_way.append(sources)
        if self._process is None and not self._has_died:
            self._process = PipedProcess(_MODULE)
        if self._process is not None:
            self._process.send(list(sources))

    def receive(self) -> list[IndexEntry]:
        """Wait for the oldest batch under way and return its entries. If the process has died, cut
        the batch here.
        """
        if not self._under_way:
            return []
        sources = self._under_way.popleft()
        try:
            if self._process is not None:
                entries: list[IndexEntry] = self._process.receive()
                return entries
        except ProcessEnded:
            log.warning("the process that cuts files has ended by itself")
            self._has_died = True
            self._end()
        return [make_entry(source) for source in sources]

    def close(self) -> None:
        """End the process; what is under way is lost."""
        self._under_way.clear()
        self._has_died = False
        self._end()

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._process = None


def main() -> None:
    """Cut the files from the input until its end."""
    stdin, stdout = os.fdopen(0, "rb"), os.fdopen(1, "wb")
    with suppress(EOFError, BrokenPipeError):
        while True:
            write_value(stdout, [make_entry(source) for source in read_value(stdin)])


if __name__ == "__main__":
    main()
