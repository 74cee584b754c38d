"""One edit of one document to the editor, and back: sent, waited for, put right, or refused."""

import logging
from collections.abc import Callable
from itertools import accumulate

from stet.lsp import to_lsp
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.editor_client import ApplyOutcome, Client
from stet.lsp.edits.edit_confirmation import EditConfirmation
from stet.lsp.edits.edit_errors import (
    EditError,
    EditMisapplied,
    EditRefused,
    EditUnanswered,
    EditUnconfirmed,
)
from stet.review.ledger import ReviewLedger
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)


class EditSender:
    """Has the editor change texts."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        editor: Callable[[], ClientCapabilities],
    ) -> None:
        """`editor` tells which one it is, once it has said so."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._editor = editor
        self._arrivals = EditConfirmation(workspace, ledger, client)
        self._unseen: dict[str, str] = {}

    async def apply(self, document: TextDocument, edit: TextEdit, label: str) -> None:
        """Have the editor change a document.

        Raises:
            EditError: If it did not, or not all of it, or that can't be told; the hunks are told.
        """
        self._check_known(document)
        wire = _before_the_last_line_end(edit, document)
        outcome = await self._send(document, wire, label)
        if await self._arrivals.wait_confirmed(document, wire, outcome):
            return
        problem = _error_of(outcome) if outcome.reason else self._unconfirmed_error(document)
        meant = self._arrivals.find_misapplied(document, wire)
        if meant is not None:
            await self._revert_misapplied(meant, label)
            problem = EditMisapplied(
                "The editor applied the edit in the wrong place, behind what you were typing."
            )
        self._ledger.outbox.cancel(document.uri, str(problem))
        raise problem

    def _check_known(self, document: TextDocument) -> None:
        """Make sure that a file that is not open has the text that an edit is made for.

        Raises:
            EditError: If an edit of it may stand in a buffer that we have not seen: made again, it would
                stand there twice, and another one in the wrong place.
        """
        key = canonical(document.uri)
        if self._unseen.get(key) != document.text or document.version is not None:
            self._unseen.pop(key, None)
            return
        reason = (
            f"The editor said yes to an edit of {self._name(document)} before, and it was not seen. "
            "Open the file, or save it, and then accept what still waits."
        )
        self._ledger.outbox.cancel(document.uri, reason)
        raise EditError(reason)

    def _unconfirmed_error(self, document: TextDocument) -> EditError:
        """Why an edit that the editor said yes to counts as not applied."""
        if document.version is not None or self._arrivals.is_open(document.uri):
            return EditError(
                "The editor said that it applied the edit, but its text does not show it."
            )
        self._unseen[canonical(document.uri)] = document.text
        return EditUnconfirmed(
            "The editor said that it applied the edit, but it has not sent the text of "
            f"{self._name(document)}, which reads on the disk as before. Open it, or save it: if the "
            "edit is there, it counts as accepted; if not, accept it again."
        )

    def _name(self, document: TextDocument) -> str:
        return self._workspace.snapshot().name_of(document.uri)

    async def _send(self, document: TextDocument, edit: TextEdit, label: str) -> ApplyOutcome:
        edits = to_lsp.text_edits(edit, document, self._workspace.encoding)
        version = wire_version(document.version, self._editor().name)
        return await self._client.apply_edit(label, document.uri, version, edits)

    async def _revert_misapplied(self, expected: TextDocument, label: str) -> None:
        """Restore the user's text after an edit was applied in the wrong place."""
        now = self._workspace.document(expected.uri)
        if now is not None:
            outcome = await self._send(now, _difference(now, expected), label)
            if not outcome.applied or not await self._arrivals.wait_for_text(
                expected.uri, expected.text
            ):
                log.warning("%s: the misplaced edit could not be taken back", expected.uri)


def _error_of(outcome: ApplyOutcome) -> EditError:
    """Return the error for an edit that the editor did not apply."""
    return EditRefused(outcome.reason) if outcome.is_answered else EditUnanswered(outcome.reason)


def wire_version(version: int | None, editor: str) -> int | None:
    """Return the version that an edit of a document with `version` is sent with. `editor` is the
    name of the editor.
    """
    if version == 0 and editor == "neovim":
        # It doesn't check a version that is 0, its first; and from there it jumps beyond 1.
        return 1
    return version


def _difference(before: TextDocument, after: TextDocument) -> TextEdit:
    """Return the edit of whole lines that turns one text into the other."""
    starts = list(accumulate(map(len, before.lines), initial=0))
    return TextEdit(
        tuple(
            Replacement(
                starts[hunk.old_start], starts[hunk.old_start + len(hunk.old)], "".join(hunk.new)
            )
            for hunk in diff_lines(before.lines, after.lines)
        )
    )


def _before_the_last_line_end(edit: TextEdit, document: TextDocument) -> TextEdit:
    """`edit` with lines appended at the end written before the last line end; the result is the same.

    Neovim leaves an empty line behind lines that are inserted behind the last line end.
    """
    *others, last = edit.replacements
    end = line_end(document.lines[-2]) if document.lines[-1] == "" and document.text else ""
    n = len(document.text)
    if not end or last.start != n or not last.text.endswith(end):
        return edit
    if others and others[-1].end == n:
        replaced = others.pop()
        return TextEdit((*others, Replacement(replaced.start, n, replaced.text + last.text)))
    body = end + last.text.removesuffix(end)
    return TextEdit((*others, Replacement(n - len(end), n - len(end), body)))
