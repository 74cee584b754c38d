"""The user's approvals: hunks, and files that may be created, moved or deleted."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.fuzz.reference import words_of

MOST_ALLOWED = 200
"""The most hunks to remember; an older approval has long been applied."""
_REMOVAL = re.compile(r"\bDelete (.+?)\?")
Hunk = dict[str, Any]


class Allowed:
    """The user's approvals."""

    def __init__(self) -> None:
        self._may_go: set[str] = set()
        self._hunks: dict[tuple[str, str], Hunk] = {}
        self._renames: set[tuple[str, str]] = set()

    def take(self, hunks: list[Hunk], answer: Any) -> None:
        """Approve those of these hunks that the answer names."""
        if isinstance(answer, dict):
            named = set(answer.get("hunks", ()))
            self.take_all([hunk for hunk in hunks if hunk["hunk"] in named])

    def take_all(self, hunks: list[Hunk]) -> None:
        """Approve all of these hunks, any of which the user may have accepted by saving a page.

        Each is stored as it was then: a waiting hunk may have changed by the next approval.
        """
        for hunk in hunks:
            key = hunk["hunk"], hunk["hash"]
            self._hunks = {k: h for k, h in self._hunks.items() if k != key} | {key: hunk}
        while len(self._hunks) > MOST_ALLOWED:
            del self._hunks[next(iter(self._hunks))]

    def agree(self, *questions: str) -> None:
        """Approve these questions; a yes to deleting a file approves its removal."""
        self._may_go.update(asked[1] for asked in filter(None, map(_REMOVAL.search, questions)))

    def renamed(self, uri: str, new_uri: str) -> None:
        """Rename a file in the pending approvals, as the user has renamed it."""
        self._renames.add((uri, new_uri))

    def made_or_moved(self) -> set[str]:
        """Return the files that may be created or removed, by their old and new names."""
        whole = [h for h in self._hunks.values() if h["kind"] in ("create", "move", "remove")]
        named = {uri for hunk in whole for uri in (hunk["uri"], hunk["newUri"]) if uri}
        return named | {new for old, new in self._renames if old in named}

    def may_go(self, root: Path) -> set[Path]:
        """Return the files of this folder that may be deleted."""
        return {root / name for name in self._may_go}

    def hunks(self) -> Collection[Hunk]:
        """Return the approved hunks."""
        return self._hunks.values()

    def words(self) -> set[str]:
        """Return the words that may be added or removed."""
        return words_of(*(h[side] for h in self._hunks.values() for side in ("old", "new")))
