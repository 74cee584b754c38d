"""What the store has been given and has not written yet, and numbers it could not ask for."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stet.review.journal import AnchorSnapshot
from stet.review.proposal import Hunk
from stet.storage.chat_rows import ChatRow, TurnRow
from stet.workspace.uris import canonical

if TYPE_CHECKING:
    from stet.storage.hunk_rows import PackedText

SKIPPED = 10_000
"""Numbers left to servers that can still write, by one that can't."""


@dataclass(slots=True)
class WriteBatch:
    """What is to be written together, the latest of each.

    Attributes:
        hunks: By id.
        anchor_snapshots: By canonical URI.
        packed: The texts of some of them, packed ahead, by the same.
        numbers: By kind, the next one that is free.
        turns: By id.
        chats: By id.
        presets: Their fields by name; None for one that goes.
        attached: What is attached to questions; None where that has not changed.
        sent: What was sent to whom since, in order.
        decision: Whether it has to survive a power cut too.
        has_probe: Whether something is to be written even if nothing else is.
    """

    hunks: dict[str, Hunk] = field(default_factory=dict)
    anchor_snapshots: dict[str, AnchorSnapshot] = field(default_factory=dict)
    packed: "dict[str, PackedText]" = field(default_factory=dict)
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
        """Take in later states of hunks and files."""
        self.hunks.update((hunk.id, hunk) for hunk in hunks)
        for snapshot in snapshots:
            self.anchor_snapshots[canonical(snapshot.uri)] = snapshot
            self.packed.pop(canonical(snapshot.uri), None)
        self.decision |= decision

    def merge(self, later: "WriteBatch") -> None:
        """Take in the hunks and files of a batch that was given after this one."""
        self.add(later.hunks.values(), later.anchor_snapshots.values(), decision=later.decision)
        self.packed.update(later.packed)

    @property
    def has_promised_writes(self) -> bool:
        """Whether anything waits that callers take for written."""
        others = self.turns or self.chats or self.presets or self.sent or self.attached is not None
        return bool(self.hunks or others)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        others = self.anchor_snapshots or self.numbers or self.has_probe
        return not (self.has_promised_writes or others)


class NumberAllocator:
    """Counts on in memory while the database can't be asked."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._skipped: set[str] = set()

    def record_given(self, kind: str, following: int) -> None:
        """Record that the database has given numbers of `kind`; `following` comes after them."""
        self._next[kind] = following
        self._skipped.discard(kind)

    def allocate(self, kind: str, n: int, *, alone: bool) -> int:
        """Return the first of `n` numbers.

        Args:
            kind: Of what.
            n: How many.
            alone: Whether nobody else counts, so that none has to be left to them.
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
