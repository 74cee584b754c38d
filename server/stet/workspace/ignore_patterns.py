r"""Patterns in the language of a `.gitignore`, matched exactly as git matches them.

The language is https://git-scm.com/docs/gitignore: a `/` inside a pattern ties it to the folder of
its file, one at its end asks for a folder, `!` takes back, the last pattern that matches decides.
Each pattern is asked about one entry, never about what lies below it: whoever walks stops at an
ignored folder.

Patterns come from strangers' repositories, so a match must not take long whatever they are: a
pattern is matched part by part, `**` by the set of places it can reach, and the stars inside a part
each give up their first match never to try another (atomic groups), which is enough for globs.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


class InvalidIgnorePattern(ValueError):
    """A pattern that can match nothing."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of an ignore file.

    Attributes:
        parts: What each part of a path must match; None for `**`, any number of parts.
        negated: It began with `!`.
        directory_only: It ended with `/`.
    """

    parts: tuple[re.Pattern[str] | None, ...]
    negated: bool
    directory_only: bool

    def matches(self, path: tuple[str, ...], *, is_folder: bool) -> bool:
        """Whether the entry at `path`, its parts from the pattern's folder down, is meant."""
        if self.directory_only and not is_folder:
            return False
        places = {0}
        for index, part in enumerate(self.parts):
            if part is not None:
                places = {at + 1 for at in places if at < len(path) and part.match(path[at])}
            elif index == len(self.parts) - 1:
                return min(places) < len(path)  # `a/**` is what lies in a, not a
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
        """Whether the entry at `path` is named; None where no pattern says anything about it."""
        for pattern in reversed(self.patterns):
            if pattern.matches(path, is_folder=is_folder):
                return not pattern.negated
        return None


def parse_patterns(lines: Iterable[str]) -> tuple[IgnorePatterns, tuple[str, ...]]:
    """Return the patterns in `lines`, and the lines that are no patterns (comments are in neither)."""
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
    """One pattern.

    Raises:
        InvalidRegex: If it can match nothing.
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
        InvalidRegex: If it can match nothing.
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
    """`*` for a star, an expression of one character for everything else."""
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
        InvalidRegex: If it is not closed, or names no character.
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
