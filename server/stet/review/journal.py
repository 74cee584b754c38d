"""What the ledger asks of its memory beyond this process: a port, and one that forgets.

The real one is `stet.storage.state_store`.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stet.review.proposal import Hunk


@dataclass(frozen=True, slots=True)
class AnchorSnapshot:
    """The text of a file at one moment, and where its hunks stood in it.

    Attributes:
        uri: The file, as the editor spells it.
        text: All of it.
        lines: By hunk, the lines it stood on: first and behind the last, 0-based; live ones in order.
        lost: The hunks whose place was lost by then; `lines` says where they stood last.
    """

    uri: str
    text: str
    lines: Mapping[str, tuple[int, int]]
    lost: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RestoredState:
    """What a journal gives back after a restart.

    Attributes:
        hunks: Those this server is to look after, in the order they were made.
        anchor_snapshots: The last texts known of the files they are about, for hunks of lines; the latest
            first. Of one file there are several where several servers had hunks in it.
    """

    hunks: tuple[Hunk, ...] = ()
    anchor_snapshots: tuple[AnchorSnapshot, ...] = ()


class Journal(Protocol):
    """Keeps hunks. What a method has taken when it returns outlives the process.

    No method raises when the disk fails: the journal then says so once and goes on in memory.
    """

    def number(self, kind: str, n: int = 1) -> int:
        """Return the first of `n` consecutive numbers that are unused for `kind` in this workspace."""
        ...

    def keep(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        """Keep hunks as they are now, and where those of some files stand, all or nothing.

        Args:
            hunks: New or changed ones, of any file.
            snapshots: Of the files whose hunks are new or have moved.
            decision: Whether the user has decided: then it survives a power cut too.
        """
        ...


@dataclass(slots=True)
class NullJournal:
    """A journal that keeps nothing: for tests, and for the time before the real one is open."""

    _numbers: dict[str, Iterator[int]] = field(
        default_factory=lambda: defaultdict(lambda: itertools.count(1))
    )

    def number(self, kind: str, n: int = 1) -> int:
        """As the port has it, within this process."""
        first, *_ = [next(self._numbers[kind]) for _ in range(n)]
        return first

    def keep(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        """Nothing is kept."""
