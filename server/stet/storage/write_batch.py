"""Rows that the store has not written yet, and numbers that are given without the database.

The import is cheap: the store is created before SQLite is imported. The `fields` of chats and turns
are read by the owners of the rows (`stet.agent.session`), not by the store.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stet.review.journal import AnchorSnapshot
from stet.review.proposal import Hunk
from stet.text.large_document import LARGE
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.storage.hunk_rows import StoredText

MAX_TURNS = 1000
"""The maximum number of turns, on disk and in memory."""
SKIPPED = 10_000
"""The count of numbers that a server which can't write leaves to servers that can."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """The row of a turn.

    Attributes:
        id: The turn's id, unique in the workspace.
        chat: The id of the conversation.
        fields: The whole turn, as one JSON object.
    """

    id: str
    chat: str
    fields: str


@dataclass(frozen=True, slots=True)
class ChatRow:
    """The fields of a conversation besides its turns.

    Attributes:
        id: The id of the conversation.
        fields: The fields, as one JSON object.
        texts: The texts of files, by URI; each text is stored once for all chats.
    """

    id: str
    fields: str
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatRows:
    """The turns and chats after a restart.

    Attributes:
        turns: The turns, in the order of their creation.
        chats: One chat for each id, the one written last.
    """

    turns: tuple[TurnRow, ...] = ()
    chats: tuple[ChatRow, ...] = ()


@dataclass(slots=True)
class WriteBatch:
    """Rows to be written together, the latest state of each.

    Attributes:
        hunks: The hunks, by id.
        anchor_snapshots: The anchor snapshots, by canonical URI.
        packed: The compressed texts of some snapshots, by canonical URI.
        numbers: The next free numbers, by kind.
        turns: The turns, by id.
        chats: The chats, by id.
        presets: The presets' fields, by name; None for a dropped preset.
        attached: The attachments of questions; None if they have not changed.
        sent: The notes of sent requests, in order.
        decision: Whether the batch has to survive a power cut too.
        has_probe: Whether the batch has a test write, even if it has no rows.
    """

    hunks: dict[str, Hunk] = field(default_factory=dict)
    anchor_snapshots: dict[str, AnchorSnapshot] = field(default_factory=dict)
    packed: "dict[str, StoredText]" = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    turns: dict[str, TurnRow] = field(default_factory=dict)
    chats: dict[str, ChatRow] = field(default_factory=dict)
    presets: dict[str, str | None] = field(default_factory=dict)
    attached: str | None = None
    sent: list[str] = field(default_factory=list)
    decision: bool = False
    has_probe: bool = False

    def add(
        self, hunks: Iterable[Hunk], snapshots: Iterable[AnchorSnapshot], *, decision: bool
    ) -> None:
        """Add later states of hunks and files."""
        self.hunks.update((hunk.id, hunk) for hunk in hunks)
        for snapshot in snapshots:
            self.anchor_snapshots[canonical(snapshot.uri)] = snapshot
            self.packed.pop(canonical(snapshot.uri), None)
        self.decision |= decision

    @property
    def has_promised_writes(self) -> bool:
        """Whether the batch has rows that callers regard as written."""
        others = self.turns or self.chats or self.presets or self.sent or self.attached is not None
        return bool(self.hunks or others)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        others = self.anchor_snapshots or self.numbers or self.has_probe
        return not (self.has_promised_writes or others)


class NumberAllocator:
    """A counter in memory for the time when the database can't give numbers."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._skipped: set[str] = set()

    def record_allocated(self, kind: str, following: int) -> None:
        """Record that the database has given numbers of `kind`; the next number is `following`."""
        self._next[kind] = following
        self._skipped.discard(kind)

    def allocate(self, kind: str, n: int, *, alone: bool) -> int:
        """Return the first of `n` numbers.

        Args:
            kind: The kind of the numbers.
            n: The count of numbers.
            alone: Whether no other server gives numbers, so that none are left to others.
        """
        first = self._next.get(kind, 1)
        if not alone and kind not in self._skipped:
            self._skipped.add(kind)
            first += SKIPPED
        self._next[kind] = first + n
        return first

    def allocate_from(self, kind: str, n: int, start: int) -> int:
        """Return the first of `n` numbers; the very first number of `kind` is `start`."""
        first = self._next.get(kind, start)
        self._next[kind] = first + n
        return first


class DeferredWrites:
    """Hunks and very long texts that are written by the next `flush`.

    They wait until a worker has compressed the texts. Call all methods but `pack` with the store's
    lock.
    """

    def __init__(self) -> None:
        """Start without rows."""
        self._batch = WriteBatch()

    @property
    def is_empty(self) -> bool:
        """Whether no rows wait."""
        return self._batch.is_empty

    def add_if_long(
        self, hunks: Sequence[Hunk], snapshots: Sequence[AnchorSnapshot], *, decision: bool = False
    ) -> bool:
        """Add hunks and their texts if one of the texts is very long. Return whether they were
        added.
        """
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
        uris = [canonical(snapshot.uri) for snapshot in snapshots]
        older = [self._batch.anchor_snapshots.pop(uri, None) for uri in uris]
        if any(older):
            waiting, self._batch.hunks = self._batch.hunks, {}
            batch.add(waiting.values(), (), decision=self._batch.decision)

    def move_to(self, batch: WriteBatch) -> None:
        """Move everything to `batch`."""
        moved, self._batch = self._batch, WriteBatch()
        batch.add(moved.hunks.values(), moved.anchor_snapshots.values(), decision=moved.decision)
        batch.packed.update(moved.packed)

    def pack(self, lock: threading.RLock, batch: Callable[[], WriteBatch]) -> None:
        """Compress the texts and move everything to the batch. Call it in a worker thread.

        Args:
            lock: The lock of the store; held only before and after compressing.
            batch: A function that returns the batch that is written next.
        """
        while True:
            with lock:
                waiting = dict(self._batch.anchor_snapshots)
                if not waiting:
                    return
            from stet.storage.hunk_rows import StoredText  # imports the database side

            packed = {file: StoredText.make(one.text).pack_ahead() for file, one in waiting.items()}
            with lock:
                now = self._batch.anchor_snapshots
                if all(waiting.get(file) is one for file, one in now.items()):
                    self._batch.packed = {file: packed[file] for file in now}
                    self.move_to(batch())
                    return
