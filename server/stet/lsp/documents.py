"""Text synchronisation: the world changes first, then the hunks that stand in it."""

from typing import Any

from lsprotocol import types as lsp

from stet.lsp import from_lsp
from stet.lsp.disk_watch import DiskWatch
from stet.lsp.renames import Renames
from stet.lsp.showing.own_documents import OwnDocuments
from stet.review.ledger import ReviewLedger
from stet.text.change import TextChange
from stet.workspace.modification import Modification
from stet.workspace.workspace import Workspace


class Documents:
    """Where the framework delivers open, change and close; see `stet.lsp.connection.document_sink`.

    Attributes:
        workspace: Where the text goes.
        changed_on_disk: Takes `workspace/didChangeWatchedFiles`.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        renames: Renames,
        own: OwnDocuments,
        disk: DiskWatch,
    ) -> None:
        """`own` takes what is not the user's."""
        self.workspace = workspace
        self._ledger = ledger
        self._renames = renames
        self._own = own
        self.changed_on_disk = disk.told

    def open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """A document was opened, or opened again with other text."""
        modification = from_lsp.opened(params)
        if self._own.takes(modification):
            return
        changes = self.workspace.apply(modification)
        self._renames.opened(modification.uri, params.text_document.text)
        if not self._ledger.follows(modification.uri):
            return
        buffer = self.workspace.buffer(modification.uri)
        if changes:
            self._follow(modification, changes)
        elif buffer is not None:
            self._ledger.opened(modification.uri, buffer.lines)

    def change(self, params: dict[str, Any]) -> None:
        """Text was typed; the hot path."""
        modification = from_lsp.changed(params)
        if self._own.takes(modification):
            return
        changes = self.workspace.apply(modification)
        if changes and self._ledger.follows(modification.uri):
            self._follow(modification, changes)

    def save(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """A document was saved; some editors send its text, which then is the truth."""
        modification = from_lsp.saved(params)
        if self._own.takes(modification):
            return
        changes = self.workspace.apply(modification)
        if changes and self._ledger.follows(modification.uri):
            self._follow(modification, changes)

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """A document was closed; its hunks keep their place in the text it had."""
        modification = from_lsp.closed(params)
        if self._own.takes(modification):
            return
        buffer = self.workspace.buffer(modification.uri)
        self.workspace.apply(modification)
        if buffer is not None:
            self._ledger.closed(modification.uri)
            if self._ledger.follows(modification.uri):
                self._renames.closed(modification.uri, buffer.text)

    def _follow(self, modification: Modification, changes: tuple[TextChange, ...]) -> None:
        buffer = self.workspace.buffer(modification.uri)
        assert buffer is not None, "a document that changed is open"
        self._ledger.follow(modification.uri, changes, buffer.lines)
