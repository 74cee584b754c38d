"""Text synchronization: apply a change to the workspace first, then to the hunks in the document.

`ReorderBuffer` sorts the changes of an editor that sends them out of order. Helix up to 25.01 sends
every notification in a separate task, so keys that arrive at once (a paste, a macro, a key held
down) are sent as versions 9, 10, 14, 11, 12, 13, 15. Its versions count by one. So a change after a
gap in the versions is held back, and changes are applied in the order of versions. A missing change
is awaited for `HOLD_SECONDS` only: Helix also counts changes that it reverts and never sends.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.file_events import DiskWatch, RenameTracker
from stet.lsp.index_adapters import IndexFeed
from stet.lsp.inline_style import BlockImport
from stet.lsp.presentation.dead_link_view import DeadLinkView
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.ledger import ReviewLedger
from stet.text.edit import TextChange
from stet.workspace.uris import canonical
from stet.workspace.workspace import Modification, ModificationKind, Workspace

log = logging.getLogger(__name__)

HOLD_SECONDS = 0.4
"""The time for which a change waits for earlier ones; overtaken changes arrive within
milliseconds.
"""
MAX_WAITING = 1000
"""The most waiting changes of one document; keys that arrive at once are fewer."""


class ReorderBuffer:
    """The changes of open documents, sorted by version; used on the event loop only."""

    def __init__(self, apply: Callable[[Modification], None]) -> None:
        """Create the buffer; `apply` is called with every change once, in order."""
        self._apply = apply
        self._last: dict[str, int] = {}
        self._held: dict[str, dict[int, Modification]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def opened(self, uri: str, version: int) -> None:
        """Start a document at `version`. Apply waiting changes first: they belong to its earlier
        text.
        """
        key = canonical(uri)
        self._flush(key)
        self._last[key] = version

    def closed(self, uri: str) -> None:
        """Apply the waiting changes of a document, then discard it."""
        key = canonical(uri)
        self._flush(key)
        self._last.pop(key, None)

    def change(self, modification: Modification) -> None:
        """Apply a change now, or after the earlier changes have arrived."""
        key, version = canonical(modification.uri), modification.version
        last = self._last.get(key)
        if last is None or version is None or version <= last:
            if last is not None and version is not None and version < last:
                log.warning("%r: version %d came behind %d", modification.uri, version, last)
            self._apply(modification)
            return
        waiting = self._held.setdefault(key, {})
        if version in waiting:
            # The version does not order these two changes: apply them as they arrived.
            self._flush(key)
            self._apply(modification)
            return
        waiting[version] = modification
        self._apply_next(key, waiting)
        if len(waiting) > MAX_WAITING:
            self._flush(key)

    def _apply_next(self, key: str, waiting: dict[int, Modification]) -> None:
        """Apply the waiting changes without a gap before them; start a timer if others are left."""
        while (following := waiting.pop(self._last[key] + 1, None)) is not None:
            self._last[key] += 1
            self._apply(following)
        if not waiting:
            self._forget(key)
        elif key not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[key] = loop.call_later(HOLD_SECONDS, self._flush, key)

    def _flush(self, key: str) -> None:
        """Apply all waiting changes in the order of versions; missing ones are not awaited any
        more.
        """
        waiting = self._forget(key)
        for version in sorted(waiting):
            self._last[key] = version
            self._apply(waiting[version])

    def _forget(self, key: str) -> Mapping[int, Modification]:
        """Remove the waiting changes of a document; return them by version."""
        if timer := self._timers.pop(key, None):
            timer.cancel()
        return self._held.pop(key, {})


@dataclass(eq=False)
class TextSync:
    """The receiver of open, change, save and close; see `stet.lsp.connection.protocol`.

    For speed, parts that are not concerned with a document are not called at a keystroke.

    Attributes:
        workspace: The workspace, which stores the text.
        ledger: The ledger, whose hunks move with the text.
        renames: The detection of renames, which gets opened and closed documents.
        generated: The registry of Stet's own documents.
        disk: The watch of files with hunks, which gets file events.
        feed: The search index, which gets file events.
        blocks: The import of blocks of other programs.
        with_hunks_opened: A function that is called after a document with hunks was opened.
        is_in_other_editor: A function that returns whether hunks of a document wait in another editor.
        closed: A function that is called after a document was closed.
        completing: The canonical URIs of documents whose change ends an inline completion.
        edited: A function that is called at the change of such a document.
        dead_links: The view of dead links, whose marks move with the text.
        reorders: Whether to sort changes, for an editor that sends them out of order.
    """

    workspace: Workspace
    ledger: ReviewLedger
    renames: RenameTracker
    generated: GeneratedDocuments
    disk: DiskWatch
    feed: IndexFeed
    blocks: BlockImport
    with_hunks_opened: Callable[[str], None]
    is_in_other_editor: Callable[[str], bool]
    closed: Callable[[str], None]
    completing: Collection[str] = ()
    edited: Callable[[], None] = lambda: None
    dead_links: DeadLinkView | None = None
    reorders: bool = False

    def __post_init__(self) -> None:
        self._reorder_buffer = ReorderBuffer(self.apply) if self.reorders else None

    def open(self, params: lsp.DidOpenTextDocumentParams, lines: list[str] | None = None) -> None:
        """Handle a document that was opened, or opened again with another text. `lines` are the
        lines of the text, if they are known.
        """
        document = params.text_document
        uri = document.uri
        modification = Modification(
            ModificationKind.OPENED,
            uri,
            version=document.version,
            language_id=str(document.language_id),
            text=document.text,
            lines=lines,
        )
        if self._reorder_buffer is not None:
            self._reorder_buffer.opened(uri, document.version)
        if self.generated.is_generated(uri):
            self.generated.apply(modification)
            return
        changes = self.workspace.apply(modification)
        self.blocks.opened(uri)
        self.renames.opened(uri, document.text)
        if self.ledger.live(uri) or self.is_in_other_editor(uri):
            # Eglot does not show diagnostics that were sent before the file was open.
            self.with_hunks_opened(uri)
        if changes:
            self._update_hunks(uri, changes)
        elif (buffer := self.workspace.buffer(uri)) is not None:
            self.ledger.opened(uri, buffer.lines)

    def change(self, params: object) -> None:
        """Handle `textDocument/didChange`; this runs at every keystroke."""
        modification = convert.change_modification(params)
        if self._reorder_buffer is None:
            self.apply(modification)
        else:
            self._reorder_buffer.change(modification)

    def apply(self, modification: Modification) -> None:
        """Apply a change, in the order of versions."""
        uri, key = modification.uri, canonical(modification.uri)
        if key in self.generated.opened:
            self.generated.apply(modification)
            return
        changes = self.workspace.apply(modification)
        if key in self.completing:
            self.edited()
        if self.dead_links is not None and key in self.dead_links.marked:
            self.dead_links.edited(uri)
        if changes:
            lines = self._update_hunks(uri, changes)
            if key in self.blocks.notes:
                self.blocks.changed(uri, changes, lines)

    def save(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Handle a document that was saved. If the editor sends the text, this text is
        authoritative.
        """
        uri = params.text_document.uri
        modification = Modification(ModificationKind.SAVED, uri, text=params.text)
        if canonical(uri) in self.generated.opened:
            self.generated.apply(modification)
            return
        if changes := self.workspace.apply(modification):
            self._update_hunks(uri, changes)
        self.blocks.opened(uri)

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Handle a document that was closed; its hunks keep their places in the last text."""
        uri = params.text_document.uri
        modification = Modification(ModificationKind.CLOSED, uri)
        if self._reorder_buffer is not None:
            self._reorder_buffer.closed(uri)
        if canonical(uri) in self.generated.opened:
            self.generated.apply(modification)
            return
        buffer = self.workspace.buffer(uri)
        self.workspace.apply(modification)
        self.blocks.closed(uri)
        self.feed.changed([uri])
        self.closed(uri)
        if buffer is not None:
            self.ledger.closed(uri)
            if self.ledger.is_tracked(uri):
                self.renames.closed(uri, buffer.text)

    def changed_on_disk(self, params: object) -> None:
        """Handle `workspace/didChangeWatchedFiles`; `params` is unchecked JSON."""
        uris = convert.watched_uris(params)
        self.disk.changed(uris)
        self.feed.changed(uris)

    def _update_hunks(self, uri: str, changes: tuple[TextChange, ...]) -> Sequence[str]:
        """Move the hunks of a document whose text has changed; return its lines."""
        buffer = self.workspace.buffer(uri)
        assert buffer is not None, "a document that changed is open"
        self.ledger.apply_changes(uri, changes, buffer.lines)
        return buffer.lines
