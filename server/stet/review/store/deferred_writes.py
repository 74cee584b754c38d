"""Hunks in very long texts, held until a worker has compressed the texts.

Compressing a long text takes longer than a keystroke may.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stet.review.journal import AnchorSnapshot
from stet.review.proposal import Hunk
from stet.review.store.batch import Batch
from stet.text.large_document import LARGE
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.review.store.rows import PackedText


class DeferredWrites:
    """Hunks and texts that are written by the next `tend`. Call all but `pack` with the store's lock."""

    def __init__(self) -> None:
        """Nothing waits."""
        self._batch = Batch()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return self._batch.is_empty

    def add_if_long(
        self, hunks: Sequence[Hunk], footings: Sequence[AnchorSnapshot], *, decision: bool = False
    ) -> bool:
        """Add hunks and their texts if one of the texts is very long. Return whether they were added."""
        if all(len(footing.text) < LARGE for footing in footings):
            return False
        self._batch.add(hunks, footings, decision=decision)
        return True

    def supersede(
        self, hunks: Sequence[Hunk], footings: Sequence[AnchorSnapshot], batch: Batch
    ) -> None:
        """Drop older states of hunks and texts that are about to be added to `batch`."""
        for hunk in hunks:
            self._batch.hunks.pop(hunk.id, None)
        older = [self._batch.footings.pop(canonical(one.uri), None) for one in footings]
        if any(older):
            waiting, self._batch.hunks = self._batch.hunks, {}
            batch.add(waiting.values(), (), decision=self._batch.decision)

    def move_to(self, batch: Batch) -> None:
        """Move everything to `batch`."""
        batch.take_over(self._batch)
        self._batch = Batch()

    def pack(self, lock: threading.RLock, batch: Callable[[], Batch]) -> None:
        """Compress the texts and move everything to the batch. Call it in a worker thread.

        Args:
            lock: The lock of the store; held only before and after compressing.
            batch: Returns the batch that is written next.
        """
        while True:
            with lock:
                waiting = dict(self._batch.footings)
                if not waiting:
                    return
            packed = _packed(waiting)
            with lock:
                now = self._batch.footings
                if all(waiting.get(file) is one for file, one in now.items()):
                    self._batch.packed = {file: packed[file] for file in now}
                    self.move_to(batch())
                    return


def _packed(footings: "dict[str, AnchorSnapshot]") -> "dict[str, PackedText]":
    from stet.review.store.rows import PackedText  # brings the database's side

    return {file: PackedText.of(footing.text) for file, footing in footings.items()}
