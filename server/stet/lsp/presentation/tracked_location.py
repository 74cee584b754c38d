"""Where a turn was asked from, while the user types on."""

from stet.text.change import Bias, map_position
from stet.text.position import Position, Range
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace


class TrackedLocation:
    """A stretch of a document, followed from the moment it is made.

    Args:
        workspace: Knows how documents change.
        uri: The document.
        stretch: In code points of its text as it is now; None: all of it, shown at its top.
    """

    def __init__(self, workspace: Workspace, uri: str, stretch: Range | None) -> None:
        self.uri = uri
        self._workspace = workspace
        self._range = stretch
        self._revision = self._current_revision()

    def is_in(self, uri: str) -> bool:
        """Whether it is in this document."""
        return canonical(uri) == canonical(self.uri)

    def touches(self, uri: str, stretch: Range) -> bool:
        """Whether it shares a line with a stretch of a document."""
        return self.is_in(uri) and (
            self._range is None or self.current_range().touches_lines_of(stretch)
        )

    def current_range(self) -> Range:
        """The stretch in the text as it is now; where it can't be followed, as it was last."""
        if self._range is None:
            return Range(Position(0, 0), Position(0, 0))
        changes = self._workspace.changes_since(self.uri, self._revision)
        if changes is None:
            self._revision = self._current_revision()
            return self._range
        start, end = self._range.start, self._range.end
        for change in changes:
            start = map_position(start, change, Bias.RIGHT)
            end = max(start, map_position(end, change))
        self._range = Range(start, end)
        self._revision += len(changes)
        return self._range

    def _current_revision(self) -> int:
        document = self._workspace.document(self.uri)
        return document.revision if document is not None else 0
