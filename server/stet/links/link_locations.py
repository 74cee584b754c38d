"""Where links stand: their lines, with the texts around them."""

from dataclasses import dataclass, field

from stet.links.graph import Edge
from stet.text.document import TextDocument
from stet.text.position import Position
from stet.workspace.snapshot import NotShown, Snapshot


@dataclass(slots=True)
class LinkLocations:
    """Lines of links in the texts of one snapshot, each text read once. Blocks on the disk."""

    snapshot: Snapshot
    _documents: dict[str, TextDocument | None] = field(default_factory=dict)

    def line_of(self, edge: Edge) -> tuple[int, str] | None:
        """Return the number (1-based) and the text of a link's line. Return None if the file has
        just changed.
        """
        found = self.place_of(edge)
        return None if found is None else (found[0].line + 1, found[1])

    def place_of(self, edge: Edge) -> tuple[Position, str] | None:
        """Where a link stands, and the text of its line; None if its file has just changed."""
        document = self._document(edge.source)
        link = edge.link
        if document is None or document.text[link.start : link.end] != link.written:
            return None
        place = document.position_at(link.start)
        return place, document.lines[place.line]

    def _document(self, uri: str) -> TextDocument | None:
        if uri not in self._documents:
            try:
                self._documents[uri] = self.snapshot.show(uri)
            except NotShown:
                self._documents[uri] = None
        return self._documents[uri]
