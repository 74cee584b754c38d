"""Send one edit of one document to the editor, wait for the text, and repair or report a failure.

The message of `EditError` and its subclasses is a sentence for the user: why a decision was not
carried out.

If the editor refuses an edit because the user has typed meanwhile, the edit is made again for the
current text, see `EditSender.wait_for_newer_text`. Most editors report that text before they
answer; Emacs and editors that collect changes do so only when the user pauses.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable

from stet.lsp import convert
from stet.lsp.editor_client import ApplyOutcome, Client
from stet.lsp.edits.edit_confirmation import EditConfirmation
from stet.review.ledger import ReviewLedger
from stet.text.diff import line_edit
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

VERSION_REFUSAL_SECONDS = 30.0
"""The time limit for newer text after a refusal that names the version as the reason."""
OTHER_REFUSAL_SECONDS = 0.7
"""The time limit for newer text after another refusal: editors collect changes for half a second at
most."""
PAUSE_SECONDS = 0.3
"""The time without typing after which an editor that checks no versions is sent the edit again."""
TEXT_POLL_SECONDS = 0.02

_VERSION_WORDS = re.compile(
    r"version|outdated|out of date|stale|has changed|been changed|been modified|newer",
    re.IGNORECASE,
)


class EditError(Exception):
    """A decision could not be carried out; the message says why and, if it is not obvious, what to
    do.
    """


class EditUnconfirmed(EditError):
    """The editor confirmed an edit, but neither the text nor the disk contains it."""


class FileOpen(EditError):
    """A file can't be deleted yet: it is open in the editor, and the editor can't delete files."""


class EditRefused(EditError):
    """The editor answered that it did not apply an edit."""


class EditMisapplied(EditError):
    """The editor applied an edit in the wrong place; Stet has tried to restore the user's text."""


class EditUnanswered(EditError):
    """The editor has not answered; the edit may still be applied."""


async def problem_of(work: Awaitable[None]) -> EditError | None:
    """Await some work and return the `EditError` that prevented it, or None if it was done.

    An `OSError` is returned as an `EditError`.
    """
    try:
        await work
    except EditError as reason:
        return reason
    except OSError as error:
        log.warning("%s", error)
        where = f"{error.filename}: " if error.filename else ""
        return EditError(f"{where}{error.strerror or error}.")
    return None


class EditSender:
    """The service that sends edits to the editor."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, client: Client) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self.confirmation = EditConfirmation(workspace, ledger, client)
        self._unseen: dict[str, str] = {}

    async def apply(self, document: TextDocument, edit: TextEdit, label: str) -> EditError | None:
        """Apply an edit to a document in the editor.

        Returns:
            None if the edit was applied; otherwise why it was not, or only in part, or why the
            result is unknown. The hunks get the reason.
        """
        if self._is_unseen(document):
            reason = (
                f"The editor reported an earlier edit of {self._name(document)} as applied, but "
                "its text never showed it. Open or save the file, then accept the pending hunks "
                "again."
            )
            self._ledger.outbox.cancel(document.uri, reason)
            return EditError(reason)
        wire = _before_the_last_line_end(edit, document)
        outcome = await self._send(document, wire, label)
        if await self.confirmation.wait_confirmed(document, wire, outcome):
            return None
        problem = self._error_of(document, outcome)
        intended = self.confirmation.find_misapplied(document, wire)
        if intended is not None:
            await self._revert_misapplied(intended, label)
            problem = EditMisapplied(
                "The editor applied the edit in the wrong place, after the text you were typing."
            )
        self._ledger.outbox.cancel(document.uri, str(problem))
        return problem

    def _is_unseen(self, document: TextDocument) -> bool:
        """Return whether an earlier edit of a file that is not open may be in an unreported buffer.

        If sent again, the edit would be applied twice, and another edit in the wrong place.
        """
        key = canonical(document.uri)
        if self._unseen.get(key) == document.text and document.version is None:
            return True
        self._unseen.pop(key, None)
        return False

    def _error_of(self, document: TextDocument, outcome: ApplyOutcome) -> EditError:
        """Return why an edit was not applied, or counts as not applied although the editor
        confirmed it.
        """
        if outcome.reason:
            kind = EditRefused if outcome.is_answered else EditUnanswered
            return kind(outcome.reason)
        if document.version is not None or self.confirmation.is_open(document.uri):
            return EditError(
                "The editor reported the edit as applied, but its text does not show it."
            )
        self._unseen[canonical(document.uri)] = document.text
        return EditUnconfirmed(
            "The editor reported the edit as applied, but did not send the text of "
            f"{self._name(document)}, and the file on disk is unchanged. Open or save it: if the "
            "edit is there, it counts as accepted; if not, accept it again."
        )

    def _name(self, document: TextDocument) -> str:
        return self._workspace.snapshot().name_of(document.uri)

    async def _send(self, document: TextDocument, edit: TextEdit, label: str) -> ApplyOutcome:
        edits = convert.text_edits(edit, document, self._workspace.encoding)
        version = wire_version(document.version, self._client.capabilities.name)
        return await self._client.apply_edit(label, document.uri, version, edits)

    async def _revert_misapplied(self, expected: TextDocument, label: str) -> None:
        """Restore the user's text after an edit was applied in the wrong place."""
        now = self._workspace.document(expected.uri)
        if now is not None:
            outcome = await self._send(now, line_edit(now.lines, expected.lines), label)
            if not outcome.applied or not await self.confirmation.wait_for_text(
                expected.uri, expected.text
            ):
                log.warning("%s: the misplaced edit could not be undone", expected.uri)

    async def wait_for_newer_text(self, document: TextDocument, problem: EditError) -> bool:
        """Wait for a newer text than the one that a failed edit was made for.

        Args:
            document: The document that the edit was made for.
            problem: The reason why the edit was not applied.

        Returns:
            Whether there is newer text; False if none came in time, or the edit may still be
            applied.
        """
        if document.version is None or isinstance(problem, EditUnanswered):
            return False
        if self._is_newer(document):
            if isinstance(problem, EditMisapplied):
                await self._wait_for_pause(document.uri)
            return True
        if not isinstance(problem, EditRefused):
            return False
        is_version = _VERSION_WORDS.search(str(problem))
        seconds = VERSION_REFUSAL_SECONDS if is_version else OTHER_REFUSAL_SECONDS
        return await self._wait_for_newer(document, seconds)

    def _is_newer(self, document: TextDocument) -> bool:
        now = self._workspace.document(document.uri)
        # If the document was closed meanwhile, its text is on the disk.
        return now is None or now.version != document.version

    async def _wait_for_newer(self, document: TextDocument, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not self._is_newer(document):
            if loop.time() >= end:
                return False
            await asyncio.sleep(TEXT_POLL_SECONDS)
        return True

    async def _wait_for_pause(self, uri: str) -> None:
        """Wait until the user pauses: an edit that is sent earlier would be misplaced again."""
        loop = asyncio.get_running_loop()
        revision, since = self._workspace.revision(uri), loop.time()
        while loop.time() - since < PAUSE_SECONDS:
            await asyncio.sleep(TEXT_POLL_SECONDS)
            if (now := self._workspace.revision(uri)) != revision:
                revision, since = now, loop.time()


def wire_version(version: int | None, editor: str) -> int | None:
    """Return the version to send with an edit of a document, for the editor with the name
    `editor`.
    """
    if version == 0 and editor == "neovim":
        # Neovim doesn't check the version 0, its first one; its next version is above 1.
        return 1
    return version


def _before_the_last_line_end(edit: TextEdit, document: TextDocument) -> TextEdit:
    """Return `edit` with appended lines before the last line end; the result is the same.

    Neovim leaves an empty line after lines that are inserted after the last line end.
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
