"""What links to what in the workspace: the questions, whoever answers them."""

from dataclasses import dataclass
from typing import Protocol

from stet.index.link import Link

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
        """The links in a file, dead ones too, in order of place."""
        ...

    def backlinks(self, uri: str) -> tuple[Edge, ...]:
        """The links in other files that mean this one, in order of file and place."""
        ...

    def neighbours(self, uri: str, depth: int) -> tuple[str, ...]:
        """The files within `depth` steps in either direction, the nearest first, without itself."""
        ...
