"""Hunks that stand in very long texts, until these are packed: that takes longer than a keystroke may."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stet.review.journal import Footing
from stet.review.proposal import Hunk
from stet.review.store.batch import Batch
from stet.text.large_document import LARGE
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.review.store.rows import PackedText


class Late:
    """What is written a moment after it was given. Touched with the store's lock held, but for `pack`."""

    def __init__(self) -> None:
        """Nothing waits."""
        self._batch = Batch()

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return self._batch.is_empty

    def takes(
        self, hunks: Sequence[Hunk], footings: Sequence[Footing], *, decision: bool = False
    ) -> bool:
        """Take in hunks and the texts that they stand in, if one of the texts is very long."""
        if all(len(footing.text) < LARGE for footing in footings):
            return False
        self._batch.add(hunks, footings, decision=decision)
        return True

    def before(self, hunks: Sequence[Hunk], footings: Sequence[Footing], batch: Batch) -> None:
        """Let go of what is older than hunks and texts that are about to be given to `batch`."""
        for hunk in hunks:
            self._batch.hunks.pop(hunk.id, None)
        older = [self._batch.footings.pop(canonical(one.uri), None) for one in footings]
        if any(older):
            waiting, self._batch.hunks = self._batch.hunks, {}
            batch.add(waiting.values(), (), decision=self._batch.decision)

    def hand_over(self, batch: Batch) -> None:
        """Give all that waits to `batch`."""
        batch.take_over(self._batch)
        self._batch = Batch()

    def pack(self, lock: threading.RLock, batch: Callable[[], Batch]) -> None:
        """Pack the texts and hand everything over; in a worker thread, the lock free meanwhile.

        Args:
            lock: The store's, not held.
            batch: Gives what is written next.
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
                    self.hand_over(batch())
                    return


def _packed(footings: "dict[str, Footing]") -> "dict[str, PackedText]":
    from stet.review.store.rows import PackedText  # brings the database's side

    return {file: PackedText.of(footing.text) for file, footing in footings.items()}
