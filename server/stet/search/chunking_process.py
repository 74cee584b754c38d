"""A second process that cuts files into passages and their words, for when there are many to read.

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
"""Bytes of address space; the largest batch, 48 files of a megabyte, takes 1.6 GB."""


class ChunkingProcess:
    """The process, as its owner sees it; started with the first files it gets."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._worker: WorkerProcess | None = None
        self._has_died = False
        self._under_way: deque[tuple[Sequence[SourceFile], Future[list[IndexEntry]]]] = deque()

    @property
    def n_under_way(self) -> int:
        """Batches that have been sent and not received."""
        return len(self._under_way)

    @property
    def has_done(self) -> bool:
        """Whether the oldest of them can be received without waiting."""
        return bool(self._under_way) and self._under_way[0][1].done()

    def send(self, sources: Sequence[SourceFile]) -> None:
        """Send files to be cut in the process; `receive` returns them.

        If the process has died by itself, no other process is started until `close`: the batch that
        killed it may still be under way.
        """
        if sources:
            if self._worker is None:
                function = f"{make_entries.__module__}:{make_entries.__name__}"
                self._worker = WorkerProcess(function, memory=_MEMORY)
            self._under_way.append((sources, self._worker.submit(sources)))

    def receive(self) -> list[IndexEntry]:
        """Wait for the oldest batch under way and return its entries. If the process has died, cut
        the batch here.
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
        """End the process; what is under way is lost."""
        self._under_way.clear()
        self._has_died = False
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
