"""Accept and undo changes of whole files: create, move, move to the trash.

The editor makes these changes if it can, so that its buffers follow; otherwise `System` does.
Either way the disk and the open documents show whether a change was made. No file is overwritten,
no file is deleted before it is in the trash, and a file with unsaved text is not touched: the hunk
then waits with a reason.

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
"""The time for which a file must stay closed before it is deleted: some editors reopen it to reload
it.
"""
FILE_CONFIRM_SECONDS = 2.0
"""The time limit for the result of a file operation after the editor has confirmed it."""
FILE_POLL_SECONDS = 0.05
"""The polling interval: a disk sends no events."""


class FileHunkApplier:
    """The service that applies and undoes hunks about whole files; used on the event loop only.

    Attributes:
        deferred: By hunk id, the canonical URI of the file that must be closed before it is
            deleted.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        renames: RenameTracker,
        apply_closed: Callable[[Hunk], Awaitable[None]],
    ) -> None:
        """Create the service; `apply_closed` applies or undoes a deferred hunk whose file is
        closed.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._renames = renames
        self._apply_closed = apply_closed
        self.deferred: dict[str, str] = {}
        self._started: set[str] = set()
        self._trashed: dict[str, Path] = {}

    async def accept(self, hunk: Hunk) -> None:
        """Apply a pending hunk.

        Raises:
            EditError: If the file operation is not possible; the hunk is then pending again.
        """
        self._ledger.outbox.send_whole(hunk.id)
        if problem := await problem_of(self._accept(hunk)):
            self._ledger.outbox.cancel_whole(hunk.id, str(problem))
            raise problem
        self._ledger.outbox.confirm_whole(hunk.id)

    async def undo(self, hunk: Hunk) -> None:
        """Undo an accepted hunk.

        Raises:
            EditError: If the file operation is not possible; the hunk then stays accepted.
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

    # -- create ----------------------------------------------------------------------------------

    async def _create(self, hunk: Hunk) -> None:
        path, existing = await self._read_disk(hunk.uri)
        opened = self._workspace.document(hunk.uri)  # after the wait
        if opened is not None and not opened.text.strip() and existing in (None, ""):
            # The editor already shows the new file: insert the text there; saving writes the file.
            await self._fill(hunk, opened, hunk.new)
        elif existing == "" and opened is None and hunk.id in self._started:
            # An earlier attempt has created the file, but not filled it.
            await self._fill(hunk, TextDocument(hunk.uri, ""), hunk.new)
        elif opened is not None or existing is not None:
            raise EditError(f"{self._name(hunk.uri)} already exists; it was not changed.")
        elif path is None:
            raise EditError(f"{self._name(hunk.uri)} is not a file on this machine.")
        elif self._client.can("create") and (text := self._insertable_text(hunk.new)) is not None:
            self._started.add(hunk.id)
            outcome = await self._client.create_file(_label(hunk), hunk.uri, text)
            await self._wait_done(outcome, lambda: self._has_text(hunk.uri, hunk.new, outcome))
        else:
            await asyncio.to_thread(self._system.create_file, self._real(path, hunk), hunk.new)
            await self._client.show_document(hunk.uri)

    def _insertable_text(self, text: str) -> str | None:
        """Return the text that the editor must insert into an empty buffer so that the file is
        `text`. Return None if the editor cannot do this.

        A buffer of Neovim adds the last line end itself, and holds one kind of line end.
        """
        if self._client.capabilities.name != "neovim":
            return text
        return text[:-1] if text.endswith("\n") and "\r" not in text else None

    async def _undo_create(self, hunk: Hunk) -> None:
        path, existing = await self._read_disk(hunk.uri)
        opened = self._workspace.document(hunk.uri)  # after the wait
        text = opened.text if opened is not None else existing
        if text is None:
            raise EditError(f"{self._name(hunk.uri)} no longer exists.")
        if text != hunk.new:
            raise EditError(self._changed_reason(hunk))
        if existing is None and opened is not None:
            await self._fill(hunk, opened, "")
        else:
            assert path is not None, "it is on disk"
            # The editor may hold text that it never saved. If this is the text of the hunk, it is
            # not lost: the hunk restores it. Any other text on the disk is moved to the trash.
            await self._delete(hunk, path, saved_text=hunk.new)

    def _changed_reason(self, hunk: Hunk) -> str:
        """Return why a new file whose text has changed is not undone."""
        name = self._name(hunk.uri)
        edits = (one for one in self._ledger.hunks(uri=hunk.uri) if one.kind not in WHOLE_FILE)
        later = [one.id for one in edits if one.state is HunkState.ACCEPTED]
        if not later:
            return f"You have edited {name} since; delete it yourself."
        return (
            f"{name} was changed by {', '.join(later)}: undo that first, undo the whole turn, or "
            "delete it yourself."
        )

    async def _fill(self, hunk: Hunk, document: TextDocument, text: str) -> None:
        """Replace the whole text of a document by `text`, in the editor."""
        edit = TextEdit((Replacement(0, len(document.text), text),))
        edits = convert.text_edits(edit, document, self._workspace.encoding)
        uri, version = document.uri, document.version
        outcome = await self._client.apply_edit(_label(hunk), uri, version, edits)
        await self._wait_done(outcome, lambda: self._has_text(uri, text, outcome))

    async def _has_text(self, uri: str, text: str, outcome: ApplyOutcome) -> bool:
        """Return whether the document has `text`: in the editor if it is open, else on the disk."""
        opened = self._workspace.document(uri)
        if opened is not None:
            # The user may have typed after the editor's confirmation.
            return opened.text == text or (outcome.applied and bool(text) and text in opened.text)
        _, text_on_disk = await self._read_disk(uri)
        return text_on_disk == text

    # -- move ------------------------------------------------------------------------------------

    async def _move(self, hunk: Hunk, uri: str, new_uri: str) -> None:
        path, new = path_of(uri), path_of(new_uri)
        if path is None or new is None:
            raise EditError(f"{self._name(uri)} is not a file on this machine.")
        if await self._is_gone(path):
            raise EditError(f"{self._name(uri)} no longer exists.")
        same = path.parent == new.parent and path.name.casefold() == new.name.casefold()
        is_free = same or await self._is_gone(new)
        if not is_free or self._workspace.document(new_uri) is not None:
            raise EditError(f"{self._name(new_uri)} already exists; it was not changed.")
        if self._client.can("rename"):
            outcome = await self._client.rename_file(_label(hunk), uri, new_uri)
            await self._wait_done(outcome, lambda: self._is_moved(path, new))
        else:
            await self._check_saved(uri)
            old, real = self._real(path, hunk), self._real(new, hunk)
            await asyncio.to_thread(self._system.move_file, old, real)
            if self._workspace.document(uri) is not None:
                stale = (
                    f"{self._name(uri)} was renamed to {self._name(new_uri)}: close its old buffer."
                )
                self._client.show_message(f"Stet: {stale}")
        self._renames.rename(uri, new_uri)

    async def _is_moved(self, path: Path, new: Path) -> bool:
        return await self._is_gone(path) and not await self._is_gone(new)

    # -- move to the trash, and restore ----------------------------------------------------------

    async def _move_to_trash(self, hunk: Hunk) -> Path:
        path = path_of(hunk.uri)
        if path is None or await self._is_gone(path):
            raise EditError(f"{self._name(hunk.uri)} does not exist on this machine.")
        await self._check_saved(hunk.uri)
        return await self._delete(hunk, path)

    async def _delete(self, hunk: Hunk, path: Path, saved_text: str | None = None) -> Path:
        """Delete a file without unsaved text, except `saved_text`; return its path in the trash."""
        real = self._real(path, hunk)
        if not self._client.can("delete"):
            if self._workspace.document(hunk.uri) is not None:
                raise FileOpen(f"{self._name(hunk.uri)} is open in the editor: close it first.")
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
            raise EditError(f"{self._name(hunk.uri)} is no longer in the trash.")
        try:
            await asyncio.to_thread(self._system.restore, place, real)
        except FileExistsError:
            name = self._name(hunk.uri)
            raise EditError(f"{name} exists again; the deleted version is at {place}.") from None
        # The editor may show no sign of the restored file.
        self._client.show_message(f"Stet: {self._name(hunk.uri)} was restored from the trash.")

    def _find_in_trash(self, hunk: Hunk, path: Path) -> Path | None:
        """Return the copy of a file that a hunk has moved to the trash in an earlier run: a copy
        with the hunk's text, else the newest.
        """
        places, read = list(self._system.trashed(path)), self._system.read_bytes
        same = (place for place in places if decode(read(place, MAX_FILE_BYTES)) == hunk.old)
        return next(same, places[0] if places else None)

    def _real(self, path: Path, hunk: Hunk) -> Path:
        """Return the path of a file with links resolved, and check it: a link may have been created
        after the policy check.

        Raises:
            EditError: If a link leads out of the workspace, or the policy refuses the hunk for the
                resolved path.
        """
        snapshot, real_path = self._workspace.snapshot(), self._system.real_path
        # Do not resolve the last part: it may itself be a link, which is never followed.
        real = real_path(path.parent) / path.name
        is_inside = any(parts_below(real, real_path(root.path)) for root in snapshot.roots)
        if not is_inside and any(parts_below(path, root.path) for root in snapshot.roots):
            raise EditError(
                f"{self._name(uri_of(path))} is outside the workspace (through a symbolic link)."
            )
        if refusal := refusal_at(snapshot, real, hunk):
            raise EditError(refusal.message)
        return real

    # -- defer the deletion of an open file -------------------------------------------------------

    def defer(self, hunk: Hunk) -> None:
        """Defer a hunk until its file is closed, and inform the user. An accepted hunk is undone
        then.
        """
        reason = (
            f"{self._name(hunk.uri)} is open in the editor; it will be deleted when you close it"
        )
        self.deferred[hunk.id] = canonical(hunk.uri)
        self._ledger.outbox.queue(hunk.uri, [hunk.id], reason)
        self._client.show_message(f"Stet: {reason}.")

    def closed(self, uri: str) -> None:
        """Schedule the deferred deletion of a document that was closed."""
        if canonical(uri) in self.deferred.values():
            self._client.start(self._delete_closed(uri), f"delete {uri}")

    async def _delete_closed(self, uri: str) -> None:
        await asyncio.sleep(CLOSED_SECONDS)
        if self._workspace.document(uri) is not None:
            return
        due = [hunk_id for hunk_id, of in self.deferred.items() if of == canonical(uri)]
        for hunk_id in due:
            if self.deferred.pop(hunk_id, None) is None:
                continue  # its approval was withdrawn while another hunk was applied
            self._ledger.outbox.dequeue([hunk_id])
            hunk = self._ledger.hunk(hunk_id)
            if hunk.state in {HunkState.PENDING, HunkState.ACCEPTED}:
                await self._apply_closed(hunk)

    # -- checks -----------------------------------------------------------------------------------

    @property
    def _system(self) -> System:
        return self._workspace.snapshot().system

    def _name(self, uri: str) -> str:
        """Return the name of a file as the user sees it."""
        return self._workspace.snapshot().name_of(uri)

    async def _wait_done(
        self, outcome: ApplyOutcome, is_done: Callable[[], Awaitable[bool]]
    ) -> None:
        """Wait until the disk or a document shows the requested file operation.

        If the editor writes to the disk only when the user saves, its confirmation is enough: the
        result is not visible before that.

        Args:
            outcome: The editor's answer.
            is_done: A function that returns whether the result is visible.

        Raises:
            EditError: If the result is not visible in time.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + (FILE_CONFIRM_SECONDS if outcome.applied else 0.0)
        while not await is_done():
            if outcome.applied and self._client.capabilities.saves_later:
                return
            if loop.time() >= end:
                not_done = "The editor reported success, but nothing changed."
                raise EditError(outcome.reason or not_done)
            await asyncio.sleep(FILE_POLL_SECONDS)

    async def _read_disk(self, uri: str) -> tuple[Path | None, str | None]:
        """Return the path of a document and its text on the disk. The path is None if the URI is
        not that of a file; the text is None if there is no file.
        """
        path = path_of(uri)
        if path is None or await self._is_gone(path):
            return path, None
        return path, decode(await asyncio.to_thread(self._system.read_bytes, path, MAX_FILE_BYTES))

    async def _check_saved(self, uri: str) -> None:
        """Check that no text would be lost with the file.

        Raises:
            EditError: If the document is open with text that is not saved.
        """
        _, disk_text = await self._read_disk(uri)
        self._check_open(uri, disk_text)

    async def _check_same(
        self, uri: str, path: Path, copy: Path, saved_text: str | None = None
    ) -> None:
        """Check that the copy of a document's file contains the whole text of the document.

        Callers must not await anything else between this check and the request to delete the file.

        Args:
            uri: The URI of the document.
            path: The path of its file.
            copy: The path of the copy.
            saved_text: A text that the document may have, as it can be restored from the hunk.

        Raises:
            EditError: If the file has changed, or the document has unsaved text.
            OSError: If a file can't be read.
        """
        read = self._system.read_bytes
        disk_text = await asyncio.to_thread(read, path, MAX_FILE_BYTES)
        copied = await asyncio.to_thread(read, copy, MAX_FILE_BYTES)
        self._check_open(uri, decode(copied), saved_text)
        if disk_text != copied:
            raise EditError(f"{self._name(uri)} was just modified: review it and try again.")

    def _check_open(self, uri: str, *texts: str | None) -> None:
        """Check that a document, if it is open, has one of `texts`.

        Raises:
            EditError: If the document has another text.
        """
        opened = self._workspace.document(uri)
        if opened is not None and opened.text not in texts:
            raise EditError(
                f"{self._name(uri)} has unsaved changes: save or revert them, then try again."
            )


def _label(hunk: Hunk) -> str:
    """Return the label of a hunk in the editor's undo list."""
    return f"Stet: {hunk.summary}"
