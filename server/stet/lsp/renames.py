"""Files that get another name: their hunks go with them.

Some editors tell (`workspace/didRenameFiles`). With the others one document is closed and another
with the same text is opened, in either order, within a moment.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.workspace.uris import canonical, is_tracked, path_of, scheme_of
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

MOMENT_SECONDS = 2.0
"""Between the two halves of a rename."""
FRESH_SECONDS = 5.0
"""So old at most is a file that has just been saved under a new name."""
_KEPT = 16
"""Of what was closed lately, the most that is remembered."""

Spawn = Callable[[Coroutine[Any, Any, object], str], object]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A document that was opened or closed lately.

    Attributes:
        uri: As the editor spells it.
        text: What it held.
        at: When, in seconds that only go forward.
    """

    uri: str
    text: str
    at: float


class Renames:
    """Watches documents come and go. Touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        system: System,
        spawn: Spawn,
        carried: Callable[[str, str], None] = lambda _old, _new: None,
    ) -> None:
        """`spawn` starts work that looks at the disk; `carried` is told the old and the new name."""
        self._workspace = workspace
        self._ledger = ledger
        self._system = system
        self._spawn = spawn
        self._carried = carried
        self._closed: list[_Seen] = []
        self._opened: list[_Seen] = []

    def carry(self, uri: str, new_uri: str) -> None:
        """The file or folder `uri` is called `new_uri` now: the hunks go along.

        What is no name of a document that is followed is refused, in the log: there nobody could
        decide them any more.
        """
        if canonical(uri) == canonical(new_uri):
            return
        if not is_tracked(new_uri):
            log.warning("a rename is ignored: what it leads to is no name of a file")
            return
        self._carried(uri, new_uri)
        folder = canonical(uri).rstrip("/")
        for file in self._ledger.uris_below(folder):
            self._carry_hunks(file, f"{new_uri.rstrip('/')}{file.removeprefix(folder)}")
        self._carry_hunks(uri, new_uri)

    def _carry_hunks(self, uri: str, new_uri: str) -> None:
        self._ledger.renamed(uri, new_uri)
        buffer = self._workspace.buffer(new_uri)
        if buffer is not None:
            self._ledger.opened(new_uri, buffer.lines)
        else:
            # The old document may be open still, but it is not this file any more.
            self._ledger.closed(new_uri)

    def opened(self, uri: str, text: str) -> None:
        """A document was opened; before the ledger is told."""
        self._meet(self._closed, _Seen(uri, text, self._system.monotonic()), opened=True)

    def closed(self, uri: str, text: str) -> None:
        """A document with hunks was closed; after the ledger was told."""
        self._meet(self._opened, _Seen(uri, text, self._system.monotonic()), opened=False)

    def _meet(self, others: list[_Seen], seen: _Seen, *, opened: bool) -> None:
        """Look for the other half; keep this one for later if there is none."""
        for other in reversed(others):
            if seen.at - other.at <= MOMENT_SECONDS and other.text == seen.text and seen.text:
                pair = (other, seen) if opened else (seen, other)
                if canonical(other.uri) != canonical(seen.uri):
                    self._spawn(self._judge(pair[0].uri, pair[1].uri), "a rename")
                    return
        mine = self._opened if opened else self._closed
        mine.append(seen)
        del mine[:-_KEPT]

    async def _judge(self, old: str, new: str) -> None:
        """Two documents with one text: carry the hunks over if it is one file with another name."""
        if not self._ledger.is_tracked(old):
            return
        # What waits in the new one tells that it was a file of its own before.
        replaces = bool(self._ledger.live(new))
        if await asyncio.to_thread(self._is_rename, old, new, replaces=replaces):
            still_closed = self._workspace.document(old) is None
            if still_closed and self._workspace.document(new) is not None:
                self.carry(old, new)

    def _is_rename(self, old: str, new: str, *, replaces: bool) -> bool:
        """Whether the first is no more, or the second was only just made.

        Where that `replaces` another file, only the former tells: both may have been saved just now.
        """
        path, new_path = path_of(old), path_of(new)
        if path is None:
            return scheme_of(old) == "untitled"
        if self._system.stat(path) is None:
            return True
        if replaces:
            return False
        found = None if new_path is None else self._system.stat(new_path)
        return found is not None and self._system.now() - found.mtime <= FRESH_SECONDS
