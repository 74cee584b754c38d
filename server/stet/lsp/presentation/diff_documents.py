"""The documents of `stet.review`: write and show them, and apply their decisions when they are
saved.

Stet never writes into an open document, as the user may have edited it; another review gets a new
file. The hunks in a document stay pending until it is saved. In a document that accepts, the hunks
that remain are then accepted, except protected ones and conflicts, and except if the document is
damaged. Saving such a document as it was written accepts only the second time: editors save by
themselves, too.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from lsprotocol import types as lsp

from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.diff_document import (
    DiffDecisions,
    DiffDocument,
    document_name,
    locate_line,
    parse_decisions,
    render_diff,
)
from stet.review.errors import ReviewError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState
from stet.review.resolve.pending_view import as_shown
from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.text.position import Position, Range
from stet.text.render import counted
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

_PREFIX = "review"
_UNKNOWN = "This review is from another session, or its first line is missing. Nothing was changed."
_HUNK_LEFT = "Your edits are still in the review: save it again to retry"
_PROTECTED = "its file is protected: accept it separately"
_UNTOUCHED = "you changed nothing on this page. Save it again to accept its {}"
_DAMAGED = "nothing is accepted"
_MOVED_ON = "the hunk has changed since the review was opened; run `stet.review` again"


MAX_CLOSED = 8
"""The number of documents that are stored while they are not open: a new one is not open at once,
and the file of a closed one is used again.
"""


class DiffDocuments:
    """The diff documents that are open or were shown last, by the name in their first line."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        generated: GeneratedDocuments,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._generated = generated
        self._diffs: dict[str, DiffDocument] = {}
        self._saved: set[str] = set()
        """The names of the documents that were saved before."""

    def open(self, hunks: Sequence[Hunk], *, accepts: bool = False) -> str:
        """Write and show the diff document of pending hunks; return its URI.

        Args:
            hunks: The hunks, in any order.
            accepts: Whether saving the document accepts what remains in it.

        Raises:
            OSError: If the document can't be written.
        """
        snapshot = self._workspace.snapshot()
        texts = {hunk.uri: self._text(hunk.uri) for hunk in hunks}
        shown = [as_shown(hunk, snapshot) for hunk in hunks]
        diff = render_diff(shown, texts, snapshot.name_of, accepts=accepts)
        self._forget_closed()
        _ = self._diffs.pop(diff.name, None)
        self._saved.discard(diff.name)
        self._diffs[diff.name] = diff
        file = self._generated.free_name(_PREFIX, ".diff", diff.text)
        uri = snapshot.system.write_generated(file, diff.text).as_uri()
        self._client.start(self._client.show_document(uri), "show the review")
        return uri

    def saved(self, uri: str) -> Sequence[str]:
        """Handle a generated document that was saved: if it is a diff document, apply its
        decisions.

        Returns:
            The ids of the hunks that are to be accepted now.
        """
        document = self.open_document(uri)
        if document is None:
            return ()
        diff = self._diffs.get(document_name(document.text) or "")
        if diff is None:
            self._client.warn(f"Stet: {_UNKNOWN}")
            return ()
        return self._apply_decisions(diff, parse_decisions(diff, document.text))

    def open_document(self, uri: str) -> TextDocument | None:
        """Return an open diff document, or None if there is none with this URI."""
        path = path_of(uri)
        # Check the name first: the text of another document may be long.
        is_page = path is not None and path.name.startswith(_PREFIX)
        return self._generated.workspace.document(uri) if is_page else None

    def location_at_cursor(self) -> tuple[str, Range] | None:
        """Return the file and the range that a diff document shows at the user's position, or None
        if the user is not in one or it shows no file there.
        """
        here = self._generated.active_selection(self._workspace.activity.view())
        return None if here is None else self.location_at(*here)

    def location_at(self, uri: str, stretch: Range | None = None) -> tuple[str, Range] | None:
        """Return the file, and the current range in it, that a diff document shows at a place.

        Args:
            uri: The URI of the diff document.
            stretch: The range in the diff document; an empty range means its line. By default the
                user's latest selection.

        Returns:
            The URI and the range, which may end after the end of the file; None if the document
            shows no file there.
        """
        document = self.open_document(uri)
        diff = self._diffs.get(document_name(document.text) or "") if document else None
        if stretch is None:
            selection = self._generated.workspace.activity.view().selection_of(uri)
            stretch = selection.ranges[0] if selection else None
        if document is None or diff is None or stretch is None:
            return None
        last = max(stretch.line_after - 1, stretch.start.line)
        spots = [locate_line(diff, document.text, line) for line in (stretch.start.line, last)]
        hunks = [self._ledger.hunk(spot.hunk) for spot in spots if spot]
        if not hunks or spots[0] is None or hunks[0].kind is HunkKind.CREATE:
            return None
        first = Position(spots[0].line_in(hunks[0]), 0)
        is_one_file = canonical(hunks[-1].uri) == canonical(hunks[0].uri)
        if stretch.is_empty or spots[1] is None or not is_one_file:
            return hunks[0].uri, Range(first, first)
        end = Position(max(spots[1].line_in(hunks[1]), first.line) + 1, 0)
        return hunks[0].uri, Range(first, end)

    def _forget_closed(self) -> None:
        """Discard documents that are not open, except the latest `MAX_CLOSED` - 1 of them."""
        documents = self._generated.workspace.snapshot().documents.values()
        opened = {document_name(document.text) for document in documents}
        closed = [name for name in self._diffs if name not in opened]
        for name in closed[: 1 - MAX_CLOSED]:
            del self._diffs[name]
            self._saved.discard(name)

    def _apply_decisions(self, diff: DiffDocument, decisions: DiffDecisions) -> Sequence[str]:
        """Apply the decisions of a saved document; return the ids of the hunks to accept."""
        refused = list(decisions.refused)
        is_first = diff.name not in self._saved
        self._saved.add(diff.name)
        is_untouched = not (decisions.rejected or decisions.amended or decisions.refused)
        decided = {*decisions.rejected, *dict(decisions.amended), *dict(decisions.refused)}
        listed = (section.hunk.id for section in diff.sections)
        remaining = [
            one for one in listed if one not in decided and self._ledger.hunk(one).state in OPEN
        ]
        if diff.accepts and is_untouched and is_first and remaining:
            self._client.show_message(
                f"Stet: {_UNTOUCHED.format(counted(len(remaining), 'hunk'))}."
            )
            return ()
        amended: dict[str, Hunk] = {}
        in_text: dict[str, dict[str, str]] = {}
        n_rejected = self._reject(decisions.rejected, refused)
        for hunk_id, new in decisions.amended:
            if self._ledger.hunk(hunk_id).new == new:
                continue
            try:
                hunk = self._hunk_as_shown(diff, hunk_id)
                if self._ledger.blocks.is_whole(hunk_id):
                    in_text.setdefault(hunk.uri, {})[hunk_id] = new
                else:
                    amended[hunk_id] = self._ledger.amend(hunk_id, new)
            except ReviewError as error:
                refused.append((hunk_id, str(error)))
        self._update_hunks(diff.name, amended)
        diff = self._diffs[diff.name]
        accepted = self._to_accept(diff, [*remaining, *amended], refused) if diff.accepts else []
        n_amended = 0 if diff.accepts else len(amended)
        self._report(n_rejected, n_amended, refused, n_accepted=len(accepted))
        if in_text:
            self._client.start(self._amend_in_text(diff.name, in_text), "amend in the text")
        return accepted

    def _to_accept(
        self, diff: DiffDocument, hunk_ids: Sequence[str], refused: list[tuple[str, str]]
    ) -> list[str]:
        """Return the hunks that a document accepts; add the others to `refused`, each with a
        reason.

        A damaged document accepts nothing, as the user may have meant to delete what remains.
        """
        if refused:
            refused.append(("the rest", _DAMAGED))
            return []
        accepted = []
        for hunk_id in hunk_ids:
            try:
                hunk = self._hunk_as_shown(diff, hunk_id)
            except ReviewError as error:
                refused.append((hunk_id, str(error)))
                continue
            if hunk.protected:
                refused.append((hunk_id, _PROTECTED))
            elif hunk.state is not HunkState.PENDING or hunk.reason == UNDONE_IN_EDITOR:
                refused.append((hunk_id, hunk.reason or f"it is a {hunk.state}"))
            else:
                accepted.append(hunk_id)
        return accepted

    def _reject(self, hunk_ids: Sequence[str], refused: list[tuple[str, str]]) -> int:
        """Reject the open hunks; return their number, and add those that fail to `refused`."""
        n_rejected = 0
        for hunk_id in hunk_ids:
            if self._ledger.hunk(hunk_id).state in OPEN:
                try:
                    self._ledger.reject(hunk_id)
                    n_rejected += 1
                except ReviewError as error:
                    refused.append((hunk_id, str(error)))
        return n_rejected

    async def _amend_in_text(self, name: str, files: Mapping[str, Mapping[str, str]]) -> None:
        """Amend hunks that are blocks in the text; `files` has the new texts by URI and hunk id."""
        amended: dict[str, Hunk] = {}
        refused: list[tuple[str, str]] = []
        for uri, texts in files.items():
            try:
                await self._ledger.blocks.amend(uri, texts)
            except ReviewError as error:
                why = f"{str(error).rstrip('.')}. {_HUNK_LEFT}"
                refused += [(hunk_id, why) for hunk_id in texts]
            else:
                amended |= {hunk_id: self._ledger.hunk(hunk_id) for hunk_id in texts}
        self._update_hunks(name, amended)
        self._report(0, len(amended), refused)

    def _hunk_as_shown(self, diff: DiffDocument, hunk_id: str) -> Hunk:
        """Return an open hunk that has not changed since the diff document was written.

        Raises:
            ReviewError: If the hunk is decided or has changed.
        """
        shown = next(section.hunk for section in diff.sections if section.hunk.id == hunk_id)
        now = self._ledger.hunk(hunk_id)
        if now.state not in OPEN:
            raise ReviewError(f"already {now.state}")
        if now.hash != shown.hash:
            raise ReviewError(_MOVED_ON)
        return now

    def _update_hunks(self, name: str, amended: Mapping[str, Hunk]) -> None:
        """Replace hunks of a diff document by their current versions."""
        diff = self._diffs[name]
        sections = (
            dataclasses.replace(section, hunk=amended.get(section.hunk.id, section.hunk))
            for section in diff.sections
        )
        self._diffs[name] = dataclasses.replace(diff, sections=tuple(sections))

    def _report(
        self,
        n_rejected: int,
        n_amended: int,
        refused: list[tuple[str, str]],
        *,
        n_accepted: int = 0,
    ) -> None:
        counts = ((n_accepted, "accepted"), (n_rejected, "rejected"), (n_amended, "amended"))
        done = [f"{counted(n, 'hunk')} {what}" for n, what in counts if n]
        parts = [", ".join(done)] if done else []
        parts += [f"{hunk_id} unchanged: {escape_line(why)}" for hunk_id, why in refused]
        if parts:
            kind = lsp.MessageType.Warning if refused else lsp.MessageType.Info
            self._client.show_message(f"Stet: {'; '.join(parts)}.", kind)

    def _text(self, uri: str) -> str:
        document = self._workspace.shown(uri)
        return document.text if document else self._ledger.base_text(uri) or ""
