"""Hunks of files that change on the disk while they are not open, and of files that are renamed.

`DiskWatch` reads files with hunks after a branch switch or a write of another program. Some editors
watch files and report the change; with other editors, the files are read when the user requests
pending hunks.

`RenameTracker` handles `workspace/didRenameFiles`. Editors that don't send it close one document
and open another with the same text, in either order, within a short time.
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
"""The time for which events are collected: a branch switch deletes files and creates them again."""
MANY = 20
"""The number of files that are read at a time, before other work continues."""


class DiskWatch:
    """The watch that reports files on the disk to the ledger; used on the event loop only."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, start: Start) -> None:
        """Create the watch; `start` starts a task."""
        self._workspace = workspace
        self._ledger = ledger
        self._start = start
        self._due: dict[str, None] = {}
        self._is_reading = False

    def changed(self, uris: Iterable[str]) -> None:
        """Schedule a read of those files with hunks among files that were created, changed or
        deleted.

        There may be very many files, nearly all of them without hunks.
        """
        closed = {canonical(uri): uri for uri in self._ledger.closed_uris()}
        if not closed:
            return
        names = {unquote(key.rpartition("/")[2]) for key in closed}
        for uri in uris:
            # Comparing canonical URIs is slow; the file name alone decides nearly always.
            name = uri.rpartition("/")[2]
            if ("%" in name or name in names) and (known := closed.get(canonical(uri))):
                self._due[known] = None
        self._read_soon()

    def check_all(self) -> None:
        """Schedule a read of all closed files with hunks: the editor does not watch files."""
        self._due.update(dict.fromkeys(self._ledger.closed_uris()))
        self._read_soon()

    def _read_soon(self) -> None:
        if self._due and not self._is_reading:
            self._is_reading = True
            self._start(self._read_due(), "files changed on disk")

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
            # If the file is being moved, its hunks move with it and are not lost.
            sent = (hunk for hunk in self._ledger.live(uri) if hunk.state is HunkState.SENT)
            is_moving = any(hunk.kind is HunkKind.MOVE for hunk in sent)
            if self._workspace.document(uri) is None and not is_moving:
                self._ledger.on_disk(uri, text)


def _read_texts(snapshot: Snapshot, uris: Iterable[str]) -> dict[str, str]:
    """Return the texts of files by URI, empty for a missing file. Files that may not be read are
    left out.
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
"""The most time between the closing and the opening of a renamed document."""
FRESH_SECONDS = 5.0
"""The greatest age of a file that has just been saved under a new name."""
_MAX_RECENT = 16
"""The number of recently closed, and of recently opened, documents that are stored."""


class _RecentDocument(NamedTuple):
    """A document that was opened or closed recently.

    Attributes:
        uri: The URI in the editor's spelling.
        text: The text at that time.
        at: The time, in seconds of the monotonic clock.
    """

    uri: str
    text: str
    at: float


_Recent = deque[_RecentDocument]


class RenameTracker:
    """The detection of renames by closed and opened documents; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        system: System,
        start: Start,
        renamed: Callable[[str, str], None] = lambda _old, _new: None,
    ) -> None:
        """Create the tracker; `renamed` is called with the old and the new URI of a renamed
        file.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._system = system
        self._start = start
        self._renamed = renamed
        self._closed: _Recent = deque(maxlen=_MAX_RECENT)
        self._opened: _Recent = deque(maxlen=_MAX_RECENT)

    def rename(self, uri: str, new_uri: str) -> None:
        """Move the hunks after the file or folder `uri` was renamed to `new_uri`.

        If `new_uri` can't be a tracked document, nothing is moved and a warning is logged: its
        hunks could never be decided.
        """
        if canonical(uri) == canonical(new_uri):
            return
        if not is_tracked(new_uri):
            log.warning("a rename is ignored: its new URI is not a file")
            return
        self._renamed(uri, new_uri)
        folder = canonical(uri).rstrip("/")
        for file in self._ledger.uris_below(folder):
            new_file = f"{new_uri.rstrip('/')}{file.removeprefix(folder)}"
            self._rename_hunks(file, new_file, with_folder=True)
        self._rename_hunks(uri, new_uri)

    def _rename_hunks(self, uri: str, new_uri: str, *, with_folder: bool = False) -> None:
        self._ledger.renamed(uri, new_uri, with_folder=with_folder)
        buffer = self._workspace.buffer(new_uri)
        if buffer is not None:
            self._ledger.opened(new_uri, buffer.lines)
        else:
            # The old document may still be open, but it is no longer this file.
            self._ledger.closed(new_uri)

    def opened(self, uri: str, text: str) -> None:
        """Check whether an opened document was renamed; called before the ledger is notified."""
        if (old := self._other_half(uri, text, self._closed, self._opened)) is not None:
            self._start(self._check_rename(old, uri), "a rename")

    def closed(self, uri: str, text: str) -> None:
        """Check whether a closed document was renamed; called after the ledger was notified."""
        if (new := self._other_half(uri, text, self._opened, self._closed)) is not None:
            self._start(self._check_rename(uri, new), "a rename")

    def _other_half(self, uri: str, text: str, others: _Recent, recent: _Recent) -> str | None:
        """Return the other document of a rename; if there is none, store this one for later."""
        now = self._system.monotonic()
        for other in reversed(others):
            is_same_text = text and now - other.at <= SETTLE_SECONDS and other.text == text
            if is_same_text and canonical(other.uri) != canonical(uri):
                return other.uri
        recent.append(_RecentDocument(uri, text, now))
        return None

    async def _check_rename(self, old: str, new: str) -> None:
        """Move the hunks from `old` to `new` if these documents with one text are a renamed
        file.
        """
        if not self._ledger.is_tracked(old):
            return
        # Pending hunks in the new file show that it was a separate file before.
        replaces = bool(self._ledger.live(new))
        if await asyncio.to_thread(self._is_rename, old, new, replaces=replaces):
            still_closed = self._workspace.document(old) is None
            if still_closed and self._workspace.document(new) is not None:
                self.rename(old, new)

    def _is_rename(self, old: str, new: str, *, replaces: bool) -> bool:
        """Return whether the old file is missing, or the new file was just created.

        If the new file `replaces` another, only the former counts: both may have been saved just
        now.
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
