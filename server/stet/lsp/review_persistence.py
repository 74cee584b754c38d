"""State that outlives the server: restore hunks at the start, and save their texts later.

The ledger writes every proposal and decision at once. `ReviewPersistence` saves the texts of
documents with hunks, in a thread and when the user pauses: with the latest text, hunks are found
again exactly, even after typing before a crash. It also removes old files from the state folder.

`completed_operations` finds out from the disk which operations on whole files a killed server had
completed: a move, a removal or an empty new file leaves no trace in a text. Only hunks that had
been sent are checked, because a file may be missing for another reason, with an old copy in the
trash. If it is uncertain, the hunk is pending, and the user decides again.

`StoreMaintenance` repeats writes that the disk refused, and loads data that could not be loaded at
the start.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from stet.lsp.tasks import Spawn
from stet.review.journal import RestoredState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, Hunk, HunkKind, HunkState
from stet.review.state_restore import PreparedRestore, prepare_restore
from stet.storage.state_store import StateStore
from stet.storage.unused import drop_unused, note_roots
from stet.system.system import FileKind, FileStat, System
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace


def completed_operations(system: System, hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """Return the sent hunks whose operations are done according to the disk. Block on the disk.

    A move is done if the old file is missing and the new one exists; a removal, if the file is
    missing and the trash has its text; the creation of an empty file, if there is an empty file.
    Other new files are recognized by their text.
    """
    return tuple(hunk for hunk in hunks if hunk.state is HunkState.SENT and _is_done(system, hunk))


def _is_done(system: System, hunk: Hunk) -> bool:
    path = path_of(hunk.uri)
    if path is None:
        return False
    # Do not resolve the last part: the file may be a link, which is never followed.
    real = system.real_path(path.parent) / path.name
    there = system.stat(real)
    if hunk.kind is HunkKind.CREATE:
        is_empty = there is not None and there.kind is FileKind.FILE and there.size == 0
        return is_empty and not hunk.new
    if there is not None:
        return False
    if hunk.kind is HunkKind.REMOVE:
        return any(_has_text(system, place, hunk.old) for place in system.trashed(real))
    new = path_of(hunk.new_uri)
    stat = None if new is None else system.stat(system.real_path(new.parent) / new.name)
    return stat is not None and stat.kind is FileKind.FILE


def _has_text(system: System, path: Path, text: str) -> bool:
    try:
        return decode(system.read_bytes(path, MAX_FILE_BYTES)) == text
    except OSError:
        return False  # then the file can't be restored from this copy either


PAUSE_SECONDS = 2.0
MAX_BYTES = 50_000_000
"""The most bytes of a file that is read to find hunks again."""

DAY = 86_400.0
_MOST_ATTEMPTS = 5
"""The most attempts to find places, if documents are opened, closed or written meanwhile."""
TRASH_DAYS = 31
"""The days after which a removed file is deleted: a day more than hunks, which can restore it, are
kept.
"""
UNUSED_DAYS = 90
"""The days after which the state of a missing workspace is deleted: its disk may be detached for a
while.
"""

log = logging.getLogger(__name__)

_RESTORABLE = LIVE | {HunkState.ACCEPTED}


class ReviewPersistence:
    """The service that restores and saves the ledger's state; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        store: StateStore,
        system: System,
        spawn: Spawn[None],
    ) -> None:
        """Create the service, which reads nothing yet; `spawn` starts a background task."""
        self._workspace = workspace
        self._ledger = ledger
        self._store = store
        self._system = system
        self._spawn = spawn
        self._due: dict[str, None] = {}
        self._touched_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def restore(self) -> None:
        """Restore the hunks of earlier runs, or log why that failed."""
        # `Tasks` logs errors, which must not prevent the start.
        await asyncio.wait({self._spawn(self._restore(), "restoring proposals")})

    async def adopt(self) -> int:
        """Take over the hunks of servers that have ended; return how many of them are live."""
        restored = await asyncio.to_thread(self._store.adopt)
        known = {hunk.id for hunk in self._ledger.hunks()}
        hunks = tuple(hunk for hunk in restored.hunks if hunk.id not in known)
        ids = {hunk.id for hunk in hunks}
        snapshots = tuple(one for one in restored.anchor_snapshots if ids & one.lines.keys())
        if hunks:
            await self._restore_positions(RestoredState(hunks, snapshots))
        return sum(self._ledger.hunk(hunk.id).state in LIVE for hunk in hunks)

    async def _restore(self) -> None:
        """Restore the stored hunks, then start to remove old files."""
        folders = self._workspace.folders
        restored = await asyncio.to_thread(self._store.load)
        if restored.hunks:
            await self._restore_positions(restored)
        if self._store.has_missed:
            return  # it is not known yet which files hunks still need
        # Tidy after the restore, so that files which hunks still need are kept; nothing waits for it.
        _ = self._spawn(asyncio.to_thread(self._tidy, restored.hunks, folders), "tidying up")

    async def _restore_positions(self, restored: RestoredState) -> None:
        """Find the places of the hunks of earlier runs in the current files."""
        done = await asyncio.to_thread(completed_operations, self._system, restored.hunks)
        moved = {canonical(hunk.uri): hunk.new_uri for hunk in done if hunk.new_uri}
        places = {
            snapshot.uri: moved.get(canonical(snapshot.uri), snapshot.uri)
            for snapshot in restored.anchor_snapshots
        }
        changes = await self._take_places(restored, places)
        for hunk in done:
            self._ledger.outbox.confirm_whole(hunk.id)
            if hunk.new_uri:
                self._ledger.renamed(hunk.uri, hunk.new_uri)
        for hunk in restored.hunks:
            if hunk.state is HunkState.SENT and hunk not in done:
                self._ledger.outbox.cancel_whole(hunk.id, "")
        for uri in places.values():
            document, buffer = self._workspace.document(uri), self._workspace.buffer(uri)
            if document is not None and buffer is not None:
                self._ledger.opened(document.uri, buffer.lines, changes.get(canonical(uri)))

    async def _take_places(
        self, restored: RestoredState, places: Mapping[str, str]
    ) -> Mapping[str, Sequence[TextChange]]:
        """Find the places in a thread, and pass them to the ledger.

        Returns:
            The changes of open documents since their texts were read, by canonical URI. There are
            no changes for a document that already had hunks of this run.
        """
        attempt = 0
        while True:
            attempt += 1
            buffers = {uri: self._workspace.buffer(uri) for uri in places.values()}
            found = {uri: self._workspace.document(place) for uri, place in places.items()}
            documents = {uri: one for uri, one in found.items() if one is not None}
            known = {hunk.id for hunk in self._ledger.hunks()}
            closed = [uri for uri, buffer in buffers.items() if buffer is None]
            with self._ledger.note_changes(buffers.keys() - set(closed)) as changes:
                stats = await asyncio.to_thread(self._stats, closed)
                prepared = await asyncio.to_thread(
                    self._find_places, restored, places, documents, known
                )
                is_same = stats == await asyncio.to_thread(self._stats, closed)
            is_same &= all(self._workspace.buffer(uri) is one for uri, one in buffers.items())
            if is_same or attempt == _MOST_ATTEMPTS:
                break  # otherwise a file was opened, closed or written meanwhile, so its text may differ
        with_hunks = {canonical(uri) for uri in places.values() if self._ledger.is_tracked(uri)}
        self._ledger.take_restored(prepared)
        return {uri: made for uri, made in changes.items() if is_same and uri not in with_hunks}

    def _stats(self, uris: Iterable[str]) -> list[FileStat | None]:
        """Return file stats that show whether files have been written. Block on the disk."""
        return [None if (path := path_of(uri)) is None else self._system.stat(path) for uri in uris]

    def _find_places(
        self,
        restored: RestoredState,
        places: Mapping[str, str],
        documents: Mapping[str, TextDocument],
        known: Collection[str],
    ) -> PreparedRestore:
        """Find the places of the hunks of earlier runs. Block on the disk.

        Args:
            restored: The persisted state.
            places: The current URI of each file, by its persisted URI.
            documents: The open documents, by persisted URI.
            known: The ids of the hunks of this run.
        """
        texts = {uri: document.text for uri, document in documents.items()}
        for snapshot in restored.anchor_snapshots:
            uri = snapshot.uri
            if uri not in documents and path_of(uri) is None:
                # This document was never saved: the editor may open it again, with this or another text.
                texts[uri] = snapshot.text
            elif uri not in documents and (path := path_of(places[uri])) is not None:
                with suppress(OSError):  # the file is missing: its hunks are marked
                    texts[uri] = decode(self._system.read_bytes(path, MAX_BYTES))
        return prepare_restore(restored, texts, known)

    def _tidy(self, hunks: Sequence[Hunk], folders: Sequence[str]) -> None:
        """Remove old files from the trash and unused state folders. Block on the disk, maybe for
        long.

        Args:
            hunks: The restored hunks.
            folders: The URIs of the workspace folders.
        """
        now = self._system.now()
        removals = (h for h in hunks if h.kind is HunkKind.REMOVE and h.state in _RESTORABLE)
        removed = [path for path in (path_of(hunk.uri) for hunk in removals) if path]
        # Resolve the path as for the move to the trash: without the last part, which is never followed.
        recent = [self._system.real_path(path.parent) / path.name for path in removed]
        try:
            n_emptied = self._system.empty_trash(now - TRASH_DAYS * DAY, recent)
            roots = [path for path in map(path_of, folders) if path]
            if roots:
                note_roots(self._store.folder, roots)
            dropped = drop_unused(self._store.folder.parent, now - UNUSED_DAYS * DAY)
        except OSError as error:
            log.warning("Stet's state folder could not be tidied: %s", error)
            return
        if n_emptied or dropped:
            log.info(
                ("%s old trash entries and %s unused state folders deleted"),
                n_emptied,
                len(dropped),
            )

    async def close(self) -> None:
        """Save the positions of hunks, and close the store."""
        if self._timer is not None:
            self._timer.cancel()
        self._save_positions()
        await asyncio.to_thread(self._store.close)

    def hunks_changed(self, uri: str) -> None:
        """Schedule a save of the positions of the hunks of `uri`, when the user pauses."""
        self._due[uri] = None
        self._touched_at = asyncio.get_running_loop().time()
        if self._timer is None:
            self._wait(PAUSE_SECONDS)

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._save_if_quiet)

    def _save_if_quiet(self) -> None:
        """Save, or wait again if there was a change since the timer was set."""
        left = self._touched_at + PAUSE_SECONDS - asyncio.get_running_loop().time()
        if left > 0:
            self._wait(left)
            return
        self._timer = None
        self._save_positions()
        _ = self._spawn(asyncio.to_thread(self._store.flush), "saving positions of hunks")

    def _save_positions(self) -> None:
        """Pass the hunk positions of changed files to the store, which writes them later in this
        order.
        """
        snapshots = (self._ledger.anchor_snapshot(uri) for uri in self._due)
        self._store.note_snapshots([snapshot for snapshot in snapshots if snapshot is not None])
        self._due.clear()


SOON_SECONDS = 1.0
LATER_SECONDS = 5.0
N_SOON = 60
"""The number of retries of a refused write after `SOON_SECONDS` each; later ones use
`LATER_SECONDS`.
"""


class StoreMaintenance:
    """The task that calls `StateStore.flush` in a worker thread while the store has unwritten
    data.
    """

    def __init__(
        self,
        store: Callable[[], StateStore],
        spawn: Spawn[None],
        catch_up: Callable[[], Awaitable[None]],
    ) -> None:
        """Create the maintenance, on the event loop and before the store.

        Args:
            store: A function that returns the store.
            spawn: A function that starts a task.
            catch_up: A function that loads and merges data that the store could not load at the
                start; called as soon as the store can load it.
        """
        self._store = store
        self._catch_up = catch_up
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Schedule the task, unless it is running; may be called from any thread."""
        with suppress(RuntimeError):  # the loop is closed: `close` has written all that it could
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._spawn(self._maintain(), "writing pending state to disk")

    async def _maintain(self) -> None:
        store = self._store()
        for n in itertools.count():
            await asyncio.to_thread(store.flush)
            if store.can_catch_up:
                await self._catch_up()
            if not store.has_unwritten:
                return
            await asyncio.sleep(SOON_SECONDS if n < N_SOON else LATER_SECONDS)
