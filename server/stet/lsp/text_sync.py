"""Text synchronisation: the world changes first, then the hunks that stand in it."""

from collections.abc import Callable
from typing import Any

from lsprotocol import types as lsp

from stet.lsp import from_lsp
from stet.lsp.block_import import BlockImport
from stet.lsp.disk_watch import DiskWatch
from stet.lsp.index_feed import IndexFeed
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.lsp.rename_tracker import RenameTracker
from stet.lsp.reorder_buffer import ReorderBuffer
from stet.review.ledger import ReviewLedger
from stet.text.change import TextChange
from stet.workspace.modification import Modification
from stet.workspace.workspace import Workspace


class TextSync:
    """Where the framework delivers open, change and close; see `stet.lsp.connection.protocol`.

    Attributes:
        workspace: Where the text goes.
        edited: Is told which document's text has changed; on the hot path.
        closed: Is told which document was closed.
        opened: Is told which document with hunks was opened.
        reorder_buffer: Puts changes in order, for an editor that does not; None for all others.
    """

    def __init__(  # noqa: PLR0913 - everybody who is to know of a text
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        renames: RenameTracker,
        generated: GeneratedDocuments,
        *,
        disk: DiskWatch,
        feed: IndexFeed,
        blocks: BlockImport,
    ) -> None:
        """Create the text synchronization. `generated` takes documents that are not the user's,
        `disk` and `feed` take file events, `blocks` looks for blocks of other programs.
        """
        self.workspace = workspace
        self.edited: Callable[[str], None] = lambda _: None
        self.closed: Callable[[str], None] = lambda _: None
        self.opened: Callable[[str], None] = lambda _: None
        self.reorder_buffer: ReorderBuffer | None = None
        self._ledger = ledger
        self._renames = renames
        self._generated = generated
        self._disk = disk
        self._feed = feed
        self._blocks = blocks

    def open(self, params: lsp.DidOpenTextDocumentParams, lines: list[str] | None = None) -> None:
        """Handle the opening, or the reopening with another text, of a document. `lines` are the
        lines of the text.
        """
        modification = from_lsp.open_modification(params, lines)
        if self.reorder_buffer is not None:
            self.reorder_buffer.opened(modification.uri, params.text_document.version)
        if self._generated.apply_if_generated(modification):
            return
        changes = self.workspace.apply(modification)
        self._blocks.opened(modification.uri)
        self._renames.opened(modification.uri, params.text_document.text)
        if self._ledger.live(modification.uri):
            # What was said of the file before it was open, eglot shows nowhere in it.
            self.opened(modification.uri)
        if not self._ledger.is_tracked(modification.uri):
            return
        buffer = self.workspace.buffer(modification.uri)
        if changes:
            self._update_hunks(modification, changes)
        elif buffer is not None:
            self._ledger.opened(modification.uri, buffer.lines)

    def change(self, params: dict[str, Any]) -> None:
        """Text was typed; the hot path."""
        modification = from_lsp.change_modification(params)
        if self.reorder_buffer is None:
            self.apply(modification)
        else:
            self.reorder_buffer.change(modification)

    def apply(self, modification: Modification) -> None:
        """Take a change whose turn has come."""
        if self._generated.apply_if_generated(modification):
            return
        changes = self.workspace.apply(modification)
        self.edited(modification.uri)
        if changes and self._ledger.is_tracked(modification.uri):
            self._update_hunks(modification, changes)
        buffer = self.workspace.buffer(modification.uri) if changes else None
        if buffer is not None:
            self._blocks.changed(modification.uri, changes, buffer.lines)

    def save(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Handle the saving of a document; if the editor sends the text, the sent text is
        authoritative.
        """
        modification = from_lsp.save_modification(params)
        if self._generated.apply_if_generated(modification):
            return
        changes = self.workspace.apply(modification)
        if changes and self._ledger.is_tracked(modification.uri):
            self._update_hunks(modification, changes)
        self._blocks.opened(modification.uri)

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Handle the closing of a document; its hunks keep their places in the last text."""
        modification = from_lsp.close_modification(params)
        if self.reorder_buffer is not None:
            self.reorder_buffer.closed(modification.uri)
        if self._generated.apply_if_generated(modification):
            return
        buffer = self.workspace.buffer(modification.uri)
        self.workspace.apply(modification)
        self._blocks.closed(modification.uri)
        self._feed.changed([modification.uri])
        self.closed(modification.uri)
        if buffer is not None:
            self._ledger.closed(modification.uri)
            if self._ledger.is_tracked(modification.uri):
                self._renames.closed(modification.uri, buffer.text)

    def changed_on_disk(self, params: object) -> None:
        """`workspace/didChangeWatchedFiles`, as the editor sent it, unchecked."""
        self._disk.handle_watched_files(params)
        self._feed.handle_watched_files(params)

    def _update_hunks(self, modification: Modification, changes: tuple[TextChange, ...]) -> None:
        buffer = self.workspace.buffer(modification.uri)
        assert buffer is not None, "a document that changed is open"
        self._ledger.apply_changes(modification.uri, changes, buffer.lines)
