"""Hunks of files that change on the disk while they are not open, and of files that are renamed.

`DiskWatch` reads files with hunks after a branch switch or a write of another program. Editors that
watch files for a server report the change; with the others, the files are read when the user asks
for pending hunks.

`RenameTracker` follows `workspace/didRenameFiles`. With editors that don't send it, one document is
closed and another with the same text is opened, in either order, within a short time.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from stet.lsp.tasks import Start
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkKind, HunkState
from stet.system.system import System
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical, is_tracked, path_of, scheme_of
from stet.workspace.workspace import Workspace

MOMENT_SECONDS = 0.1
"""Events within this time are read once: a branch switch deletes files and creates them again."""
MANY = 20
"""Files that are read at a time, before other work has its turn."""


class DiskWatch:
    """Between the disk and the ledger. Touched on the event loop only."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, start: Start) -> None:
        """Create the watch. `start` begins a task."""
        self._workspace = workspace
        self._ledger = ledger
        self._start = start
        self._due: dict[str, None] = {}
        self._is_reading = False

    def changed(self, uris: Iterable[str]) -> None:
        """Record that these files were created, changed or deleted: maybe all of a workspace, nearly
        all of them without hunks. Files with hunks are read soon.
        """
        closed = {canonical(uri): uri for uri in self._ledger.closed_uris()}
        if not closed:
            return
        names = {unquote(key.rpartition("/")[2]) for key in closed}
        for uri in uris:
            # The whole comparison is dear, a look at the last name decides nearly always.
            name = uri.rpartition("/")[2]
            if ("%" in name or name in names) and (known := closed.get(canonical(uri))):
                self._due[known] = None
        self._read_soon()

    def check_all(self) -> None:
        """Read the files of hunks soon, because the user asks for pending hunks and the editor does
        not watch files.
        """
        self._due.update(dict.fromkeys(self._ledger.closed_uris()))
        self._read_soon()

    def _read_soon(self) -> None:
        if self._due and not self._is_reading:
            self._is_reading = True
            self._start(self._read_due(), "files changed on the disk")

    async def _read_due(self) -> None:
        try:
            while self._due:
                await asyncio.sleep(MOMENT_SECONDS)
                uris, self._due = tuple(self._due), {}
                for at in range(0, len(uris), MANY):
                    await self._read(uris[at : at + MANY])
        finally:
            self._is_reading = False

    async def _read(self, uris: Sequence[str]) -> None:
        snapshot = self._workspace.snapshot()
        for uri, text in (await asyncio.to_thread(_read_texts, snapshot, uris)).items():
            # If the file is getting another name just now, its hunks go there, they are not lost.
            sent = (hunk for hunk in self._ledger.live(uri) if hunk.state is HunkState.SENT)
            is_moving = any(hunk.kind is HunkKind.MOVE for hunk in sent)
            if self._workspace.document(uri) is None and not is_moving:
                self._ledger.on_disk(uri, text)


def _read_texts(snapshot: Snapshot, uris: Iterable[str]) -> dict[str, str]:
    """Return the texts of files, empty for a file that is gone. Files that may not be read are left
    out.
    """
    texts = {}
    for uri in uris:
        try:
            texts[uri] = snapshot.document_with_blocks(uri).text
        except NotShown as refused:
            if refused.rule == "missing":
                texts[uri] = ""
    return texts


log = logging.getLogger(__name__)

SETTLE_SECONDS = 2.0
"""Between the two halves of a rename."""
FRESH_SECONDS = 5.0
"""So old at most is a file that has just been saved under a new name."""
_MAX_RECENT = 16
"""The most recently closed or opened documents that are remembered."""


class _RecentDocument(NamedTuple):
    """A document that was opened or closed lately.

    Attributes:
        uri: As the editor spells it.
        text: What it held.
        at: When, in seconds that only go forward.
    """

    uri: str
    text: str
    at: float


_Recent = deque[_RecentDocument]


class RenameTracker:
    """Watches documents come and go. Touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        system: System,
        start: Start,
        renamed: Callable[[str, str], None] = lambda _old, _new: None,
    ) -> None:
        """`start` begins work that reads the disk; `renamed` is called with the old and the new URI."""
        self._workspace = workspace
        self._ledger = ledger
        self._system = system
        self._start = start
        self._renamed = renamed
        self._closed: _Recent = deque(maxlen=_MAX_RECENT)
        self._opened: _Recent = deque(maxlen=_MAX_RECENT)

    def rename(self, uri: str, new_uri: str) -> None:
        """Move the hunks after the file or folder `uri` was renamed to `new_uri`.

        A name that can't be a tracked document is refused, in the log: its hunks could never be
        decided.
        """
        if canonical(uri) == canonical(new_uri):
            return
        if not is_tracked(new_uri):
            log.warning("a rename is ignored: what it leads to is no name of a file")
            return
        self._renamed(uri, new_uri)
        folder = canonical(uri).rstrip("/")
        for file in self._ledger.uris_below(folder):
            self._rename_hunks(file, f"{new_uri.rstrip('/')}{file.removeprefix(folder)}")
        self._rename_hunks(uri, new_uri)

    def _rename_hunks(self, uri: str, new_uri: str) -> None:
        self._ledger.renamed(uri, new_uri)
        buffer = self._workspace.buffer(new_uri)
        if buffer is not None:
            self._ledger.opened(new_uri, buffer.lines)
        else:
            # The old document may be open still, but it is not this file any more.
            self._ledger.closed(new_uri)

    def opened(self, uri: str, text: str) -> None:
        """Handle the opening of a document, before the ledger is notified."""
        if (old := self._other_half(uri, text, self._closed, self._opened)) is not None:
            self._start(self._check_rename(old, uri), "a rename")

    def closed(self, uri: str, text: str) -> None:
        """Handle the closing of a document with hunks, after the ledger was notified."""
        if (new := self._other_half(uri, text, self._opened, self._closed)) is not None:
            self._start(self._check_rename(uri, new), "a rename")

    def _other_half(self, uri: str, text: str, others: _Recent, recent: _Recent) -> str | None:
        """Return the other document of a rename; keep this one for later if there is none."""
        now = self._system.monotonic()
        for other in reversed(others):
            is_same_text = text and now - other.at <= SETTLE_SECONDS and other.text == text
            if is_same_text and canonical(other.uri) != canonical(uri):
                return other.uri
        recent.append(_RecentDocument(uri, text, now))
        return None

    async def _check_rename(self, old: str, new: str) -> None:
        """Compare two documents with one text: carry the hunks over if it is one file with another name."""
        if not self._ledger.is_tracked(old):
            return
        # Pending hunks in the new file show that it was a separate file before.
        replaces = bool(self._ledger.live(new))
        if await asyncio.to_thread(self._is_rename, old, new, replaces=replaces):
            still_closed = self._workspace.document(old) is None
            if still_closed and self._workspace.document(new) is not None:
                self.rename(old, new)

    def _is_rename(self, old: str, new: str, *, replaces: bool) -> bool:
        """Return whether the first is no more, or the second was only just made.

        Where that `replaces` another file, only the former tells: both may have been saved just now.
        """
        path, new_path = path_of(old), path_of(new)
        if path is None:
            return scheme_of(old) == "untitled"
        if self._system.stat(path) is None:
            return True
        if replaces:
            return False
        stat = None if new_path is None else self._system.stat(new_path)
        return stat is not None and self._system.now() - stat.mtime <= FRESH_SECONDS
