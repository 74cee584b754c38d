"""Apply approved hunks in the editor and undo accepted ones; the text that the editor sends
confirms them.

One `workspace/applyEdit` is sent for each document, with the version that its ranges belong to. The
editor's answer is a hint: some editors confirm an edit that they did not apply, applied in part or
applied in another place; some answer late; some deny an applied edit. So the text decides, for each
hunk.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from stet.lsp.editor_client import Client
from stet.lsp.edits.edit_sender import (
    EditError,
    EditRefused,
    EditSender,
    EditUnconfirmed,
    FileOpen,
    problem_of,
)
from stet.lsp.edits.file_hunk_applier import FileHunkApplier
from stet.lsp.file_events import RenameTracker
from stet.review.errors import UndoConflict
from stet.review.ledger import ReviewLedger
from stet.review.outbox import exceeds_approval
from stet.review.policy.authorization import reauthorize
from stet.review.proposal import LIVE, WHOLE_FILE, Hunk, HunkState
from stet.text.diff import unified_diff
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)


Approval = dict[str, Hunk]
"""The line hunks of one approval, by id, as the user saw them; a withdrawn hunk is removed."""

SHOWN_AFTER_FAILURES = 2
"""The number of failed attempts of a hunk, undo included, after which the edit is shown as a
patch.
"""
_TEXT_CHANGED = "You edited this text."


class EditApplier:
    """The service that sends approved hunks to the editor, one edit at a time for each document."""

    def __init__(
        self, workspace: Workspace, ledger: ReviewLedger, client: Client, renames: RenameTracker
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._files = FileHunkApplier(workspace, ledger, client, renames, self._apply_closed)
        self._sender = EditSender(workspace, ledger, client)
        self.confirmation = self._sender.confirmation
        self.closed = self._files.closed
        self._approvals: list[Approval] = []
        self._rejected: dict[str, str] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._failures: Counter[str] = Counter()
        self._n_pauses = 0
        self._may_send = asyncio.Event()
        self._may_send.set()

    def pause(self) -> Callable[[], None]:
        """Delay `apply` and `undo` until the returned function has been called once. Pauses nest.

        Meanwhile approvals are recorded, with the text that the user approved.
        """
        self._n_pauses += 1
        self._may_send.clear()

        def resume() -> None:
            self._n_pauses -= 1
            if not self._n_pauses:
                self._may_send.set()

        return resume

    async def apply(self, uri: str, hunks: Sequence[Hunk]) -> None:
        """Apply approved hunks of one file; the states of the hunks show the outcome.

        Line hunks stay `sent` while the user types faster than the editor confirms; see `withdraw`.

        Args:
            uri: The file, which may have had another URI when the hunks were approved.
            hunks: The hunks as approved. A hunk that now removes more of the user's text becomes
                pending again.
        """
        approval = {one.id: one for one in hunks if one.kind not in WHOLE_FILE}
        self._approvals.append(approval)
        try:
            if self.document_lock(uri).locked():
                self._ledger.outbox.queue(uri, tuple(approval))
            await self._apply_hunks(uri, [hunk.id for hunk in hunks], HunkState.PENDING, approval)
        finally:
            self._approvals = [one for one in self._approvals if one is not approval]

    def can_withdraw(self, hunk_id: str) -> bool:
        """Return whether the approval of a hunk can be withdrawn: it is approved or deferred, not
        done.
        """
        is_due = self._is_approved(hunk_id) or hunk_id in self._files.deferred
        return is_due and self._ledger.hunk(hunk_id).state in LIVE

    def _is_approved(self, hunk_id: str) -> bool:
        return any(hunk_id in approval for approval in self._approvals)

    async def _apply_closed(self, hunk: Hunk) -> None:
        await self._apply_hunks(hunk.uri, (hunk.id,), hunk.state, None)

    def withdraw(self, hunk_id: str, rejected: str | None = None) -> None:
        """Withdraw the approval of a hunk for which `can_withdraw` is true; it becomes pending.

        If an edit of the hunk is in flight and arrives, it is undone.

        Args:
            hunk_id: The id of the hunk.
            rejected: The reason, if the user rejects the hunk: it is rejected after that undo.
        """
        for approval in self._approvals:
            approval.pop(hunk_id, None)
        self._files.deferred.pop(hunk_id, None)
        self._ledger.outbox.withdraw(hunk_id)
        if rejected is not None and self._ledger.outbox.is_withdrawn(hunk_id):
            self._rejected[hunk_id] = rejected

    async def undo(self, uri: str, hunk_ids: Sequence[str]) -> None:
        """Undo accepted hunks of one file in the editor; their states show the result."""
        await self._apply_hunks(uri, hunk_ids, HunkState.ACCEPTED, None)

    async def write(
        self, uri: str, edit_of: Callable[[TextDocument], TextEdit | None], label: str
    ) -> None:
        """Apply an edit that the ledger has prepared, in the editor.

        Args:
            uri: The URI of the document.
            edit_of: A function that returns the edit for the current text, or None if no edit is
                needed.
            label: The name of the edit in the editor's undo list.

        Raises:
            EditError: If the edit is not allowed, or the editor did not apply it.
        """
        async with self.document_lock(uri):
            current = [hunk for hunk in self._ledger.live(uri) if hunk.kind not in WHOLE_FILE]
            await self._check_policy(current)
            while True:
                document = await self._document(uri)
                edit = edit_of(document)
                if edit is None:
                    return
                problem = await self._sender.apply(document, edit, label)
                if problem is None:
                    return
                if not await self._sender.wait_for_newer_text(document, problem):
                    raise problem

    def document_lock(self, uri: str) -> asyncio.Lock:
        """Return the lock of a document; hold it while an edit of the document is sent."""
        return self._locks.setdefault(canonical(uri), asyncio.Lock())

    async def current(self, hunks: Sequence[Hunk]) -> TextDocument:
        """Return the current text of the document of pending hunks, after a policy check.

        Raises:
            EditError: If the policy refuses the hunks, or the text can't be read.
        """
        await self._check_policy(hunks)
        return await self._document(hunks[0].uri)

    async def _apply_hunks(
        self, uri: str, ids: Sequence[str], state: HunkState, approval: Approval | None
    ) -> None:
        """Apply the hunks if `state` is pending; undo them if `state` is accepted."""
        async with self.document_lock(uri):
            await self._may_send.wait()
            whole = [hunk for hunk in ids if self._ledger.hunk(hunk).kind in WHOLE_FILE]
            work = [self._apply_file(hunk, state) for hunk in whole]
            if lines := tuple(hunk for hunk in ids if hunk not in whole):
                work.append(self._apply_lines(uri, lines, approval))
            problems = [await problem_of(part) for part in work]
        done = "undone" if state is HunkState.ACCEPTED else "applied"
        for problem in problems:
            self._report(uri, problem, done)

    def _report(self, uri: str, problem: EditError | None, done: str) -> None:
        """Show the user why hunks were not applied or undone (`done`), if there was a problem."""
        if problem is not None:
            how = "seen" if isinstance(problem, EditUnconfirmed) else done
            log.warning("%s: not %s: %s", uri, how, problem)
            self._client.warn(f"Stet: not {how}. {problem}")

    async def _apply_file(self, hunk_id: str, state: HunkState) -> None:
        """Apply or undo a hunk about a whole file.

        Raises:
            EditError: If the file operation is not possible.
            OSError: If the disk refuses.
        """
        hunk = self._ledger.hunk(hunk_id)
        if hunk.state is not state:
            return
        await self._check_policy([hunk])
        hunk = self._ledger.hunk(hunk_id)
        if hunk.state is state:  # the hunk was not decided meanwhile
            apply = self._files.undo if state is HunkState.ACCEPTED else self._files.accept
            try:
                await apply(hunk)
            except FileOpen:
                self._files.defer(hunk)

    async def _apply_lines(
        self, uri: str, hunk_ids: tuple[str, ...], approval: Approval | None
    ) -> None:
        """Apply line hunks, or undo them if `approval` is None. Retry as often as the user's typing
        makes an edit outdated.

        Raises:
            EditError: If the edit is not allowed, the editor did not apply it, or the file was
                renamed while the edit was in flight; if the edit arrives later, it is still
                recognized.
        """
        reason = ""
        try:
            while left := self._remaining(hunk_ids, approval):
                self._check_name(uri, left)
                if not await self._apply_once(uri, left, approval):
                    break
            self._check_name(uri, self._remaining(hunk_ids, approval))
        except EditError as problem:
            reason = str(problem)
            raise
        finally:
            self._ledger.outbox.give_up(uri, hunk_ids, reason)

    def _remaining(self, hunk_ids: Iterable[str], approval: Approval | None) -> tuple[str, ...]:
        """Return the hunks that still have to be applied or undone."""
        if approval is None:
            return tuple(h for h in hunk_ids if self._ledger.hunk(h).state is HunkState.ACCEPTED)
        is_queued = self._ledger.outbox.is_queued
        return tuple(
            hunk_id
            for hunk_id in hunk_ids
            if hunk_id in approval
            and (self._ledger.hunk(hunk_id).state is HunkState.PENDING or is_queued(hunk_id))
        )

    def _check_name(self, uri: str, hunk_ids: Iterable[str]) -> None:
        """Check that hunks still belong to the file `uri`.

        Raises:
            EditError: If the file was renamed.
        """
        for hunk in map(self._ledger.hunk, hunk_ids):
            if canonical(hunk.uri) != canonical(uri):
                name = self._workspace.snapshot().name_of(hunk.uri)
                raise EditError(f"The file is now {name}. Check there, and retry if it is missing.")

    async def _apply_once(self, uri: str, ids: tuple[str, ...], approval: Approval | None) -> bool:
        """Apply hunks of one existing document.

        Returns:
            Whether to try again because the text has changed since the edit was made.

        Raises:
            EditError: If the edit is not allowed, or the editor did not apply it.
        """
        document = await self.current([self._ledger.hunk(hunk_id) for hunk_id in ids])
        valid = self._still_valid(ids, approval)
        if not valid:
            return False  # the user withdrew the approval meanwhile
        edit = self._mark_sent(document, valid, back=approval is None)
        if not self._ledger.outbox.is_sent(uri):
            return False  # the text contains the edit already
        label = f"Stet: {self._ledger.hunk(valid[0]).summary}"
        problem = await self._sender.apply(document, edit, label)
        await self._undo_withdrawn(uri, valid, approval)
        left = self._remaining(valid, approval)
        if problem is None or not left:
            return False
        if approval is not None:
            self.confirmation.expect(uri, left)
        # If an edit was applied in part, the editor or the user has refused the rest of it.
        expected = valid if approval is None else [one for one in valid if one in approval]
        is_whole = isinstance(problem, EditRefused) or len(left) == len(expected)
        if is_whole and await self._wait_to_retry(document, problem, left, approval):
            return True
        self._failures.update(left)
        # After so many failures another attempt is pointless.
        gave_up = any(self._failures[hunk_id] >= SHOWN_AFTER_FAILURES for hunk_id in left)
        if gave_up or not self._client.capabilities.apply_edit:
            where = await self._offer_manual_edit(document, edit, f"refused-{left[0]}.patch")
            raise type(problem)(f"{problem}{where}")
        raise problem

    async def _offer_manual_edit(self, document: TextDocument, edit: TextEdit, file: str) -> str:
        """Write the edit that the editor won't apply as a patch; show the patch, and return its
        place.
        """
        snapshot = self._workspace.snapshot()
        name, after = snapshot.name_of(document.uri), edit.apply(document.text)
        text = unified_diff(document.text, after, f"a/{name}", f"b/{name}")
        try:
            path = await asyncio.to_thread(snapshot.system.write_generated, file, text)
        except OSError as error:
            log.warning("the refused edit could not be written: %s", error)
            return ""
        await self._client.show_document(path.as_uri())
        return f" It was saved to {path}."

    async def _wait_to_retry(
        self,
        document: TextDocument,
        problem: EditError,
        hunk_ids: tuple[str, ...],
        approval: Approval | None,
    ) -> bool:
        """Wait for newer text after a failed edit; accepted hunks are queued meanwhile.

        Returns:
            Whether to try again.
        """
        if not self._client.capabilities.apply_edit:
            return False
        if approval is not None:
            self._ledger.outbox.queue(document.uri, hunk_ids)
        return await self._sender.wait_for_newer_text(document, problem)

    async def _undo_withdrawn(
        self, uri: str, hunk_ids: Iterable[str], approval: Approval | None
    ) -> None:
        """Undo hunks that arrived although the user has withdrawn their approval meanwhile."""
        if approval is None:
            return
        withdrawn = tuple(hunk_id for hunk_id in hunk_ids if not self._is_approved(hunk_id))
        reasons = {h: self._rejected.pop(h) for h in withdrawn if h in self._rejected}
        if arrived := self._remaining(withdrawn, None):
            problem = await problem_of(self._apply_lines(uri, arrived, None))
            self._report(uri, problem, "undone")
        for hunk_id, reason in reasons.items():
            self._ledger.outbox.rejected_after_all(hunk_id, reason)

    def _still_valid(self, ids: Iterable[str], approval: Approval | None) -> tuple[str, ...]:
        """Return the hunks that change no more than the user approved; set the reason of the
        others.

        Raises:
            EditError: If there are pending hunks, and each of them changes more.
        """
        left = self._remaining(ids, approval)
        if approval is None:
            return left
        self._ledger.outbox.dequeue(left)
        pending = [hunk for hunk in map(self._ledger.hunk, left) if hunk.state is HunkState.PENDING]
        beyond = {hunk.id for hunk in pending if exceeds_approval(hunk, approval[hunk.id])}
        for hunk_id in beyond:
            self._ledger.outbox.note_reason(hunk_id, _TEXT_CHANGED)
        if left and len(beyond) == len(pending):
            raise EditError(_TEXT_CHANGED)
        return tuple(hunk.id for hunk in pending if hunk.id not in beyond)

    def _mark_sent(
        self, document: TextDocument, hunk_ids: tuple[str, ...], *, back: bool
    ) -> TextEdit:
        """Mark hunks as sent in the ledger, and return their edit; `back` undoes them.

        Raises:
            EditError: If the hunks can't be undone.
        """
        try:
            return self._ledger.outbox.send(document, hunk_ids, back=back)
        except UndoConflict as reason:
            raise EditError(str(reason)) from reason

    async def _check_policy(self, hunks: Sequence[Hunk]) -> None:
        """Authorize hunks of one file again, for the current state of the disk.

        Raises:
            EditError: If a hunk must not be applied; pending hunks get the reason.
        """
        snapshot = self._workspace.snapshot()
        # Hunks of one file and kind are equal for the policy unless their protection differs.
        kinds = {(hunk.uri, hunk.new_uri, hunk.kind, hunk.protected): hunk for hunk in hunks}
        for one in kinds.values():
            if refusal := await asyncio.to_thread(reauthorize, snapshot, one):
                for hunk in hunks:
                    self._ledger.outbox.note_reason(hunk.id, refusal.message)
                raise EditError(refusal.message)

    async def _document(self, uri: str) -> TextDocument:
        """Return the current text of a file.

        Raises:
            EditError: If the file is missing or may not be read.
        """
        document = self._workspace.document(uri)
        if document is not None:
            return document
        try:
            document = await asyncio.to_thread(self._workspace.snapshot().document_with_blocks, uri)
        except NotShown as refused:
            raise EditError(f"The file no longer exists or can't be read. {refused}") from refused
        if (opened := self._workspace.document(uri)) is not None:
            return opened  # opened while the disk was read: the editor's text is authoritative
        if document.version is None:
            self._ledger.on_disk(uri, document.text)
        return document
