"""The port through which the ledger persists its state, and an implementation without storage.

The implementation with a database is `stet.storage.state_store`.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stet.review.proposal import Hunk


@dataclass(frozen=True, slots=True)
class AnchorSnapshot:
    """The text of a file at one moment, and the places of its hunks.

    Attributes:
        uri: The URI of the file in the editor's spelling.
        text: The whole text.
        lines: The lines of each hunk, 0-based: the first line and the line after the last; live
            hunks in order.
        lost: The hunks whose place is lost; `lines` contains their last known place.
    """

    uri: str
    text: str
    lines: Mapping[str, tuple[int, int]]
    lost: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RestoredState:
    """The state that a journal returns after a restart.

    Attributes:
        hunks: The hunks that belong to this server, in order of creation.
        anchor_snapshots: The last known texts of the files of line hunks; the latest first. A file
            has several if several servers had hunks in it.
    """

    hunks: tuple[Hunk, ...] = ()
    anchor_snapshots: tuple[AnchorSnapshot, ...] = ()


class Journal(Protocol):
    """Persists hunks. Data that a method has accepted when it returns outlives the process.

    No method raises when the disk fails: the journal then reports the failure once and continues in
    memory.
    """

    def number(self, kind: str, n: int = 1) -> int:
        """Return the first of `n` consecutive numbers, unused for `kind` in this workspace."""
        ...

    def persist(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        """Persist the current state of hunks, and the places of hunks in some files, atomically.

        Args:
            hunks: New or changed hunks, of any file.
            snapshots: The snapshots of files whose hunks are new or have moved.
            decision: Whether the user has decided: then the data survives a power failure too.
        """
        ...


@dataclass(slots=True)
class NullJournal:
    """A journal that stores nothing: for tests, and until the real journal is open."""

    _numbers: dict[str, Iterator[int]] = field(
        default_factory=lambda: defaultdict(lambda: itertools.count(1))
    )

    def number(self, kind: str, n: int = 1) -> int:
        """Return a number that is unique in this process."""
        first, *_ = [next(self._numbers[kind]) for _ in range(n)]
        return first

    def persist(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        """Discard the hunks."""
