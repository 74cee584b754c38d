"""Text synchronisation: the world changes first, then the hunks that stand in it."""

from typing import Any

from lsprotocol import types as lsp

from stet.lsp import from_lsp
from stet.review.ledger import ReviewLedger
from stet.text.change import TextChange
from stet.workspace.modification import Modification
from stet.workspace.workspace import Workspace


class Documents:
    """Where the framework delivers open, change and close; see `stet.lsp.wire.DocumentSink`.

    Attributes:
        workspace: Where the text goes.
    """

    def __init__(self, workspace: Workspace, ledger: ReviewLedger) -> None:
        self.workspace = workspace
        self._ledger = ledger

    def open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """A document was opened, or opened again with other text."""
        modification = from_lsp.opened(params)
        changes = self.workspace.apply(modification)
        if not self._ledger.follows(modification.uri):
            return
        document = self.workspace.document(modification.uri)
        if changes:
            self._follow(modification, changes)
        elif document is not None:
            self._ledger.reopened(document.uri, document.text, document.text_in)

    def change(self, params: dict[str, Any]) -> None:
        """Text was typed; the hot path."""
        modification = from_lsp.changed(params)
        changes = self.workspace.apply(modification)
        if changes and self._ledger.follows(modification.uri):
            self._follow(modification, changes)

    def save(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """A document was saved; some editors send its text, which then is the truth."""
        modification = from_lsp.saved(params)
        changes = self.workspace.apply(modification)
        if changes and self._ledger.follows(modification.uri):
            self._follow(modification, changes)

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """A document was closed; its hunks keep their place in the text it had."""
        modification = from_lsp.closed(params)
        document = self.workspace.document(modification.uri)
        self.workspace.apply(modification)
        if document is not None and self._ledger.follows(modification.uri):
            self._ledger.closed(modification.uri, document.text)

    def _follow(self, modification: Modification, changes: tuple[TextChange, ...]) -> None:
        buffer = self.workspace.buffer(modification.uri)
        assert buffer is not None, "a document that changed is open"
        self._ledger.follow(modification.uri, changes, buffer.text_in, lambda: buffer.text)
