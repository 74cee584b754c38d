"""`.gitignore` and `.stetignore`: what the repository leaves out, and what it keeps from the model.

Both are read in every folder from the root down; `.git/info/exclude` counts as the root's weakest
`.gitignore`. As in git, the deeper file wins, later lines win over earlier ones, `!` takes back, and
an ignored folder is a wall: nothing below it can be taken back. The two kinds mean different things:

- `.stetignore` is *hard*: never shown, whatever the user does. It is asked first, and its `!` also
  brings back what a `.gitignore` leaves out.
- `.gitignore` is *soft*: not part of the project, so not listed, searched, read or attached; but
  the file the user is in when they ask is shown (`stet.workspace.privacy_filter`).

Patterns are those of git (`stet.workspace.ignore_patterns`).
"""

import logging
from collections.abc import Collection, Iterable
from enum import Enum
from functools import lru_cache
from pathlib import Path

from stet.system.system import FileKind, System
from stet.workspace.ignore_patterns import IgnorePatterns, parse_patterns

log = logging.getLogger(__name__)

GIT_IGNORE = ".gitignore"
STET_IGNORE = ".stetignore"
_EXCLUDE = (".git", "info", "exclude")
_IN_ROOT = ((STET_IGNORE,), (GIT_IGNORE,), _EXCLUDE)
MAX_IGNORE_BYTES = 256_000
"""What is read of one ignore file."""


class IgnoreDecision(Enum):
    """What the ignore files say of a file."""

    SHOWN = "shown"
    IGNORED = "ignored"
    """By a `.gitignore`: soft."""
    DENIED = "denied"
    """By a `.stetignore`: hard."""


class IgnoreRules:
    """The ignore files of all roots, read when asked for and again when they have changed."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._compiled: dict[Path, tuple[tuple[int, float], IgnorePatterns]] = {}
        self._pinned: dict[tuple[Path, tuple[str, ...]], IgnorePatterns | None] | None = None

    def pinned(self) -> "IgnoreRules":
        """Return a copy of the rules for one walk, which reads each ignore file once."""
        rules = IgnoreRules(self._system)
        rules._compiled = self._compiled
        rules._pinned = {}
        return rules

    def decide(self, root: Path, parts: tuple[str, ...], *, is_folder: bool) -> IgnoreDecision:
        """Return the decision on the entry at `parts` below `root`, if the folders above are shown."""
        by_stet = self._match(root, parts, is_folder, STET_IGNORE)
        if by_stet is not None:
            return IgnoreDecision.DENIED if by_stet else IgnoreDecision.SHOWN
        by_git = self._match(root, parts, is_folder, GIT_IGNORE)
        if by_git is None:
            exclude = self._patterns_at(root, _EXCLUDE)
            by_git = None if exclude is None else exclude.match(parts, is_folder=is_folder)
        return IgnoreDecision.IGNORED if by_git else IgnoreDecision.SHOWN

    def patterns_in(
        self, root: Path, parts: tuple[str, ...], names: Collection[str]
    ) -> tuple[IgnorePatterns | None, ...]:
        """Return the patterns that a folder with the entries `names` adds. The objects are
        identical as long as the ignore files are unchanged.
        """
        # Some disks find an ignore file in any case.
        spelled = {name.casefold() for name in names if name.startswith(".")}
        found = tuple(
            self._patterns_at(root, (*parts, name)) if name in spelled else None
            for name in (STET_IGNORE, GIT_IGNORE)
        )
        return found if parts else (*found, self._patterns_at(root, _EXCLUDE))

    def stamps(self, roots: Iterable[Path]) -> tuple[tuple[int, float] | None, ...]:
        """Length and time of the ignore files that lie in folders, None where there is none."""
        files = (root.joinpath(*name) for root in roots for name in _IN_ROOT)
        stats = map(self._system.stat, files)
        return tuple(stat and (stat.size, stat.mtime) for stat in stats)

    def last_modified(self) -> float:
        """When one of the ignore files that were read was last written, in seconds since the epoch."""
        return max((stamp[1] for stamp, _ in list(self._compiled.values())), default=0.0)

    def _match(
        self,
        root: Path,
        parts: tuple[str, ...],
        is_folder: bool,  # noqa: FBT001
        ignore_file: str,
    ) -> bool | None:
        """Return the result of the deepest ignore file that decides; None if no ignore file does."""
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._patterns_at(root, (*parts[:depth], ignore_file))
            said = None if spec is None else spec.match(parts[depth:], is_folder=is_folder)
            if said is not None:
                return said
        return None

    def _patterns_at(self, root: Path, parts: tuple[str, ...]) -> IgnorePatterns | None:
        """Return the patterns in the ignore file at `parts` below `root`; None if there is no file."""
        if self._pinned is None:
            return self._read(_path_of(root, parts))
        key = (root, parts)
        if key not in self._pinned:
            self._pinned[key] = self._read(_path_of(root, parts))
        return self._pinned[key]

    def _read(self, path: Path) -> IgnorePatterns | None:
        stat = self._system.stat(path)
        if stat is None or stat.kind is not FileKind.FILE:  # as git: a link is not followed
            return None
        stamp = (stat.size, stat.mtime)
        known = self._compiled.get(path)
        if known is None or known[0] != stamp:
            try:
                lines = self._system.read_bytes(path, MAX_IGNORE_BYTES)
            except OSError as error:
                log.warning("%s can't be read (%s): its patterns are not used", path, error)
                return None
            text = lines.decode("utf-8-sig", "surrogateescape")
            patterns, bad = parse_patterns(text.splitlines())
            if bad:
                log.warning("%s has %d lines that are no patterns", path, len(bad))
                log.debug("they are: %.200r", bad)
            known = (stamp, patterns)
            self._compiled[path] = known
        return known[1]


@lru_cache(maxsize=4096)  # the same few files are asked about with every file below them
def _path_of(root: Path, parts: tuple[str, ...]) -> Path:
    return root.joinpath(*parts)
