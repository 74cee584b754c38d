"""The persistent state of the simulated server."""

import itertools
from collections.abc import Sequence

from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.proposal import Hunk


class MemoryJournal:
    """A journal in memory, which outlives the ledger but not the process."""

    def __init__(self) -> None:
        self._numbers: dict[str, itertools.count[int]] = {}
        self.hunks: dict[str, Hunk] = {}
        self.positions: AnchorSnapshot | None = None

    def number(self, kind: str, n: int = 1) -> int:
        numbers = self._numbers.setdefault(kind, itertools.count(1))
        first, *_ = [next(numbers) for _ in range(n)]
        return first

    def persist(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        for hunk in hunks:
            self.hunks[hunk.id] = hunk
        for snapshot in snapshots:
            self.positions = snapshot

    def kept(self) -> RestoredState:
        return RestoredState(
            tuple(self.hunks.values()), (self.positions,) if self.positions else ()
        )
