"""The dead links of files, each with its place and with files that may be meant."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stet.index.dead import DeadLinks
from stet.index.files import is_below
from stet.index.graph import Edge
from stet.index.link_places import LinkPlaces
from stet.index.near import NearNames
from stet.index.resolve import path_in
from stet.index.scan import ScannedLinks
from stet.text.position import Position
from stet.workspace.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A link that leads to no file.

    Attributes:
        edge: The link and its file.
        place: Where it stands in the text that is shown, 0-based, in code points; None if the file
            has just changed.
        line: The line of that text.
        near: Names of files like what is written, the best first.
    """

    edge: Edge
    place: Position | None
    line: str
    near: tuple[str, ...]


def files_below(scan: ScannedLinks, folders: Collection[Path]) -> list[str]:
    """The URIs of the files with links below these folders, by path; of all if there are none."""
    tops = [folder.as_posix() for folder in folders]
    return [
        scan.uris[path]
        for path in sorted(scan.links)
        if not tops or any(is_below(path, top) for top in tops)
    ]


def dead_links(snapshot: Snapshot, scan: ScannedLinks, uris: Iterable[str]) -> Iterator[DeadLink]:
    """The dead links of these files, in their order and in order of place. Blocks on the disk."""
    dead, places = DeadLinks(snapshot, scan), LinkPlaces(snapshot)
    near: NearNames | None = None
    for uri in uris:
        for edge in filter(dead.is_dead, scan.outgoing(uri)):
            # The table is worth making only where something is dead.
            near = near or NearNames(map(snapshot.name_of, scan.uris.values()))
            place, line = places.place_of(edge) or (None, "")
            yield DeadLink(edge, place, line, near.near(path_in(edge.link)))
