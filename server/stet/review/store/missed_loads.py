"""What earlier runs have kept and could not be loaded, because the disk refused it at the start.

Until it has been loaded nothing may be written: what a chat knows now would replace what it knew then.
"""

import logging
from typing import TYPE_CHECKING

from stet.review.store.write_batch import WriteBatch
from stet.review.store.write_failures import fault_type

if TYPE_CHECKING:
    from stet.review.store.database import Database

log = logging.getLogger(__name__)


class MissedLoads:
    """Parts of the state that could not be loaded. Use it with the store's lock.

    Attributes:
        is_any: Whether something was missed and its owners have not merged it yet.
    """

    def __init__(self) -> None:
        """Nothing was missed."""
        self.is_any = False
        self._parts: set[str] = set()
        self._loaded: set[str] = set()

    def add(self, part: str) -> None:
        """Note that `part` could not be loaded."""
        self._parts.add(part)
        self._loaded.discard(part)
        self.is_any = True

    def discard(self, part: str) -> None:
        """Note that `part` has been loaded."""
        self._parts.discard(part)
        self._loaded.add(part)

    def is_known(self, part: str) -> bool:
        """Return whether `part` has been loaded while another one was missed."""
        return self.is_any and part in self._loaded

    def caught_up(self) -> bool:
        """Note that what was loaded has been merged. Return whether nothing is missed any more."""
        self.is_any = bool(self._parts)
        return not self.is_any

    def clear(self) -> None:
        """Note that nothing can be loaded any more."""
        self._parts.clear()
        self.is_any = False


def leave_earlier_chats(database: "Database", batch: WriteBatch, now: float) -> None:
    """Drop what chats of earlier runs know now from a batch, at the end of a run that missed them.

    Args:
        database: Has the chats of earlier runs.
        batch: What is to be written.
        now: Seconds since the epoch.
    """
    try:
        earlier = {row.id for row in database.load_chats(now).chats}
    except fault_type() as fault:
        log.warning("what chats know is not written: %s", fault)
        earlier = set(batch.chats)
    for chat in earlier & batch.chats.keys():
        del batch.chats[chat]
