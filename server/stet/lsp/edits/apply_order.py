"""Apply or undo several hunks: in order, or as one edit with a preview.

Order of accepting: changes of whole files in the order of their creation, so that each finds the
path that the previous one produced; then edits; then removals of files that no later change uses.
The links to a file are changed after its move, and only if the file was moved.

Order of undoing: changes of whole files, the last first; then edits, which follow a move (if they
were made first, the file would have unsaved text when it is moved). The edits in a new file are
undone before the file is removed.

`editor_actions` applies a hunk, or shows a document, for a tool. `RefactorPreview` sends many
hunks as one edit to editors that are known to ask the user first (other editors apply such an edit
at once). The text that the editor sends afterwards, not its answer, shows which hunks the user
chose.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import chain
from operator import attrgetter
from typing import Any

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.editor_client import Client, document_edit
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.edits.edit_sender import EditError
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.ledger import ReviewLedger
from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.text.encoding import Encoding
from stet.text.escape import escape_line
from stet.tools.editor_actions import EditorActions
from stet.workspace.uris import canonical

_NUMBER, _CHANGED = attrgetter("number"), attrgetter("changed")


def accept_in_order(
    ledger: ReviewLedger, delivery: EditApplier, hunk_ids: Iterable[str]
) -> Coroutine[Any, Any, None]:
    """Apply hunks in the editor, as they are at the time of the call; their states show the
    result.
    """
    return _accept(ledger, delivery, [ledger.hunk(hunk_id) for hunk_id in hunk_ids])


async def _accept(ledger: ReviewLedger, delivery: EditApplier, hunks: Sequence[Hunk]) -> None:
    agreed = {hunk.id: hunk for hunk in hunks}

    async def apply(uri: str, hunk_ids: Sequence[str]) -> None:
        await delivery.apply(uri, [agreed[hunk_id] for hunk_id in hunk_ids])

    whole = sorted((hunk for hunk in hunks if hunk.kind in WHOLE_FILE), key=_NUMBER)
    last = [hunk for nth, hunk in enumerate(whole) if _is_last(hunk, whole[nth + 1 :])]
    lines = [hunk for hunk in hunks if hunk.kind not in WHOLE_FILE]
    batches = chain(_file_steps(ledger, [one for one in whole if one not in last]), [lines, last])
    await _apply_batches(ledger, apply, hunks, batches, HunkState.ACCEPTED)


def _is_last(hunk: Hunk, later: Iterable[Hunk]) -> bool:
    """Return whether a hunk removes a file whose URI no later hunk uses."""
    files = {canonical(uri) for one in later for uri in (one.uri, one.new_uri) if uri}
    return hunk.kind is HunkKind.REMOVE and canonical(hunk.uri) not in files


async def undo_in_order(
    ledger: ReviewLedger, delivery: EditApplier, hunk_ids: Iterable[str]
) -> None:
    """Undo accepted hunks in the editor; their states show the result."""
    hunks = [ledger.hunk(hunk_id) for hunk_id in hunk_ids]
    batches = _undo_batches(ledger, hunks)
    await _apply_batches(ledger, delivery.undo, hunks, batches, HunkState.UNDONE)


def _undo_batches(ledger: ReviewLedger, hunks: Iterable[Hunk]) -> Iterator[list[Hunk]]:
    """Yield the hunks to undo, in batches; undo each batch before you request the next."""
    lines = [hunk for hunk in hunks if hunk.kind not in WHOLE_FILE]
    whole = sorted((one for one in hunks if one.kind in WHOLE_FILE), key=_CHANGED, reverse=True)
    for steps in _file_steps(ledger, whole):
        made = {canonical(ledger.hunk(one.id).uri) for one in steps if one.kind is HunkKind.CREATE}
        within = [hunk for hunk in lines if canonical(ledger.hunk(hunk.id).uri) in made]
        yield within
        yield steps
        lines = [hunk for hunk in lines if hunk not in within]
    yield lines


def _file_steps(ledger: ReviewLedger, whole: Iterable[Hunk]) -> Iterator[list[Hunk]]:
    """Yield steps of hunks about whole files, in order; hunks of a step have no file in common.

    Apply each step before you request the next: a step may rename files.
    """
    step: list[Hunk] = []
    taken: set[str] = set()
    for hunk in whole:
        if taken & _files_of(ledger, hunk):
            yield step
            step, taken = [], set()
        step.append(hunk)
        taken |= _files_of(ledger, hunk)  # the previous step may have renamed the files
    if step:
        yield step


def _files_of(ledger: ReviewLedger, hunk: Hunk) -> set[str]:
    return {canonical(uri) for uri in (ledger.hunk(hunk.id).uri, hunk.new_uri) if uri}


async def _apply_batches(
    ledger: ReviewLedger,
    apply_hunks: Callable[[str, Sequence[str]], Awaitable[None]],
    hunks: Sequence[Hunk],
    batches: Iterable[Sequence[Hunk]],
    goal: HunkState,
) -> None:
    """Apply batches of `hunks` with one edit for each document, whatever spellings of its URI they
    use.

    A hunk about a whole file is applied separately. Link changes of a move that was tried and did
    not reach `goal` are left out. Link changes are in the group of the move; other edits of the
    same file share only its proposal.
    """
    moves = {hunk.group: hunk.id for hunk in hunks if hunk.kind is HunkKind.MOVE}
    for batch in batches:
        edits: dict[tuple[str, str], list[str]] = {}
        # Read the hunks only now: an earlier move may have renamed their files.
        for hunk in [ledger.hunk(one.id) for one in batch]:
            if hunk.kind in WHOLE_FILE:
                edits[canonical(hunk.uri), hunk.id] = [hunk.id]
            elif hunk.group not in moves or ledger.hunk(moves[hunk.group]).state is goal:
                edits.setdefault((canonical(hunk.uri), ""), []).append(hunk.id)
        await asyncio.gather(
            *(apply_hunks(ledger.hunk(edit[0]).uri, edit) for edit in edits.values())
        )


def editor_actions(
    ledger: ReviewLedger, delivery: EditApplier, client: Client, generated: GeneratedDocuments
) -> EditorActions:
    """Return the actions that tools may request of the editor."""

    async def accept_hunk(hunk_id: str) -> str:
        await accept_in_order(ledger, delivery, [hunk_id])
        hunk = ledger.hunk(hunk_id)
        if hunk.state is HunkState.ACCEPTED:
            return ""
        return hunk.reason or f"It is already {hunk.state}."

    async def show_document(stem: str, text: str) -> None:
        path = await generated.write(stem, text)
        if not await client.show_document(path.as_uri()):
            client.show_message(f"Stet: saved to {path}.")

    return EditorActions(accept_hunk, show_document)


PREVIEW_CONFIRM_SECONDS = 1.5
"""The time limit for the text with the chosen changes, after the editor's answer."""
_LEFT_OUT = "not selected in the preview"


class RefactorPreview:
    """A preview that shows hunks as one edit, from which the user chooses changes."""

    def __init__(self, ledger: ReviewLedger, delivery: EditApplier, client: Client) -> None:
        self._ledger = ledger
        self._delivery = delivery
        self._client = client

    async def show(self, hunk_ids: Sequence[str], encoding: Encoding) -> None:
        """Let the user choose from pending line hunks; the states show the chosen hunks."""
        by_file: dict[str, list[Hunk]] = {}
        for hunk in map(self._ledger.hunk, hunk_ids):
            by_file.setdefault(canonical(hunk.uri), []).append(hunk)
        changes: list[lsp.TextDocumentEdit] = []
        annotations: dict[str, lsp.ChangeAnnotation] = {}
        async with AsyncExitStack() as stack:
            # Take the locks in a fixed order, so that two previews never wait for each other.
            for uri in sorted(by_file):
                await stack.enter_async_context(self._delivery.document_lock(uri))
            try:
                for hunks in by_file.values():
                    pending, change = await self._mark_sent(hunks, encoding)
                    if pending:
                        changes.append(change)
                        annotations |= {hunk.id: _annotation(hunk) for hunk in pending}
                if not changes:
                    raise EditError("None of these hunks is pending anymore.")  # noqa: TRY301 - as the others
                await self._wait_outcome(changes, annotations)
            except EditError as reason:
                self._client.warn(f"Stet: can't show the preview. {reason}")
            finally:
                for change in changes:
                    self._ledger.outbox.cancel(change.text_document.uri, _LEFT_OUT)

    async def _mark_sent(
        self, hunks: Sequence[Hunk], encoding: Encoding
    ) -> tuple[list[Hunk], lsp.TextDocumentEdit]:
        """Mark the pending hunks of one file as sent. Return them and their edits; each edit is
        annotated with the id of its hunk.

        Raises:
            EditError: If a hunk can't be sent.
        """
        document = await self._delivery.current(hunks)
        # The hunks may have been decided while this waited for the lock.
        now = [self._ledger.hunk(hunk.id) for hunk in hunks]
        pending = [hunk for hunk in now if hunk.state is HunkState.PENDING]
        edits: list[lsp.AnnotatedTextEdit] = []
        for hunk in pending:
            one = self._ledger.edit_of(document, (hunk.id,))
            edits += [
                lsp.AnnotatedTextEdit(hunk.id, edit.range, edit.new_text)
                for edit in convert.text_edits(one, document, encoding)
            ]
        if pending:
            _ = self._ledger.outbox.send(document, [hunk.id for hunk in pending])
        return pending, document_edit(document.uri, document.version, edits)

    async def _wait_outcome(
        self, changes: list[lsp.TextDocumentEdit], annotations: dict[str, lsp.ChangeAnnotation]
    ) -> None:
        """Show the edit, and wait for its outcome.

        Raises:
            EditError: If the editor did not accept it.
        """
        edit = lsp.WorkspaceEdit(document_changes=[*changes], change_annotations=annotations)
        outcome = await self._client.preview("Stet: preview", edit)
        if not outcome.applied:
            raise EditError(outcome.reason)
        # Hunks that are not in the text by then were not selected.
        uris = [change.text_document.uri for change in changes]
        await self._delivery.confirmation.wait_arrived(uris, PREVIEW_CONFIRM_SECONDS)


def _annotation(hunk: Hunk) -> lsp.ChangeAnnotation:
    return lsp.ChangeAnnotation(
        label=escape_line(hunk.summary) or hunk.id, needs_confirmation=True, description=hunk.id
    )
