"""What the user said yes to: the hunks, and the files that may go."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.fuzz.reference import words_of

MOST_ALLOWED = 200
"""Hunks; a yes to one further back has come about long ago."""
_REMOVAL = re.compile(r"\bDelete (.+?)\?")
Hunk = dict[str, Any]


class Allowed:
    """The user's yeses."""

    def __init__(self) -> None:
        self._may_go: set[str] = set()
        self._hunks: dict[tuple[str, str], Hunk] = {}
        self._renames: set[tuple[str, str]] = set()

    def take(self, hunks: list[Hunk], answer: Any) -> None:
        """The user said yes to those of these hunks that the answer names."""
        if isinstance(answer, dict):
            named = set(answer.get("hunks", ()))
            self.take_all([hunk for hunk in hunks if hunk["hunk"] in named])

    def take_all(self, hunks: list[Hunk]) -> None:
        """The user may have said yes to any of these, as by saving a page.

        Each is kept as it was then: one that waits for its turn may be another by the next yes.
        """
        for hunk in hunks:
            key = hunk["hunk"], hunk["hash"]
            self._hunks = {k: h for k, h in self._hunks.items() if k != key} | {key: hunk}
        while len(self._hunks) > MOST_ALLOWED:
            del self._hunks[next(iter(self._hunks))]

    def agree(self, *questions: str) -> None:
        """The user said yes to these; one whether a file may go is a yes to its removal."""
        self._may_go.update(asked[1] for asked in filter(None, map(_REMOVAL.search, questions)))

    def renamed(self, uri: str, new_uri: str) -> None:
        """The user has renamed a file: what they said yes to, and is not done yet, goes with it."""
        self._renames.add((uri, new_uri))

    def made_or_moved(self) -> set[str]:
        """The files that the user said may come or go, by the names they had then or got since."""
        whole = [h for h in self._hunks.values() if h["kind"] in ("create", "move", "remove")]
        named = {uri for hunk in whole for uri in (hunk["uri"], hunk["newUri"]) if uri}
        return named | {new for old, new in self._renames if old in named}

    def may_go(self, root: Path) -> set[Path]:
        """The files of this folder that the user said may be deleted."""
        return {root / name for name in self._may_go}

    def hunks(self) -> Collection[Hunk]:
        """Those that the user said yes to."""
        return self._hunks.values()

    def words(self) -> set[str]:
        """Those that may come or go."""
        return words_of(*(h[side] for h in self._hunks.values() for side in ("old", "new")))
