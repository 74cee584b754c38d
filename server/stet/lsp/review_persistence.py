"""State that outlives the server: hunks are restored at the start, and their texts are saved later.

The ledger writes every proposal and decision at once. `ReviewPersistence` saves the texts of
documents with hunks, off the event loop and when the user pauses: with the latest text, hunks are
found again exactly, even after typing before a crash.

`completed_operations` reads from the disk which operations on whole files a killed server had
completed: a move, a removal or an empty new file leaves no trace in a text. Only hunks that had
been sent are checked, because a file may be gone for another reason, with an old copy in the trash.
An uncertain hunk is pending, and the user decides again.

`StoreMaintenance` repeats writes that the disk refused, removes old files, and loads data that
could not be loaded at the start.
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
    """Return those of the hunks that were sent and the disk shows done. It asks the disk: for a
    thread.

    A move is, where the old name is gone and a file has the new one; a removal, where the file is
    gone and the trash holds its text; a new file without text, where there is an empty one. Of other
    new files the text tells.
    """
    return tuple(hunk for hunk in hunks if hunk.state is HunkState.SENT and _is_done(system, hunk))


def _is_done(system: System, hunk: Hunk) -> bool:
    path = path_of(hunk.uri)
    if path is None:
        return False
    # Not the last part: the file may be a link, which is never followed.
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
        return False  # then it can't be brought back from there either


PAUSE_SECONDS = 2.0
MAX_BYTES = 50_000_000
"""A file larger than this has grown into something else since."""

DAY = 86_400.0
_MOST_ATTEMPTS = 5
"""How often places are found anew because a document was opened or closed meanwhile."""
TRASH_DAYS = 31
"""How long removed files are kept: a day longer than the hunks by which they can be had back."""
UNUSED_DAYS = 90
"""How long the state of a workspace that is gone is kept: its disk may only be away."""

log = logging.getLogger(__name__)

_RESTORABLE = LIVE | {HunkState.ACCEPTED}


class ReviewPersistence:
    """Between the ledger and the disk. Touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        store: StateStore,
        system: System,
        spawn: Spawn[None],
    ) -> None:
        """Read nothing yet; `spawn` starts work in the background."""
        self._workspace = workspace
        self._ledger = ledger
        self._store = store
        self._system = system
        self._spawn = spawn
        self._due: dict[str, None] = {}
        self._touched_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def restore(self) -> None:
        """Bring back the hunks of earlier runs, or log why that failed."""
        # Errors are logged where tasks are kept, and must not keep the server from working.
        await asyncio.wait({self._spawn(self._restore(), "restoring proposals")})

    async def _restore(self) -> None:
        """Restore what is stored, and remove what is too old."""
        folders = self._workspace.folders
        restored = await asyncio.to_thread(self._store.load)
        if restored.hunks:
            await self._restore_positions(restored)
        if self._store.has_missed:
            return  # what hunks still need is not known yet
        # Only now, so that texts that the hunks still need are kept; no task waits for this one.
        _ = self._spawn(asyncio.to_thread(self._tidy, restored.hunks, folders), "tidying up")

    async def _restore_positions(self, restored: RestoredState) -> None:
        """Find the places that hunks of earlier runs have in the files of today."""
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
        """Find the places in a thread, and apply them.

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
                break  # else a file was opened, closed or written meanwhile: it may have another text
        with_hunks = {canonical(uri) for uri in places.values() if self._ledger.is_tracked(uri)}
        self._ledger.take_restored(prepared)
        return {uri: made for uri, made in changes.items() if is_same and uri not in with_hunks}

    def _stats(self, uris: Iterable[str]) -> list[FileStat | None]:
        """Return file stats that show whether files have been written; in a worker thread."""
        return [None if (path := path_of(uri)) is None else self._system.stat(path) for uri in uris]

    def _find_places(
        self,
        restored: RestoredState,
        places: Mapping[str, str],
        documents: Mapping[str, TextDocument],
        known: Collection[str],
    ) -> PreparedRestore:
        """Find the places of hunks of earlier runs; in a worker thread.

        Args:
            restored: The persisted state.
            places: The current place of each file, by URI.
            documents: The open documents, by the same URI.
            known: Hunks of this run, by id.
        """
        texts = {uri: document.text for uri, document in documents.items()}
        for snapshot in restored.anchor_snapshots:
            uri = snapshot.uri
            if uri not in documents and path_of(uri) is None:
                # Never on a disk: the editor may open it again, with this text or another.
                texts[uri] = snapshot.text
            elif uri not in documents and (path := path_of(places[uri])) is not None:
                with suppress(OSError):  # gone: its hunks are marked
                    texts[uri] = decode(self._system.read_bytes(path, MAX_BYTES))
        return prepare_restore(restored, texts, known)

    def _tidy(self, hunks: Sequence[Hunk], folders: Sequence[str]) -> None:
        """Remove what is too old to be asked for again; in a worker thread, for that may take long.

        Args:
            hunks: Those that came back.
            folders: The workspace's, by URI.
        """
        now = self._system.now()
        removals = (h for h in hunks if h.kind is HunkKind.REMOVE and h.state in _RESTORABLE)
        removed = [path for path in (path_of(hunk.uri) for hunk in removals) if path]
        # As it was when the file went there: not the last part, which is never followed.
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
            log.info("%s old removals and %s unused state folders dropped", n_emptied, len(dropped))

    async def close(self) -> None:
        """Save everything as it is now, and close the file."""
        if self._timer is not None:
            self._timer.cancel()
        self._save_positions()
        await asyncio.to_thread(self._store.close)

    def hunks_changed(self, uri: str) -> None:
        """Save the positions of the hunks of `uri` once the user pauses."""
        self._due[uri] = None
        self._touched_at = asyncio.get_running_loop().time()
        if self._timer is None:
            self._wait(PAUSE_SECONDS)

    def _wait(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._save_if_quiet)

    def _save_if_quiet(self) -> None:
        """Keep, unless something has happened since the timer was set."""
        left = self._touched_at + PAUSE_SECONDS - asyncio.get_running_loop().time()
        if left > 0:
            self._wait(left)
            return
        self._timer = None
        self._save_positions()
        _ = self._spawn(asyncio.to_thread(self._store.flush), "keeping where hunks stand")

    def _save_positions(self) -> None:
        """Pass the hunk positions of changed files to the store; written later, in that order."""
        snapshots = (self._ledger.anchor_snapshot(uri) for uri in self._due)
        self._store.note_snapshots([snapshot for snapshot in snapshots if snapshot is not None])
        self._due.clear()


SOON_SECONDS = 1.0
LATER_SECONDS = 5.0
N_SOON = 60
"""How many times a disk that refuses is tried again after `SOON_SECONDS`; then after `LATER_SECONDS`."""


class StoreMaintenance:
    """A task that calls `StateStore.flush` in a worker while the store has unwritten data."""

    def __init__(
        self,
        store: Callable[[], StateStore],
        spawn: Spawn[None],
        catch_up: Callable[[], Awaitable[None]],
    ) -> None:
        """Made on the event loop, before its store.

        Args:
            store: What is tended.
            spawn: Starts the work.
            catch_up: Loads and merges what the store could not load at the start; called when it can.
        """
        self._store = store
        self._catch_up = catch_up
        self._spawn = spawn
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Begin soon, unless it is under way; from any thread."""
        with suppress(RuntimeError):  # the loop is closed: `close` has written what it could
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._spawn(self._maintain(), "writing what waits for the disk")

    async def _maintain(self) -> None:
        store = self._store()
        for n in itertools.count():
            await asyncio.to_thread(store.flush)
            if store.can_catch_up:
                await self._catch_up()
            if not store.has_unwritten:
                return
            await asyncio.sleep(SOON_SECONDS if n < N_SOON else LATER_SECONDS)
