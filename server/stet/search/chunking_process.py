"""A second process that cuts files into passages and words, if there are many files to read.

The process of the index then only reads and writes.
"""

import logging
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

from stet.search.chunk import IndexEntry, SourceFile
from stet.search.search_engine import make_entries
from stet.system.worker_process import WorkerEnded, WorkerProcess

log = logging.getLogger(__name__)

_MEMORY = 4_000_000_000
"""The limit of the address space in bytes; the largest batch, 48 files of 1 MB, takes 1.6 GB."""


class ChunkingProcess:
    """The owner of the process, which is started with the first batch of files."""

    def __init__(self) -> None:
        """Create the owner without a process."""
        self._worker: WorkerProcess | None = None
        self._has_died = False
        self._under_way: deque[tuple[Sequence[SourceFile], Future[list[IndexEntry]]]] = deque()

    @property
    def n_under_way(self) -> int:
        """The number of batches that have been sent and not received."""
        return len(self._under_way)

    @property
    def has_done(self) -> bool:
        """Whether the oldest batch can be received without waiting."""
        return bool(self._under_way) and self._under_way[0][1].done()

    def send(self, sources: Sequence[SourceFile]) -> None:
        """Send a batch of files to the process; `receive` returns the entries.

        If the process has crashed, no other process is started until `close`: the batch that caused
        the crash may not have been received yet.
        """
        if sources:
            if self._worker is None:
                function = f"{make_entries.__module__}:{make_entries.__name__}"
                self._worker = WorkerProcess(function, memory=_MEMORY)
            self._under_way.append((sources, self._worker.submit(sources)))

    def receive(self) -> list[IndexEntry]:
        """Wait for the oldest batch and return its entries.

        If the process has died, cut the batch in this process.
        """
        if not self._under_way:
            return []
        sources, entries = self._under_way.popleft()
        try:
            return entries.result()
        except WorkerEnded as error:
            if not self._has_died:
                log.warning("no process cuts files: %s", error)
            self._has_died = True
            return make_entries(sources)

    def close(self) -> None:
        """End the process; batches that were not received are lost."""
        self._under_way.clear()
        self._has_died = False
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
