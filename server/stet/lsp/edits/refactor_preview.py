"""Many hunks in one edit that the editor shows first: Refactor Preview, where there is such a thing.

Only for editors that are known to ask: all others apply such an edit at once. What the user ticked
off is told by the text that comes back, hunk by hunk, not by the answer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from lsprotocol import types as lsp

from stet.lsp import to_lsp
from stet.lsp.editor_client import Client
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.edits.edit_errors import EditError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.text.document import TextDocument
from stet.text.encoding import Encoding
from stet.text.escape import escape_line
from stet.workspace.uris import canonical

CONFIRM_SECONDS = 1.5
"""How long after its answer the editor may take to send the text of what was ticked."""
_LEFT_OUT = "you left it out of the preview"

Edits = list[lsp.TextEdit | lsp.AnnotatedTextEdit | lsp.SnippetTextEdit]


class RefactorPreview:
    """Shows hunks as one edit to pick from."""

    def __init__(self, ledger: ReviewLedger, delivery: EditApplier, client: Client) -> None:
        self._ledger = ledger
        self._delivery = delivery
        self._client = client
        self._moved = asyncio.Event()
        ledger.subscribe(lambda _: self._moved.set())

    async def show(self, hunk_ids: Sequence[str], encoding: Encoding) -> None:
        """Have the user pick of pending hunks of lines; their states tell which they took."""
        by_file: dict[str, list[Hunk]] = {}
        for hunk in map(self._ledger.hunk, hunk_ids):
            by_file.setdefault(canonical(hunk.uri), []).append(hunk)
        changes: list[lsp.TextDocumentEdit] = []
        annotations: dict[str, lsp.ChangeAnnotation] = {}
        async with AsyncExitStack() as stack:
            # In one order always, so that two previews never wait for each other.
            for uri in sorted(by_file):
                await stack.enter_async_context(self._delivery.document_lock(uri))
            sent: list[str] = []
            try:
                for hunks in by_file.values():
                    document, edits, waiting = await self._mark_sent(hunks, encoding)
                    if waiting:
                        sent.append(document.uri)
                        changes.append(_document_edit(document, edits))
                        annotations |= {hunk.id: _annotation(hunk) for hunk in waiting}
                if not changes:
                    raise EditError("Nothing of it waits any more.")  # noqa: TRY301 - as the others
                await self._wait_outcome(sent, changes, annotations)
            except EditError as reason:
                self._client.show_message(f"Stet: no preview. {reason}", lsp.MessageType.Warning)
            finally:
                for uri in sent:
                    self._ledger.outbox.cancel(uri, _LEFT_OUT)

    async def _mark_sent(
        self, hunks: Sequence[Hunk], encoding: Encoding
    ) -> tuple[TextDocument, Edits, list[Hunk]]:
        """Return the edits of the hunks of one file that are still pending, each named by its hunk.
        Mark the hunks as sent.

        Raises:
            EditError: If one of them can't be.
        """
        document = await self._delivery.current(hunks)
        # Something else may have decided them while the file was held.
        now = [self._ledger.hunk(hunk.id) for hunk in hunks]
        waiting = [hunk for hunk in now if hunk.state is HunkState.PENDING]
        edits: Edits = []
        for hunk in waiting:
            one = self._ledger.edit_of(document, (hunk.id,))
            edits += [
                lsp.AnnotatedTextEdit(hunk.id, edit.range, edit.new_text)
                for edit in to_lsp.text_edits(one, document, encoding)
            ]
        if waiting:
            _ = self._ledger.outbox.send(document, [hunk.id for hunk in waiting])
        return document, edits, waiting

    async def _wait_outcome(
        self,
        uris: Sequence[str],
        changes: Sequence[lsp.TextDocumentEdit],
        annotations: Mapping[str, lsp.ChangeAnnotation],
    ) -> None:
        """Show the edit, and wait for what comes of it.

        Raises:
            EditError: If the editor did not take it.
        """
        edit = lsp.WorkspaceEdit(
            document_changes=list(changes), change_annotations=dict(annotations)
        )
        outcome = await self._client.preview("Stet: preview", edit)
        if not outcome.applied:
            raise EditError(outcome.reason)
        try:
            async with asyncio.timeout(CONFIRM_SECONDS):
                while not all(self._ledger.outbox.arrived(uri) for uri in uris):
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            return  # those that are not in the text were not ticked


def _annotation(hunk: Hunk) -> lsp.ChangeAnnotation:
    return lsp.ChangeAnnotation(
        label=escape_line(hunk.summary) or hunk.id, needs_confirmation=True, description=hunk.id
    )


def _document_edit(document: TextDocument, edits: Edits) -> lsp.TextDocumentEdit:
    named = lsp.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
    return lsp.TextDocumentEdit(named, edits)
