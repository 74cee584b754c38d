"""Stet's own documents in the editor: the review page and the like, kept apart from the user's.

They lie in the state folder. What is opened there never reaches the workspace, so it is no context,
in no scope, and nobody's cursor: nothing of Stet's own is shown to a model or edited by one.
"""

import itertools
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from stet.system.system import System
from stet.text.buffer import TextBuffer
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.encoding import Encoding
from stet.text.position import Range
from stet.workspace.activity import ActivitySource, ActivityView
from stet.workspace.modification import Modification, ModificationKind
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

Listener = Callable[[str, ModificationKind, Sequence[TextChange]], None]

log = logging.getLogger(__name__)


class GeneratedDocuments:
    """Those of them that the editor has open.

    Attributes:
        world: Where they are followed, and where the user is among them.
    """

    def __init__(self, system: System, encoding: Callable[[], Encoding]) -> None:
        """Create the documents; `encoding` returns the editor's column encoding, once it is
        settled.
        """
        self._system = system
        self._encoding = encoding
        self.world = Workspace(system)
        self._open: set[str] = set()
        self._entered = self._left = float("-inf")
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call `listener` with each that has been opened, changed, saved or closed: its URI, which of
        these it was, and how its text has changed.
        """
        self._listeners.append(listener)

    def is_generated(self, uri: str) -> bool:
        """Whether a document is Stet's own; it need not be open."""
        path = path_of(uri)
        return path is not None and any(folder in path.parents for folder in self._folders)

    def apply_if_generated(self, modification: Modification) -> bool:
        """Take what happened in the editor, if it happened to one of them; whether it did."""
        kind, uri = modification.kind, modification.uri
        if kind is ModificationKind.OPENED and self.is_generated(uri):
            self._open.add(canonical(uri))
        # Nothing else costs anything as long as none is open: this is on a keystroke's way.
        if not self._open or canonical(uri) not in self._open:
            return False
        self.world.encoding = self._encoding()
        changes = self.world.apply(modification)
        if kind is ModificationKind.CLOSED:
            self._open.discard(canonical(uri))
        for listener in self._listeners:
            listener(uri, kind, changes)
        return True

    def buffer(self, uri: str) -> TextBuffer | None:
        """Return the buffer of a generated document for reading without a copy. Return None if it
        is not open.
        """
        return self.world.buffer(uri)

    def document(self, uri: str) -> TextDocument | None:
        """One of them as it is in the editor; None if it is not open."""
        return self.world.document(uri)

    def documents(self) -> Iterable[TextDocument]:
        """All of them that are open, as they are in the editor."""
        return self.world.snapshot().documents.values()

    def focused(self, uri: str | None) -> None:
        """Record the document that the user is in now, whether it is generated or not; None means
        none.
        """
        if uri is not None and self.is_generated(uri):
            self.world.activity.focus(uri, ActivitySource.NOTIFIED)
            self._entered = self._system.monotonic()
        else:
            self._left = self._system.monotonic()

    def active_selection(self, activity: ActivityView) -> tuple[str, Range] | None:
        """Return the generated document that the user is in and the selection there. Return None if
        the user is in none.

        Args:
            activity: Where they are among their own documents: what was heard of last, counts.
        """
        view = self.world.activity.view()
        uri, latest = view.active, activity.active
        selection = None if uri is None else view.selection_of(uri)
        if uri is None or selection is None:
            return None
        theirs = None if latest is None else activity.selection_of(latest)
        left = max(self._left, self._left if theirs is None else theirs.at)
        return (uri, selection.ranges[0]) if max(self._entered, selection.at) > left else None

    def changes_since(self, uri: str, revision: int) -> tuple[TextChange, ...] | None:
        """How one of them changed since `revision`, as `Workspace.changes_since`."""
        return self.world.changes_since(uri, revision)

    def free_name(self, stem: str, ending: str, text: str) -> str:
        """Return a file name for `text`: a name that the editor does not have open with other
        contents.

        `stem` tells workspaces apart, because servers of others write into the folder as well.

        Raises:
            OSError: If there is no state folder.
        """
        folder = self.folder
        names = (f"{stem}{'' if n == 1 else f'-{n}'}{ending}" for n in itertools.count(1))
        opened = ((name, self.document((folder / name).as_uri())) for name in names)
        return next(name for name, old in opened if old is None or old.text == text)

    @cached_property
    def folder(self) -> Path:
        """Where they are written; looked up once.

        Raises:
            OSError: If there is no such folder.
        """
        return self._system.state_folder()

    @cached_property
    def _folders(self) -> frozenset[Path]:
        """Where they lie, links resolved too; looked up with the first document that comes."""
        try:
            folder = self.folder
        except OSError as error:
            log.warning("there is no state folder: %s", error)
            return frozenset()
        return frozenset({folder, self._system.real_path(folder)})
