"""The workspace of the editor: open documents over the disk, roots, and the user's location.

`Workspace` is one of the few mutable owners. It is used on the event loop only, and `apply` is its
hot path: no disk access, no import, no copy of a text. Longer work takes a `Snapshot`.

A `Modification` is one event that an editor reports: a document opened, changed, saved or closed.
All four go through `Workspace.apply`, so there is one order of events and one place where the
workspace changes.
"""

import gc
import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from stet.privacy.redactor import Redactor
from stet.privacy.request_log import RequestLog
from stet.settings.values import Settings
from stet.system.system import System
from stet.text.block_codec import InlineBlock
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.encoding import Encoding
from stet.text.large_document import LARGE, LargeDocument
from stet.text.stripped_document import strip_blocks
from stet.workspace.activity import Activity
from stet.workspace.attachments import Attachments
from stet.workspace.ignore_rules import IgnoreRules
from stet.workspace.paths import Root, implied_roots, name_roots
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical, is_tracked, path_of
from stet.workspace.walk import WalkMemory

FULL_TEXT = -1
"""`start_line` of a `WireEdit` that replaces the whole document."""


class ModificationKind(Enum):
    """The kind of an event of a document."""

    OPENED = "opened"
    CHANGED = "changed"
    SAVED = "saved"
    CLOSED = "closed"


class WireEdit(NamedTuple):
    """One content change, as the editor sent it.

    Attributes:
        start_line: The first line, 0-based; `FULL_TEXT` if `text` is the whole new document.
        start_units: The start column, in units of the negotiated encoding.
        end_line: The last line, 0-based.
        end_units: The end column, exclusive, in units as `start_units`.
        text: The new text.
    """

    start_line: int
    start_units: int
    end_line: int
    end_units: int
    text: str

    @classmethod
    def full(cls, text: str) -> "WireEdit":
        """Return the change that makes `text` the whole document."""
        return cls(FULL_TEXT, 0, FULL_TEXT, 0, text)


@dataclass(frozen=True, slots=True)
class Modification:
    """One event of a document that an editor reports.

    Attributes:
        kind: The kind of the event.
        uri: The document's URI, in the editor's spelling.
        version: The editor's version number; None if the event has none (saved, closed).
        language_id: The editor's id of the language; opened only.
        text: The whole text: always with opened, sometimes with saved.
        edits: The edits, each relative to the text after the edit before; changed only.
        lines: The lines of the text, if it is already split; opened only. They are not copied.
    """

    kind: ModificationKind
    uri: str
    version: int | None = None
    language_id: str = ""
    text: str | None = None
    edits: tuple[WireEdit, ...] = ()
    lines: list[str] | None = field(default=None, compare=False, repr=False)


MAX_CHANGES = 10_000
"""The maximum number of remembered changes of a document."""
MAX_CHARACTERS = 8_000_000
"""The maximum total length of the remembered changes' inserted text, in code points."""


class DocumentHistory:
    """The latest changes of a document; the oldest are discarded first.

    Attributes:
        revision: The number of the present text; each change adds one. It starts above every
            revision from before the document was last closed, so a revision never means two texts.
    """

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self._changes: deque[TextChange] = deque()
        self._n_characters = 0

    def append(self, change: TextChange) -> None:
        """Remember `change`."""
        changes = self._changes
        changes.append(change)
        self.revision += 1
        self._n_characters += len(change.text)
        while len(changes) > MAX_CHANGES or self._n_characters > MAX_CHARACTERS:
            self._n_characters -= len(changes.popleft().text)

    def since(self, revision: int) -> tuple[TextChange, ...] | None:
        """Return the changes after `revision`, oldest first; None if the changes are no longer
        known.
        """
        n_changes = self.revision - revision
        if not 0 <= n_changes <= len(self._changes):
            return None
        return tuple(islice(self._changes, len(self._changes) - n_changes, None))

    def remembered(self) -> tuple[TextChange, ...]:
        """Return all changes that are still known, oldest first."""
        return tuple(self._changes)


log = logging.getLogger(__name__)


@dataclass(slots=True)
class _OpenDocument:
    """A document that is open in the editor."""

    uri: str
    language_id: str
    version: int | None
    buffer: TextBuffer
    history: DocumentHistory
    frozen: TextDocument | None = field(default=None)

    def freeze(self) -> TextDocument:
        """Return the present document, which is created once for each revision."""
        if self.frozen is None:
            facts = (self.version, self.language_id, self.history.revision)
            if self.buffer.size >= LARGE:
                self.frozen = LargeDocument(self.uri, self.buffer.freeze(), *facts)
            else:
                self.frozen = TextDocument(self.uri, self.buffer.text, *facts)
        return self.frozen


class Workspace:
    """The roots, the open documents and the state of the user's work.

    Attributes:
        encoding: The editor's unit of columns; set when `initialize` has negotiated it.
        activity: The user's location.
        settings: The settings in force.
        attachments: The attachments of the user's next question; None until those of an earlier run
            are known.
        blocks: A function that returns, by canonical URI, the ids of hunks that may be in a text as
            blocks; set by the owner of the proposals.
        placed: A function that returns the blocks in the text of an open document, given its URI;
            set as `blocks`.
        redactor: The redactor, with the secrets found so far and their marks.
        request_log: The log of the requests to models.
    """

    def __init__(self, system: System, settings: Settings | None = None) -> None:
        self.encoding = Encoding.UTF16  # the protocol's default
        self.activity = Activity(system.monotonic)
        self.settings = Settings() if settings is None else settings
        self.attachments: Attachments | None = None
        self.blocks: Callable[[], Mapping[str, frozenset[str]]] = dict
        self.placed: Callable[[str], tuple[InlineBlock, ...]] = lambda _: ()
        self.redactor = Redactor()
        self.request_log = RequestLog()
        self._system = system
        self._folders: dict[str, tuple[str, Path]] = {}
        self._named_roots: tuple[Root, ...] | None = None
        self._open: dict[str, _OpenDocument] = {}
        self._last_revision = 0
        self._documents: Mapping[str, TextDocument] | None = None
        self._rules = IgnoreRules(system)
        self._walked = WalkMemory()

    # Roots

    @property
    def roots(self) -> tuple[Root, ...]:
        """The folders of the workspace in the editor's order; without any, the open files'
        folders.
        """
        if self._folders:
            if self._named_roots is None:
                self._named_roots = name_roots(self._folders.values())
            return self._named_roots
        home = self._system.environ().get("HOME") or self._system.environ().get("USERPROFILE")
        paths = (path_of(document.uri) for document in self._open.values())
        return implied_roots(
            (path for path in paths if path is not None), Path(home) if home else None
        )

    @property
    def folders(self) -> tuple[str, ...]:
        """The URIs of the folders that the editor named, without implied ones."""
        return tuple(uri for uri, _ in self._folders.values())

    def add_root(self, uri: str) -> None:
        """Add a folder to the workspace; a folder that is not on this machine is left out."""
        path = path_of(uri)
        if path is None:
            log.warning("The workspace folder %r is not a local folder: skipped", uri)
            return
        self._folders.setdefault(canonical(uri), (uri, path))
        self._named_roots = None

    def remove_root(self, uri: str) -> None:
        """Remove a folder from the workspace."""
        self._folders.pop(canonical(uri), None)
        self._named_roots = None

    def with_settings(self, settings: Settings) -> None:
        """Use these settings from now on; snapshots taken before keep theirs."""
        self.settings = settings

    # Documents

    def apply(self, modification: Modification) -> tuple[TextChange, ...]:
        """Apply one modification to the open documents.

        Returns:
            The changes of the document's text, in order; empty for a document that was just opened
            or closed, is not open, or has a scheme that is not tracked.
        """
        kind, uri = modification.kind, modification.uri
        if kind is ModificationKind.OPENED:
            return self._opened(modification)
        document = self._open.get(canonical(uri))
        if document is None:
            if is_tracked(uri):
                log.warning("%s for %r, which is not open: ignored", kind.value, uri)
            return ()
        if kind is ModificationKind.CHANGED:
            return self._changed(document, modification.edits, modification.version)
        if kind is ModificationKind.SAVED:
            return self._saved(document, modification.text)
        return self._closed(document)

    def document(self, uri: str) -> TextDocument | None:
        """Return an open document as it is now, or None if the document is not open."""
        document = self._open.get(canonical(uri))
        return None if document is None else document.freeze()

    def shown(self, uri: str) -> TextDocument | None:
        """Return an open document as `Snapshot.show` does, without checking whether it may be
        shown.
        """
        document = self.document(uri)
        if document is None:
            return None
        known = self.blocks().get(canonical(uri), frozenset())
        stripped = strip_blocks(document, known, self.placed(uri) if document.is_large else ())
        return document if stripped is None else stripped.plain

    def buffer(self, uri: str) -> TextBuffer | None:
        """Return the text of an open document for reading in place, without a copy; None if
        closed.
        """
        document = self._open.get(canonical(uri))
        return None if document is None else document.buffer

    def language(self, uri: str) -> str:
        """Return the editor's id for the language of an open document; empty if the document is
        closed.
        """
        document = self._open.get(canonical(uri))
        return "" if document is None else document.language_id

    def version(self, uri: str) -> int | None:
        """Return the editor's version number of an open document; None if the document is
        closed.
        """
        document = self._open.get(canonical(uri))
        return None if document is None else document.version

    def revision(self, uri: str) -> int | None:
        """Return an open document's revision, for `changes_since`; None if it is closed."""
        document = self._open.get(canonical(uri))
        return None if document is None else document.history.revision

    def changes_since(self, uri: str, revision: int) -> tuple[TextChange, ...] | None:
        """Return how an open document changed since `revision`, oldest first.

        Returns:
            The changes; None if they are no longer known, or the document was closed (and perhaps
            opened again) since.
        """
        document = self._open.get(canonical(uri))
        return None if document is None else document.history.since(revision)

    def changes_since_opened(self, uri: str) -> tuple[TextChange, ...]:
        """Return the changes of a document since it was opened, oldest first, as far as they are
        still known.
        """
        document = self._open.get(canonical(uri))
        return () if document is None else document.history.remembered()

    def snapshot(self) -> Snapshot:
        """Return a frozen snapshot of the current workspace. Only documents changed since the last
        snapshot are copied.
        """
        if self._documents is None:
            self._documents = MappingProxyType(
                {key: document.freeze() for key, document in self._open.items()}
            )
        large = ((key, one.uri) for key, one in self._documents.items() if one.is_large)
        return Snapshot(
            self._system,
            self.roots,
            self._documents,
            self.activity.view(),
            self.settings,
            self._rules,
            blocks=self.blocks(),
            placed={key: self.placed(uri) for key, uri in large},
            redactor=self.redactor,
            walk_memory=self._walked,
        )

    def _opened(self, modification: Modification) -> tuple[TextChange, ...]:
        uri, key = modification.uri, canonical(modification.uri)
        if not is_tracked(uri):
            log.debug("%r is not tracked: its scheme is neither file nor untitled", uri)
            return ()
        text = modification.text or ""
        document = self._open.get(key)
        if document is not None:
            log.warning("%r was opened twice: taken as a reload", uri)
            document.uri = uri
            document.language_id = modification.language_id
            return self._changed(document, (WireEdit.full(text),), modification.version)
        self._last_revision += 1
        buffer, history = TextBuffer(text, modification.lines), DocumentHistory(self._last_revision)
        self._open[key] = _OpenDocument(
            uri, modification.language_id, modification.version, buffer, history
        )
        self._documents = None
        self.activity.opened(uri)
        if buffer.size >= LARGE:
            # Otherwise every garbage collection scans its millions of lines, and blocks the server.
            gc.freeze()
        return ()

    def _changed(
        self, document: _OpenDocument, edits: tuple[WireEdit, ...], version: int | None
    ) -> tuple[TextChange, ...]:
        changes: list[TextChange] = []
        buffer, encoding = document.buffer, self.encoding
        for edit in edits:
            if edit.start_line == FULL_TEXT:
                changes += buffer.replace_all(edit.text)
            else:
                changes.append(buffer.splice(*edit, encoding))
        for change in changes:
            document.history.append(change)
        if version is not None:
            document.version = version  # any number: editors jump, repeat and go back
        document.frozen = None
        self._documents = None
        if changes:
            self.activity.edited(document.uri, changes)
        return tuple(changes)

    def _saved(self, document: _OpenDocument, text: str | None) -> tuple[TextChange, ...]:
        if text is None or text == document.buffer.text:
            return ()
        log.warning("The saved text of %r is not what its changes led to: taken over", document.uri)
        return self._changed(document, (WireEdit.full(text),), None)

    def _closed(self, document: _OpenDocument) -> tuple[TextChange, ...]:
        self._last_revision = max(self._last_revision, document.history.revision)
        del self._open[canonical(document.uri)]
        self._documents = None
        self.activity.closed(document.uri)
        return ()
