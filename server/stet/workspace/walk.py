"""All the files of the workspace that may be shown, in a fixed order.

A walk is sorted by name, depth first; it never follows a link or enters an excluded folder, and it
stops after `MAX_ENTRIES` names, which is logged. `run_in_slices` runs such long work in slices, so
that it can be cancelled soon.

`WalkMemory` keeps the decisions of walks for each folder, so that the next walk decides only about
changes. A decision is valid as long as all its inputs are the same: the entry (its stat), the
patterns in force in its folder, and the roots and the settings. Every walk lists names and reads
stats; only the decisions are kept. An open document is never remembered.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

from stet.system.system import FileKind, FileStat, System
from stet.workspace.disk_text import MAX_FILE_BYTES, SNIFFED_BYTES, has_binary_ending, is_binary
from stet.workspace.ignore_rules import GIT_IGNORE, STET_IGNORE, IgnorePatterns
from stet.workspace.names import has_odd_characters
from stet.workspace.paths import Located, Locator, Root
from stet.workspace.privacy_filter import PrivacyFilter
from stet.workspace.uris import canonical, path_of, uri_of

MAX_REMEMBERED = 20_000
"""The maximum number of remembered entries; a walk decides about the others again."""

PatternsInForce = tuple[IgnorePatterns | None, ...]
"""The patterns of the ignore files from the root down to a folder."""


@dataclass(frozen=True, slots=True)
class EntryDecision:
    """The decision about one entry.

    Attributes:
        stat: The stat of the entry at the time of the decision.
        key: The canonical URI of the entry.
        file: The file that is shown; None for folders and for entries that are not shown.
        is_entered: Whether the entry is a folder that is walked.
        is_passing: Whether the decision may change a moment later, with the same stat.
    """

    stat: FileStat
    key: str
    file: Located | None = None
    is_entered: bool = False
    is_passing: bool = False

    def is_current(self, stat: FileStat) -> bool:
        """Return whether the decision is still valid; a change inside a folder does not matter."""
        return self.stat == stat or (self.stat.kind is stat.kind is FileKind.FOLDER)


_FolderDecisions = tuple[PatternsInForce, Mapping[str, EntryDecision]]


class WalkMemory:
    """The decisions of the latest walks; one object for a server, shared by its threads."""

    def __init__(self) -> None:
        self._basis: object = None
        self._folders: dict[object, _FolderDecisions] = {}
        self._n_entries = 0

    def use_basis(self, basis: object) -> None:
        """Discard all decisions that were made on another basis."""
        if self._basis != basis:
            self._basis, self._folders, self._n_entries = basis, {}, 0

    def get(self, folder: object, patterns: PatternsInForce) -> Mapping[str, EntryDecision]:
        """Return the decisions in a folder under the given patterns, by name."""
        known = self._folders.get(folder)
        return known[1] if known is not None and known[0] == patterns else {}

    def save(
        self, folder: object, patterns: PatternsInForce, decided: Mapping[str, EntryDecision]
    ) -> None:
        """Save the decisions in a folder instead of the earlier ones."""
        before = self._folders.get(folder)
        n_more = len(decided) - (0 if before is None else len(before[1]))
        if self._n_entries + n_more <= MAX_REMEMBERED:
            self._n_entries += n_more
            self._folders[folder] = (patterns, decided)


log = logging.getLogger(__name__)

MAX_ENTRIES = 100_000
"""The maximum number of entries in one walk."""
MAX_DEPTH = 64
"""The maximum depth of nested folders."""


@dataclass(slots=True)
class WorkspaceWalk:
    """A walk over the files that `privacy` allows; with `only_text`, only those with text.

    Decisions of an earlier walk are taken from `memory`.
    """

    system: System
    locator: Locator
    privacy: PrivacyFilter
    only_text: bool = True
    memory: WalkMemory | None = None
    n_entries: int = 0
    found: set[str] = field(default_factory=set)
    """The canonical URIs of the open documents that the walk has found."""
    _bases: dict[Path, Path] = field(init=False)
    """The real path of each root; links below a root are not followed."""

    def __post_init__(self) -> None:
        settings = self.privacy.settings
        self._bases = {root.path: self.system.real_path(root.path) for root in self.privacy.roots}
        if self.memory is not None:
            bases = list(self._bases.values())
            excluded = settings.context.excluded_folders
            self.memory.use_basis((self.privacy.roots, bases, settings.privacy, excluded))

    def files(self, top: Path | None) -> Iterator[Located]:
        """Yield the files below `top`, or below all roots.

        Open documents count with their open text, whatever is on disk; documents that are not on
        disk, or outside the roots, come last (untitled ones only in a walk of all roots).
        """
        top = None if top is None else self._without_links(top)
        for root in sorted(self.privacy.roots, key=lambda root: root.name):
            start = root.path if top is None or top in root.path.parents else top
            if self._is_walked(root, start):
                parts = start.relative_to(root.path).parts
                yield from self._below(root, start, parts, self._patterns_above(root, parts))
        yield from self._only_open(
            lambda path: top is None or (path is not None and top in path.parents)
        )

    def files_in(self, folder: Path) -> Iterator[Located]:
        """Yield the files directly in `folder`."""
        folder = self._without_links(folder)
        root = self._innermost(folder)
        if root is None or not self._is_walked(root, folder):
            return
        parts = folder.relative_to(root.path).parts
        decided = self._decided(root, folder, parts, self._patterns_above(root, parts))[1]
        found = [each.file for each in decided.values() if each.file is not None]
        found += self._only_open(lambda path: path is not None and path.parent == folder)
        yield from sorted(found, key=lambda located: located.name)

    def _real(self, root: Root, path: Path) -> Path:
        """Return the real path of a path below a root, if no folder between has become a link."""
        return self._bases[root.path] / path.relative_to(root.path)

    def _is_walked(self, root: Root, start: Path) -> bool:
        """Return whether a walk of `root` may begin at `start`."""
        return self._innermost(start) == root and self.privacy.check_folder(start) is None

    def _without_links(self, top: Path) -> Path:
        """Return `top` as a path without links below its root, as the rules expect."""
        real = self.system.real_path(top)
        for root in self.privacy.roots:
            base = self.system.real_path(root.path)
            if base == real or base in real.parents:
                return root.path / real.relative_to(base)
        return top

    def _innermost(self, path: Path) -> Root | None:
        """Return the root nearest above `path`, so that each file is walked once."""
        holders = [r for r in self.privacy.roots if r.path == path or r.path in path.parents]
        return max(holders, key=lambda root: len(root.path.parts), default=None)

    def _below(
        self, root: Root, folder: Path, parts: tuple[str, ...], above: PatternsInForce
    ) -> Iterator[Located]:
        """Yield the files in and below a folder, in order of name."""
        patterns, decided = self._decided(root, folder, parts, above)
        for name, each in decided.items():
            if each.file is not None:
                yield each.file
            elif each.is_entered and len(parts) < MAX_DEPTH:
                yield from self._below(root, folder / name, (*parts, name), patterns)

    def _patterns_above(self, root: Root, parts: tuple[str, ...]) -> PatternsInForce:
        """Return the patterns in force in the folder above the folder at `parts`."""
        rules, ignore_files = self.privacy.rules, (GIT_IGNORE, STET_IGNORE)
        folders = (parts[:depth] for depth in range(len(parts)))
        return tuple(
            each for above in folders for each in rules.patterns_in(root.path, above, ignore_files)
        )

    def _decided(
        self, root: Root, folder: Path, parts: tuple[str, ...], above: PatternsInForce
    ) -> tuple[PatternsInForce, dict[str, EntryDecision]]:
        """Return the patterns in force in a folder and the decision on each name, in order."""
        listed = self._listed(root, folder)
        names = [name for name, _ in listed]
        patterns = (*above, *self.privacy.rules.patterns_in(root.path, parts, names))
        place = (root.path, parts, self.only_text)
        known = {} if self.memory is None else self.memory.get(place, patterns)
        opened = self.locator.documents
        decided: dict[str, EntryDecision] = {}
        passing: set[str] = set()
        for name, stat in listed:
            each = known.get(name)
            if each is None or each.key in opened or not each.is_current(stat):
                each = self._decide(root, parts, folder / name, stat)
                if each.key in opened:
                    self.found.add(each.key)
                    passing.add(name)
                elif each.is_passing:
                    passing.add(name)
            decided[name] = each
        if self.memory is not None:
            entries = {name: decided[name] for name in names if name not in passing}
            self.memory.save(place, patterns, entries if passing else decided)
        return patterns, decided

    def _listed(self, root: Root, folder: Path) -> list[tuple[str, FileStat]]:
        """Return the names in a folder, until the whole walk has too many names."""
        n_left = MAX_ENTRIES - 1 - self.n_entries
        listed = list(islice(self.system.list_real(self._real(root, folder)), n_left + 1))
        if len(listed) > n_left >= 0:
            log.warning("%s: more than %d names, the rest is left out", root.path, MAX_ENTRIES)
        self.n_entries += len(listed)
        return listed[: max(0, n_left)]

    def _decide(
        self, root: Root, parts: tuple[str, ...], path: Path, stat: FileStat
    ) -> EntryDecision:
        """Return the decision on an entry."""
        key = canonical(uri_of(path))
        is_folder = stat.kind is FileKind.FOLDER
        if not (is_folder or stat.kind is FileKind.FILE):
            return EntryDecision(stat, key)
        if has_odd_characters(path.name):
            _log_limit(path.parent)
            return EntryDecision(stat, key)
        privacy, below = self.privacy, (*parts, path.name)
        is_asked = key in privacy.open_keys and key in privacy.asked_keys
        if privacy.check_level(root, below, is_folder=is_folder, is_asked=is_asked) is not None:
            return EntryDecision(stat, key)
        if is_folder:
            return EntryDecision(stat, key, is_entered=self._innermost(path) == root)
        return self._file(root, path, stat, key)

    def _file(self, root: Root, path: Path, stat: FileStat, key: str) -> EntryDecision:
        """Return the decision on a file that may be shown. A file without text is left out if only
        text is asked for.
        """
        document = self.locator.documents.get(key)
        if document is None and self.only_text:
            is_text = self._is_text(self._real(root, path), stat)
            if not is_text:
                return EntryDecision(stat, key, is_passing=is_text is None)
        uri = uri_of(path) if document is None else document.uri
        return EntryDecision(stat, key, Located(uri, path, self.locator.name_of_path(path), stat))

    def _is_text(self, path: Path, stat: FileStat) -> bool | None:
        """Return whether a file contains text; None if the file can't be read now."""
        if stat.size > MAX_FILE_BYTES or has_binary_ending(path.name):
            return False
        try:
            return not is_binary(self.system.read_real(path, SNIFFED_BYTES))
        except OSError:
            return None  # removed or not readable: nothing to show

    def _only_open(self, is_wanted: Callable[[Path | None], bool]) -> list[Located]:
        """Return the open documents that were not found on the disk, sorted by name."""
        opened = self.locator.documents.items()
        uris = [document.uri for key, document in opened if key not in self.found]
        found = [
            Located(uri, path_of(uri), self.locator.name_of(uri))
            for uri in uris
            if is_wanted(path_of(uri)) and self.privacy.check(uri) is None
        ]
        return sorted(found, key=lambda located: located.name)


@lru_cache(maxsize=1000)  # log each folder once, not in every walk
def _log_limit(folder: Path) -> None:
    log.warning(
        "%a: names with invalid bytes or invisible characters are skipped",
        str(folder),
    )


SLICE_SECONDS = 0.05
"""The duration of one slice, in seconds."""

_T = TypeVar("_T")


async def run_in_slices(work: Iterator[_T], system: System) -> list[_T]:
    """Return all items of `work`, which runs in worker threads, one slice after the other.

    `work` must yield often: it can only be stopped when it yields.
    """

    def slice_() -> tuple[list[_T], bool]:
        found: list[_T] = []
        until = system.monotonic() + SLICE_SECONDS
        for each in work:
            found.append(each)
            if system.monotonic() >= until:
                return found, True
        return found, False

    every: list[_T] = []
    goes_on = True
    while goes_on:
        some, goes_on = await asyncio.to_thread(slice_)
        every += some
    return every
