"""What links to what in the workspace: the questions, whoever answers them."""

from dataclasses import dataclass
from typing import Protocol

from stet.links.link import Link

MAX_DEPTH = 3
"""The farthest neighbourhood that is asked for."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link with the file it stands in and the files it means.

    Attributes:
        source: URI of the file with the link.
        link: As it is written there.
        targets: URIs of what it means: one file, for a package several, none for a dead link.
    """

    source: str
    link: Link
    targets: tuple[str, ...]


class LinkGraph(Protocol):
    """Links between the files that may be shown; URIs may be given in any spelling."""

    def outgoing(self, uri: str) -> tuple[Edge, ...]:
        """Return the links in a file, including dead links, in order of place."""
        ...

    def backlinks(self, uri: str) -> tuple[Edge, ...]:
        """Return the links in other files that lead to this file, in order of file and place."""
        ...

    def neighbours(self, uri: str, depth: int) -> tuple[str, ...]:
        """Return the files within `depth` steps in either direction, the nearest first. The file
        itself is left out.
        """
        ...
