"""What walks have decided of each folder, so that the next one decides only of what has changed.

A decision holds as long as all it was made from is the same: the entry (its stat), the patterns in force
in its folder, and the grounds, which are the roots and the settings. Names are listed and stats asked
for by every walk; only what follows from them is kept. A document that is open is never remembered.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from stet.system.system import FileKind, FileStat
from stet.workspace.ignore_patterns import IgnorePatterns
from stet.workspace.paths import Located

MAX_ENTRIES = 20_000
"""Names remembered; a walk over more decides anew of the rest."""

PatternsInForce = tuple[IgnorePatterns | None, ...]
"""Of the ignore files from the root down to a folder."""


@dataclass(frozen=True, slots=True)
class EntryDecision:
    """What was decided of one entry.

    Attributes:
        stat: Of the entry then.
        key: Its canonical URI.
        file: The file that is shown; None for folders and for what is not shown.
        is_entered: Whether it is a folder that is walked.
        is_passing: Whether it may be otherwise a moment later, with the same stat.
    """

    stat: FileStat
    key: str
    file: Located | None = None
    is_entered: bool = False
    is_passing: bool = False

    def is_current(self, stat: FileStat) -> bool:
        """Whether it is still true; what lies in a folder changes nothing."""
        return self.stat == stat or (self.stat.kind is stat.kind is FileKind.FOLDER)


_FolderDecisions = tuple[PatternsInForce, Mapping[str, EntryDecision]]


class WalkMemory:
    """The decisions of the latest walks; one for a server, shared by its threads."""

    def __init__(self) -> None:
        self._basis: object = None
        self._folders: dict[object, _FolderDecisions] = {}
        self._n_entries = 0

    def use_basis(self, basis: object) -> None:
        """Forget all that was decided on other grounds."""
        if self._basis != basis:
            self._basis, self._folders, self._n_entries = basis, {}, 0

    def get(self, folder: object, patterns: PatternsInForce) -> Mapping[str, EntryDecision]:
        """Return the decisions in a folder under the given patterns, by name."""
        known = self._folders.get(folder)
        return known[1] if known is not None and known[0] == patterns else {}

    def save(
        self, folder: object, patterns: PatternsInForce, decided: Mapping[str, EntryDecision]
    ) -> None:
        """Keep what was decided in a folder in place of what was known of it."""
        before = self._folders.get(folder)
        n_more = len(decided) - (0 if before is None else len(before[1]))
        if self._n_entries + n_more <= MAX_ENTRIES:
            self._n_entries += n_more
            self._folders[folder] = (patterns, decided)
