"""Accept and undo changes of whole files: create, move, move to the trash.

The editor carries them out if it can, so that its buffers follow; else `System` does. Either way the
disk and the open documents show whether it was done. No file is written over, no file leaves the disk
before the trash has it, and a file with unsaved text is left alone: then the hunk waits and says why.

A file that the editor can't delete and has open is deleted when it is closed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from stet.lsp import convert
from stet.lsp.editor_client import ApplyOutcome, Client
from stet.lsp.edits.edit_sender import EditError, FileOpen, problem_of
from stet.lsp.file_events import RenameTracker
from stet.review.ledger import ReviewLedger
from stet.review.policy.authorization import refusal_at
from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.system.system import System
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.names import parts_below
from stet.workspace.uris import canonical, path_of, uri_of
from stet.workspace.workspace import Workspace

CLOSED_SECONDS = 0.5
"""How long a file stays closed before it is deleted: some editors close and open it to read it anew."""
FILE_CONFIRM_SECONDS = 2.0
"""How long after its yes an editor may take until its work is seen."""
FILE_POLL_SECONDS = 0.05
"""The polling interval: a disk sends no events."""


class FileHunkApplier:
    """Carries out the decisions about whole files. Touched on the event loop only.

    Attributes:
        deferred: By hunk, the canonical URI of the file that is to be closed before it is deleted.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        renames: RenameTracker,
        apply_closed: Callable[[Hunk], Awaitable[None]],
    ) -> None:
        """`apply_closed` carries out a hunk whose file is closed, or takes back one that is accepted."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._renames = renames
        self._apply_closed = apply_closed
        self.deferred: dict[str, str] = {}
        self._begun: set[str] = set()
        self._trashed: dict[str, Path] = {}

    async def accept(self, hunk: Hunk) -> None:
        """Do what a pending hunk wants.

        Raises:
            EditError: If something is in the way; then it waits again.
        """
        self._ledger.outbox.send_whole(hunk.id)
        if problem := await problem_of(self._accept(hunk)):
            self._ledger.outbox.cancel_whole(hunk.id, str(problem))
            raise problem
        self._ledger.outbox.confirm_whole(hunk.id)

    async def undo(self, hunk: Hunk) -> None:
        """Take back what an accepted hunk did.

        Raises:
            EditError: If something is in the way; then it stays accepted.
            OSError: If the disk refuses.
        """
        if hunk.kind is HunkKind.CREATE:
            await self._undo_create(hunk)
        elif hunk.kind is HunkKind.MOVE:
            await self._move(hunk, hunk.new_uri, hunk.uri)
        else:
            await self._restore_from_trash(hunk)
        self._ledger.outbox.undone_whole(hunk.id)

    async def _accept(self, hunk: Hunk) -> None:
        if hunk.kind is HunkKind.CREATE:
            await self._create(hunk)
        elif hunk.kind is HunkKind.MOVE:
            await self._move(hunk, hunk.uri, hunk.new_uri)
        else:
            self._trashed[hunk.id] = await self._move_to_trash(hunk)

    # -- a new file ------------------------------------------------------------------------------

    async def _create(self, hunk: Hunk) -> None:
        path, existing = await self._read_disk(hunk.uri)
        opened = self._workspace.document(hunk.uri)  # after the wait
        if opened is not None and not opened.text.strip() and existing in (None, ""):
            # The editor shows the file that is to be; it takes the text and writes it on saving.
            await self._fill(hunk, opened, hunk.new)
        elif existing == "" and opened is None and hunk.id in self._begun:
            # An earlier try came only half the way.
            await self._fill(hunk, TextDocument(hunk.uri, ""), hunk.new)
        elif opened is not None or existing is not None:
            raise EditError(f"{self._name(hunk.uri)} exists by now; it is left as it is.")
        elif path is None:
            raise EditError(f"{self._name(hunk.uri)} is no file on this machine.")
        elif self._client.can("create") and (text := self._insertable_text(hunk.new)) is not None:
            self._begun.add(hunk.id)
            outcome = await self._client.create_file(_label(hunk), hunk.uri, text)
            await self._wait_done(outcome, lambda: self._has_text(hunk.uri, hunk.new, outcome))
        else:
            await asyncio.to_thread(self._system.create_file, self._real(path, hunk), hunk.new)
            await self._client.show_document(hunk.uri)

    def _insertable_text(self, text: str) -> str | None:
        """Return the text that the editor must insert into an empty buffer so that the file is
        `text`. Return None if the editor cannot do this.

        Neovim's buffers end their last line by themselves, and hold one kind of line end.
        """
        if self._client.capabilities.name != "neovim":
            return text
        return text[:-1] if text.endswith("\n") and "\r" not in text else None

    async def _undo_create(self, hunk: Hunk) -> None:
        path, existing = await self._read_disk(hunk.uri)
        opened = self._workspace.document(hunk.uri)  # after the wait
        text = opened.text if opened is not None else existing
        if text is None:
            raise EditError(f"{self._name(hunk.uri)} is gone already.")
        if text != hunk.new:
            raise EditError(self._changed_reason(hunk))
        if existing is None and opened is not None:
            await self._fill(hunk, opened, "")
        else:
            assert path is not None, "it is on the disk"
            # The editor may hold text that it received and never saved. The hunk keeps that text
            # and restores it; any other text on the disk goes to the trash.
            await self._delete(hunk, path, saved_text=hunk.new)

    def _changed_reason(self, hunk: Hunk) -> str:
        """Return why a new file whose text has changed is not undone."""
        name = self._name(hunk.uri)
        edits = (one for one in self._ledger.hunks(uri=hunk.uri) if one.kind not in WHOLE_FILE)
        later = [one.id for one in edits if one.state is HunkState.ACCEPTED]
        if not later:
            return f"You have changed {name} since; delete it yourself."
        return (
            f"{name} has another text since {', '.join(later)}: undo that first, or the whole turn; "
            "or delete it yourself."
        )

    async def _fill(self, hunk: Hunk, document: TextDocument, text: str) -> None:
        """Have the editor make `text` the whole text of a document."""
        edit = TextEdit((Replacement(0, len(document.text), text),))
        edits = convert.text_edits(edit, document, self._workspace.encoding)
        uri, version = document.uri, document.version
        outcome = await self._client.apply_edit(_label(hunk), uri, version, edits)
        await self._wait_done(outcome, lambda: self._has_text(uri, text, outcome))

    async def _has_text(self, uri: str, text: str, outcome: ApplyOutcome) -> bool:
        """Return whether `text` is there: in the editor, on the disk, or in a buffer we are not
        told of.
        """
        opened = self._workspace.document(uri)
        if opened is not None:
            # After the editor's confirmation the user may have continued to type.
            return opened.text == text or (outcome.applied and bool(text) and text in opened.text)
        _, text_on_disk = await self._read_disk(uri)
        return text_on_disk == text

    # -- another name ----------------------------------------------------------------------------

    async def _move(self, hunk: Hunk, uri: str, new_uri: str) -> None:
        path, new = path_of(uri), path_of(new_uri)
        if path is None or new is None:
            raise EditError(f"{self._name(uri)} is no file on this machine.")
        if await self._is_gone(path):
            raise EditError(f"{self._name(uri)} is gone.")
        same = path.parent == new.parent and path.name.casefold() == new.name.casefold()
        is_free = same or await self._is_gone(new)
        if not is_free or self._workspace.document(new_uri) is not None:
            raise EditError(f"{self._name(new_uri)} exists by now; it is left as it is.")
        if self._client.can("rename"):
            outcome = await self._client.rename_file(_label(hunk), uri, new_uri)
            await self._wait_done(outcome, lambda: self._is_moved(path, new))
        else:
            await self._check_saved(uri)
            old, real = self._real(path, hunk), self._real(new, hunk)
            await asyncio.to_thread(self._system.move_file, old, real)
            if self._workspace.document(uri) is not None:
                stale = f"{self._name(uri)} is {self._name(new_uri)} now: close its old buffer."
                self._client.show_message(f"Stet: {stale}")
        self._renames.rename(uri, new_uri)

    async def _is_moved(self, path: Path, new: Path) -> bool:
        return await self._is_gone(path) and not await self._is_gone(new)

    # -- the trash -------------------------------------------------------------------------------

    async def _move_to_trash(self, hunk: Hunk) -> Path:
        path = path_of(hunk.uri)
        if path is None or await self._is_gone(path):
            raise EditError(f"{self._name(hunk.uri)} is no file on this machine, or gone already.")
        await self._check_saved(hunk.uri)
        return await self._delete(hunk, path)

    async def _delete(self, hunk: Hunk, path: Path, saved_text: str | None = None) -> Path:
        """Delete a file with no unsaved text but `saved_text`; return its place in the trash."""
        real = self._real(path, hunk)
        if not self._client.can("delete"):
            if self._workspace.document(hunk.uri) is not None:
                raise FileOpen(f"{self._name(hunk.uri)} is open in the editor: close it.")
            return await asyncio.to_thread(self._system.trash, real)
        place = await asyncio.to_thread(self._system.copy_to_trash, real)
        await self._check_same(hunk.uri, real, place, saved_text)
        outcome = await self._client.delete_file(_label(hunk), hunk.uri)
        await self._wait_done(outcome, lambda: self._is_gone(real))
        return place

    async def _is_gone(self, path: Path) -> bool:
        return await asyncio.to_thread(self._system.stat, path) is None

    async def _restore_from_trash(self, hunk: Hunk) -> None:
        path = path_of(hunk.uri)
        assert path is not None, "it was a file"
        real = self._real(path, hunk)
        place = self._trashed.get(hunk.id) or await asyncio.to_thread(
            self._find_in_trash, hunk, real
        )
        if place is None:
            raise EditError(f"The trash holds {self._name(hunk.uri)} no more.")
        try:
            await asyncio.to_thread(self._system.restore, place, real)
        except FileExistsError:
            name = self._name(hunk.uri)
            raise EditError(f"There is a {name} again: the old one lies in {place}.") from None
        # Nothing that the editor shows need change by it.
        self._client.show_message(f"Stet: {self._name(hunk.uri)} is back from the trash.")

    def _find_in_trash(self, hunk: Hunk, path: Path) -> Path | None:
        """Return the trashed copy that a hunk made in an earlier run. The copy with the hunk's text
        is preferred, else the newest.
        """
        places, read = list(self._system.trashed(path)), self._system.read_bytes
        same = (place for place in places if decode(read(place, MAX_FILE_BYTES)) == hunk.old)
        return next(same, places[0] if places else None)

    def _real(self, path: Path, hunk: Hunk) -> Path:
        """Return where a file is, checked as it is resolved: a link may have come after the policy
        check.

        Raises:
            EditError: If that is outside the workspace and its name is not, or the gate would not let the
                hunk there.
        """
        snapshot, real_path = self._workspace.snapshot(), self._system.real_path
        # Not the last part: it may itself be a link, which is never followed.
        real = real_path(path.parent) / path.name
        is_inside = any(parts_below(real, real_path(root.path)) for root in snapshot.roots)
        if not is_inside and any(parts_below(path, root.path) for root in snapshot.roots):
            raise EditError(f"{self._name(uri_of(path))} leads out of the workspace by a link.")
        if refusal := refusal_at(snapshot, real, hunk):
            raise EditError(refusal.message)
        return real

    # -- a file that the editor can't delete and has open -----------------------------------------

    def defer(self, hunk: Hunk) -> None:
        """Let a hunk wait until its file is closed, and inform the user; an accepted hunk waits for its
        undo.
        """
        reason = f"{self._name(hunk.uri)} is open in the editor: it is deleted when you close it"
        self.deferred[hunk.id] = canonical(hunk.uri)
        self._ledger.outbox.queue(hunk.uri, [hunk.id], reason)
        self._client.show_message(f"Stet: {reason}.")

    def closed(self, uri: str) -> None:
        """Schedule the deletion that waited for a document to be closed."""
        if canonical(uri) in self.deferred.values():
            self._client.start(self._delete_closed(uri), f"delete {uri}")

    async def _delete_closed(self, uri: str) -> None:
        await asyncio.sleep(CLOSED_SECONDS)
        if self._workspace.document(uri) is not None:
            return
        due = [hunk_id for hunk_id, of in self.deferred.items() if of == canonical(uri)]
        for hunk_id in due:
            if self.deferred.pop(hunk_id, None) is None:
                continue  # its approval was taken back while another hunk was carried out
            self._ledger.outbox.dequeue([hunk_id])
            hunk = self._ledger.hunk(hunk_id)
            if hunk.state in {HunkState.PENDING, HunkState.ACCEPTED}:
                await self._apply_closed(hunk)

    # -- what is there ----------------------------------------------------------------------------

    @property
    def _system(self) -> System:
        return self._workspace.snapshot().system

    def _name(self, uri: str) -> str:
        """Return the user's name for a file."""
        return self._workspace.snapshot().name_of(uri)

    async def _wait_done(
        self, outcome: ApplyOutcome, is_done: Callable[[], Awaitable[bool]]
    ) -> None:
        """Wait until the disk or a document shows what the editor was asked for.

        The yes of an editor that writes to the disk only when its user saves is enough: nothing
        shows its work before that.

        Args:
            outcome: The editor's answer.
            is_done: Returns whether the result is there.

        Raises:
            EditError: If the result is not there in time.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + (FILE_CONFIRM_SECONDS if outcome.applied else 0.0)
        while not await is_done():
            if outcome.applied and self._client.capabilities.saves_later:
                return
            if loop.time() >= end:
                is_seen = "The editor said that it was done, but it was not."
                raise EditError(outcome.reason or is_seen)
            await asyncio.sleep(FILE_POLL_SECONDS)

    async def _read_disk(self, uri: str) -> tuple[Path | None, str | None]:
        """Return where a document lies, and its text on the disk; None if it lies nowhere, or is
        not there.
        """
        path = path_of(uri)
        if path is None or await self._is_gone(path):
            return path, None
        return path, decode(await asyncio.to_thread(self._system.read_bytes, path, MAX_FILE_BYTES))

    async def _check_saved(self, uri: str) -> None:
        """Make sure that no text would be lost with the file.

        Raises:
            EditError: If the document is open with text that the disk does not have.
        """
        _, disk_text = await self._read_disk(uri)
        self._check_open(uri, disk_text)

    async def _check_same(
        self, uri: str, path: Path, copy: Path, saved_text: str | None = None
    ) -> None:
        """Make sure that a copy of a document's file, at `path`, holds all there is of its text.

        Nothing may be waited for between this and what takes the file away.

        Args:
            uri: The document.
            path: Its file.
            copy: The copy.
            saved_text: A text that is not lost with the document, as it is kept elsewhere.

        Raises:
            EditError: If the file has changed, or its document has text that neither has.
            OSError: If one of them can't be read.
        """
        read = self._system.read_bytes
        disk_text = await asyncio.to_thread(read, path, MAX_FILE_BYTES)
        copied = await asyncio.to_thread(read, copy, MAX_FILE_BYTES)
        self._check_open(uri, decode(copied), saved_text)
        if disk_text != copied:
            raise EditError(f"{self._name(uri)} was written to just now: look, and try again.")

    def _check_open(self, uri: str, *texts: str | None) -> None:
        """Make sure that a document, if it is open, has no other text than one of `texts`.

        Raises:
            EditError: If it has.
        """
        opened = self._workspace.document(uri)
        if opened is not None and opened.text not in texts:
            raise EditError(
                f"{self._name(uri)} has text that is not saved: save it, or take it back, and "
                "then try again."
            )


def _label(hunk: Hunk) -> str:
    """Return the label of a hunk in the editor's undo list."""
    return f"Stet: {hunk.summary}"
