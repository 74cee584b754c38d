"""Stet's own documents in the editor: the review page and the like, kept apart from the user's.

They lie in the state folder. What is opened there never reaches the workspace, so it is no context,
in no scope, and nobody's cursor: nothing of Stet's own is shown to a model or edited by one.
"""

import logging
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from stet.system.system import System
from stet.text.document import TextDocument
from stet.text.encoding import Encoding
from stet.workspace.modification import Modification, ModificationKind
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)


class OwnDocuments:
    """Those of them that the editor has open."""

    def __init__(self, system: System, encoding: Callable[[], Encoding]) -> None:
        """`encoding` tells what the editor counts columns in, once that is settled."""
        self._system = system
        self._encoding = encoding
        self._world = Workspace(system)
        self._open: set[str] = set()

    def holds(self, uri: str) -> bool:
        """Whether a document is Stet's own; it need not be open."""
        path = path_of(uri)
        return path is not None and any(folder in path.parents for folder in self._folders)

    def takes(self, modification: Modification) -> bool:
        """Take what happened in the editor, if it happened to one of them; whether it did."""
        kind, uri = modification.kind, modification.uri
        if kind is ModificationKind.OPENED and self.holds(uri):
            self._open.add(canonical(uri))
        # Nothing else costs anything as long as none is open: this is on a keystroke's way.
        if not self._open or canonical(uri) not in self._open:
            return False
        self._world.encoding = self._encoding()
        self._world.apply(modification)
        if kind is ModificationKind.CLOSED:
            self._open.discard(canonical(uri))
        return True

    def document(self, uri: str) -> TextDocument | None:
        """One of them as it is in the editor; None if it is not open."""
        return self._world.document(uri)

    @cached_property
    def _folders(self) -> frozenset[Path]:
        """Where they lie, links resolved too; looked up with the first document that comes."""
        try:
            folder = self._system.state_folder()
        except OSError as error:
            log.warning("there is no state folder: %s", error)
            return frozenset()
        return frozenset({folder, self._system.real_path(folder)})
