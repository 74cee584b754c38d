"""The dead links of files, each with its place and with files that may be meant."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stet.index.dead_link_check import DeadLinkChecker
from stet.index.file_table import is_below
from stet.index.graph import Edge
from stet.index.link_locations import LinkLocations
from stet.index.link_resolver import link_path
from stet.index.link_scan import ScannedLinks
from stet.index.name_suggestions import NameSuggestions
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
    dead, places = DeadLinkChecker(snapshot, scan), LinkLocations(snapshot)
    near: NameSuggestions | None = None
    for uri in uris:
        for edge in filter(dead.is_dead, scan.outgoing(uri)):
            # The table is worth making only where something is dead.
            near = near or NameSuggestions(map(snapshot.name_of, scan.uris.values()))
            place, line = places.place_of(edge) or (None, "")
            yield DeadLink(edge, place, line, near.suggest(link_path(edge.link)))
