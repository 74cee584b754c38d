r"""`.gitignore` and `.stetignore`: files outside the project, and files hidden from the model.

Both are read in every folder from the root down; `.git/info/exclude` counts as the root's weakest
`.gitignore`. As in git, the deeper file wins, later lines win over earlier ones, `!` negates, and
an ignored folder is final: nothing below it can be included again. The two kinds differ:

- `.stetignore` is *hard*: its files are never shown. It is checked first, and its `!` also includes
  files that a `.gitignore` excludes.
- `.gitignore` is *soft*: its files are not part of the project, so not listed, searched, read or
  attached; but the file in which the user asks is shown (`stet.workspace.privacy_filter`).

Patterns are matched exactly as git matches them (https://git-scm.com/docs/gitignore): a `/` inside
a pattern ties it to the folder of its file, a `/` at its end matches only folders, `!` negates, the
last pattern that matches decides. Each pattern is applied to one entry, never to entries below it:
a walk stops at an ignored folder.

Patterns come from untrusted repositories, so every match must be fast: a pattern is matched part
by part, `**` by the set of places that it can reach, and the stars inside a part keep their first
match (atomic groups), which is enough for globs.
"""

import logging
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from stet.system.system import FileKind, System


class InvalidIgnorePattern(ValueError):
    """A pattern that can match nothing."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of an ignore file.

    Attributes:
        parts: The expression for each part of a path; None for `**`, any number of parts.
        negated: Whether the line begins with `!`.
        directory_only: Whether the line ends with `/`.
    """

    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    directory_only: bool

    def matches(self, path: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether the entry at `path`, its parts from the pattern's folder down, matches."""
        if self.directory_only and not is_folder:
            return False
        places = {0}
        for index, part in enumerate(self.parts):
            if part is not None:
                places = {at + 1 for at in places if at < len(path) and part.match(path[at])}
            elif index == len(self.parts) - 1:
                return min(places) < len(path)  # `a/**` matches what is in a, not a
            else:
                places = set(range(min(places), len(path) + 1))
            if not places:
                return False
        return len(path) in places


@dataclass(frozen=True, slots=True)
class IgnorePatterns:
    """The patterns of one file, in its order."""

    patterns: tuple[IgnorePattern, ...]

    def match(self, path: tuple[str, ...], *, is_folder: bool) -> bool | None:
        """Return whether the entry at `path` is ignored; None if no pattern matches the entry."""
        for pattern in reversed(self.patterns):
            if pattern.matches(path, is_folder=is_folder):
                return not pattern.negated
        return None


def parse_patterns(lines: Iterable[str]) -> tuple[IgnorePatterns, tuple[str, ...]]:
    """Return the patterns in `lines`, and the lines that are no patterns (comments are in
    neither).
    """
    patterns: list[IgnorePattern] = []
    bad: list[str] = []
    for line in lines:
        text = re.sub(r"(?<!\\) +$", "", line)
        if text and not text.startswith("#"):
            try:
                patterns.append(_parse(text))
            except InvalidIgnorePattern:
                bad.append(line)
    return IgnorePatterns(tuple(patterns)), tuple(bad)


def _parse(text: str) -> IgnorePattern:
    """Return the pattern of one line.

    Raises:
        InvalidIgnorePattern: If the pattern can match nothing.
    """
    takes_back = text.startswith("!")
    text = text[takes_back:]
    only_folders = text.endswith("/")
    text = text.removesuffix("/")
    parts = [None if part == "**" else _glob(part) for part in text.removeprefix("/").split("/")]
    if "/" not in text:
        parts = [None, _glob(text)]
    return IgnorePattern(tuple(parts), takes_back, only_folders)


def _glob(part: str) -> re.Pattern[str]:
    """Return the regular expression for one part of a pattern.

    Raises:
        InvalidIgnorePattern: If the part can match nothing.
    """
    if not part:
        raise InvalidIgnorePattern(part)
    stretches = [""]
    for piece in _regex_pieces(part):
        if piece == "*":
            stretches.append("")
        else:
            stretches[-1] += piece
    first, *middle = stretches
    if not middle:
        return re.compile(rf"{first}\Z", re.DOTALL)
    last = middle.pop()
    found = "".join(f"(?>.*?{stretch})" for stretch in middle if stretch)
    return re.compile(rf"{first}{found}.*{last}\Z", re.DOTALL)


def _regex_pieces(part: str) -> Iterator[str]:
    """Yield `*` for each star, and the expression of one character for every other part."""
    at = 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            yield "*"
        elif character == "?":
            yield "."
        elif character == "[":
            expression, at = _bracket_regex(part, at)
            yield expression
        elif character == "\\":
            if at == len(part):
                raise InvalidIgnorePattern(part)
            yield re.escape(part[at])
            at += 1
        else:
            yield re.escape(character)


def _bracket_regex(part: str, at: int) -> tuple[str, int]:
    """Return the regular expression for `[...]` with content from `at` on, and the end of `[...]`.

    Raises:
        InvalidIgnorePattern: If the bracket is not closed, or contains no character.
    """
    found = re.compile(r"([!^]?)(\]?(?:\\.|[^\]\\])*)\]", re.DOTALL).match(part, at)
    if found is None:
        raise InvalidIgnorePattern(part)
    items = re.findall(r"(\\?.)(?:-(\\?.))?", found.group(2), re.DOTALL)
    ranges = [(low[-1], (high or low)[-1]) for low, high in items]
    inside = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in ranges if low <= high)
    if not inside:
        raise InvalidIgnorePattern(part)
    return f"[{'^' if found.group(1) else ''}{inside}]", found.end()


log = logging.getLogger(__name__)

GIT_IGNORE = ".gitignore"
STET_IGNORE = ".stetignore"
_EXCLUDE = (".git", "info", "exclude")
_IN_ROOT = ((STET_IGNORE,), (GIT_IGNORE,), _EXCLUDE)
MAX_IGNORE_BYTES = 256_000
"""The maximum number of bytes that are read from one ignore file."""


class IgnoreDecision(Enum):
    """The decision of the ignore files about a file."""

    SHOWN = "shown"
    IGNORED = "ignored"
    """Excluded by a `.gitignore`: soft."""
    DENIED = "denied"
    """Excluded by a `.stetignore`: hard."""


class IgnoreRules:
    """The ignore files of all roots, read on demand and again after a change."""

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
        """Return the decision on the entry at `parts` below `root`, if the folders above are
        shown.
        """
        by_stet = self._match(root, parts, STET_IGNORE, is_folder=is_folder)
        if by_stet is not None:
            return IgnoreDecision.DENIED if by_stet else IgnoreDecision.SHOWN
        by_git = self._match(root, parts, GIT_IGNORE, is_folder=is_folder)
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
        """Return length and time of each ignore file in the folders, None if a file is missing."""
        files = (root.joinpath(*name) for root in roots for name in _IN_ROOT)
        stats = map(self._system.stat, files)
        return tuple(stat and (stat.size, stat.mtime) for stat in stats)

    def last_modified(self) -> float:
        """Return when an ignore file that was read was last written, in seconds since the epoch."""
        return max((stamp[1] for stamp, _ in list(self._compiled.values())), default=0.0)

    def _match(
        self, root: Path, parts: tuple[str, ...], ignore_file: str, *, is_folder: bool
    ) -> bool | None:
        """Return the result of the deepest ignore file that decides; None if no ignore file
        does.
        """
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._patterns_at(root, (*parts[:depth], ignore_file))
            decision = None if spec is None else spec.match(parts[depth:], is_folder=is_folder)
            if decision is not None:
                return decision
        return None

    def _patterns_at(self, root: Path, parts: tuple[str, ...]) -> IgnorePatterns | None:
        """Return the patterns in the ignore file at `parts` below `root`; None if there is no
        file.
        """
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


@lru_cache(maxsize=4096)  # the same few files are queried with every file below them
def _path_of(root: Path, parts: tuple[str, ...]) -> Path:
    return root.joinpath(*parts)
