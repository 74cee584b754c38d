"""Hunks in very long texts, held until a worker has compressed the texts.

Compressing a long text takes longer than a keystroke may.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stet.review.journal import AnchorSnapshot
from stet.review.proposal import Hunk
from stet.review.store.write_batch import WriteBatch
from stet.text.large_document import LARGE
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.review.store.hunk_rows import PackedText


class DeferredWrites:
    """Hunks and texts that are written by the next `tend`. Call all but `pack` with the store's lock."""

    def __init__(self) -> None:
        """Nothing waits."""
        self._batch = WriteBatch()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return self._batch.is_empty

    def add_if_long(
        self, hunks: Sequence[Hunk], snapshots: Sequence[AnchorSnapshot], *, decision: bool = False
    ) -> bool:
        """Add hunks and their texts if one of the texts is very long. Return whether they were added."""
        if all(len(snapshot.text) < LARGE for snapshot in snapshots):
            return False
        self._batch.add(hunks, snapshots, decision=decision)
        return True

    def supersede(
        self, hunks: Sequence[Hunk], snapshots: Sequence[AnchorSnapshot], batch: WriteBatch
    ) -> None:
        """Drop older states of hunks and texts that are about to be added to `batch`."""
        for hunk in hunks:
            self._batch.hunks.pop(hunk.id, None)
        older = [
            self._batch.anchor_snapshots.pop(canonical(snapshot.uri), None)
            for snapshot in snapshots
        ]
        if any(older):
            waiting, self._batch.hunks = self._batch.hunks, {}
            batch.add(waiting.values(), (), decision=self._batch.decision)

    def move_to(self, batch: WriteBatch) -> None:
        """Move everything to `batch`."""
        batch.merge(self._batch)
        self._batch = WriteBatch()

    def pack(self, lock: threading.RLock, batch: Callable[[], WriteBatch]) -> None:
        """Compress the texts and move everything to the batch. Call it in a worker thread.

        Args:
            lock: The lock of the store; held only before and after compressing.
            batch: Returns the batch that is written next.
        """
        while True:
            with lock:
                waiting = dict(self._batch.anchor_snapshots)
                if not waiting:
                    return
            packed = _packed(waiting)
            with lock:
                now = self._batch.anchor_snapshots
                if all(waiting.get(file) is one for file, one in now.items()):
                    self._batch.packed = {file: packed[file] for file in now}
                    self.move_to(batch())
                    return


def _packed(snapshots: "dict[str, AnchorSnapshot]") -> "dict[str, PackedText]":
    from stet.review.store.hunk_rows import PackedText  # brings the database's side

    return {file: PackedText.make(snapshot.text) for file, snapshot in snapshots.items()}
