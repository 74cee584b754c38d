"""The link graph by a plain scan of the workspace.

It reads every file that can hold links, through the privacy filter (`Snapshot.walk`, `Snapshot.show`),
so an excluded folder is a wall: nothing in it is read, and no link leads into it or through it. What
was found in a file is kept until the file changes. It asks the disk: call it in a worker thread.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from stet.index.files import Files, folded
from stet.index.front_matter import aliases_in
from stet.index.graph import MAX_DEPTH, Edge
from stet.index.link import Link
from stet.index.links import NOTES, ending_of, find_links, has_links
from stet.index.resolve import Resolved, resolve
from stet.text.document import TextDocument
from stet.workspace.paths import Located
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

MAX_FILES = 20_000
"""Files read in one scan."""
MAX_CHARACTERS = 100_000_000
"""Text read in one scan."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a scan keeps of one file."""

    links: tuple[Link, ...]
    aliases: tuple[str, ...]
    n_characters: int


_NOTHING = Found((), (), 0)
_Stamp = tuple[float | None, int]
"""When a file was written, and the revision of its open text."""


class LinkCache:
    """What was found in files, until they change; one for a server, shared by its threads."""

    def __init__(self, size: int = 2 * MAX_FILES) -> None:
        self._size = size
        self._found: OrderedDict[str, tuple[_Stamp, Found]] = OrderedDict()

    def get(self, key: str, stamp: _Stamp) -> Found | None:
        """What was found in the file `key` when it had this stamp."""
        kept = self._found.get(key)
        return kept[1] if kept is not None and kept[0] == stamp else None

    def put(self, key: str, stamp: _Stamp, found: Found) -> None:
        """Keep it, and forget what was put in first where that is too much."""
        self._found[key] = (stamp, found)
        while len(self._found) > self._size:
            self._found.popitem(last=False)


@dataclass(frozen=True)  # without slots: the two directions are made when asked for
class ScannedLinks:
    """The link graph of one snapshot.

    Attributes:
        files: All files that links can lead to, by path.
        links: What was found in each file that was read, by path.
        uris: The URI of each file, by path.
        is_cut: Whether files were left out because there are too many.
    """

    files: Files
    links: Mapping[str, tuple[Link, ...]]
    uris: Mapping[str, str]
    is_cut: bool = False

    def outgoing(self, uri: str) -> tuple[Edge, ...]:
        """The links in a file, dead ones too, in order of place."""
        path = self._paths.get(canonical(uri))
        return () if path is None else self._edges(path)

    def backlinks(self, uri: str) -> tuple[Edge, ...]:
        """The links in other files that mean this one, in order of file and place."""
        path = self._paths.get(canonical(uri))
        return () if path is None else tuple(self._back.get(path, ()))

    def neighbours(self, uri: str, depth: int) -> tuple[str, ...]:
        """The files within `depth` steps in either direction, the nearest first, without itself."""
        seen = {canonical(uri)}
        ring, found = [uri], []
        for _ in range(min(depth, MAX_DEPTH)):
            beside = {canonical(other): other for each in ring for other in self._beside(each)}
            ring = [beside[key] for key in sorted(beside.keys() - seen)]
            seen |= beside.keys()
            found += ring
        return tuple(found)

    def _beside(self, uri: str) -> Iterator[str]:
        """The files one step away, some of them more than once."""
        for edge in self.outgoing(uri):
            yield from edge.targets
        for edge in self.backlinks(uri):
            yield edge.source

    def _edges(self, path: str) -> tuple[Edge, ...]:
        edges = []
        known: dict[tuple[object, ...], Resolved | None] = {}  # one file may hold a link many times
        for link in self.links.get(path, ()):
            alike = (link.kind, link.written, link.context, link.renamed)
            if alike not in known:
                known[alike] = resolve(link, path, self.files)
            found = known[alike]
            targets = () if found is None else tuple(self.uris[each] for each in found.targets)
            edges.append(Edge(self.uris[path], link, targets))
        return tuple(edges)

    @cached_property
    def _paths(self) -> dict[str, str]:
        return {canonical(uri): path for path, uri in self.uris.items()}

    @cached_property
    def _back(self) -> dict[str, list[Edge]]:
        back: dict[str, list[Edge]] = {}
        for path in sorted(self.links):
            for edge in self._edges(path):
                for target in edge.targets:
                    if target != edge.source:
                        back.setdefault(self._paths[canonical(target)], []).append(edge)
        return back


def scan_links(snapshot: Snapshot, cache: LinkCache | None = None) -> ScannedLinks:
    """Read the links of the whole workspace. Blocks on the disk."""
    cache = LinkCache() if cache is None else cache
    links: dict[str, tuple[Link, ...]] = {}
    uris: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    n_characters = 0
    is_cut = False
    for located in snapshot.walk():
        if located.path is None:
            continue
        path = located.path.as_posix()
        uris[path] = located.uri
        if not has_links(located.name):
            continue
        if len(links) >= MAX_FILES or n_characters >= MAX_CHARACTERS:
            is_cut = True
            continue
        found = _found_in(located, snapshot, cache)
        n_characters += found.n_characters
        links[path] = found.links
        for alias in dict.fromkeys(map(folded, found.aliases)):
            aliases.setdefault(alias, []).append(path)
    if is_cut:
        log.warning("the scan for links left files out: %d were read", len(links))
    roots = tuple(root.path.as_posix() for root in snapshot.roots)
    by_alias = {alias: tuple(paths) for alias, paths in aliases.items()}
    files = Files(frozenset(uris), roots, MappingProxyType(by_alias))
    return ScannedLinks(files, links, uris, is_cut)


def _found_in(located: Located, snapshot: Snapshot, cache: LinkCache) -> Found:
    document = snapshot.document(located.uri)
    stamp = (None, document.revision) if document else (snapshot.mtime(located.uri), 0)
    key = canonical(located.uri)
    found = cache.get(key, stamp)
    if found is None:
        try:
            document = snapshot.show(located.uri)
        except NotShown:
            return _NOTHING  # gone since it was listed
        found = _read(document, located.name)
        cache.put(key, stamp, found)
    return found


def _read(document: TextDocument, name: str) -> Found:
    is_note = ending_of(name) in NOTES
    aliases = aliases_in(document.text) if is_note else ()
    return Found(find_links(document.text, name), aliases, len(document.text))
