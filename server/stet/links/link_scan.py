"""The link graph by a plain scan of the workspace.

It reads every file that can hold links, through the privacy filter (`Snapshot.walk`, `Snapshot.show`),
so an excluded folder is a wall: nothing in it is read, and no link leads into it or through it. What
was found in a file is kept until the file changes, and what links mean until a name does. It asks the
disk: call it in a worker thread.
"""

import logging
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from stet.links.build_files import BuildFile, is_build, read_build
from stet.links.file_table import FileTable
from stet.links.link import Link
from stet.links.links import find_links, has_links
from stet.links.scanned_links import ScannedLinks
from stet.notes.front_matter import aliases_in
from stet.text.document import NOTES, TextDocument, ending_of
from stet.text.unicode_normal import fold_name
from stet.workspace.paths import Located
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import path_of

__all__ = ["LinkCache", "ScannedLinks", "scan_links"]

log = logging.getLogger(__name__)

MAX_FILES = 20_000
"""Files read in one scan."""
MAX_CHARACTERS = 100_000_000
"""Text read in one scan."""


@dataclass(frozen=True, slots=True)
class FileLinks:
    """What a scan keeps of one file."""

    links: tuple[Link, ...]
    aliases: tuple[str, ...]
    n_characters: int
    build: BuildFile | None = None


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file that a scan has taken in.

    Attributes:
        located: As the walk gave it: the same object as long as the file is the same and not open.
        path: Its path.
        may_link: Whether it can hold links.
        is_read: Whether anything is looked for in it.
        found: What was found.
    """

    located: Located
    path: str
    may_link: bool
    is_read: bool
    found: FileLinks | None = None


_NOTHING = FileLinks((), (), 0)
_Stamp = tuple[float, int, int]
"""When a file was written, its size, and the revision of its open text."""


class LinkCache:
    """What was found in files, until they change; one for a server, shared by its threads.

    Attributes:
        latest: The graph of the scan before; what it has worked out is taken over.
        scanned: What the scan before took, by URI.
    """

    def __init__(self, size: int = 2 * MAX_FILES) -> None:
        self.latest: ScannedLinks | None = None
        self.scanned: Mapping[str, ScannedFile] = {}
        self._size = size
        self._found: OrderedDict[str, tuple[_Stamp, FileLinks]] = OrderedDict()

    def get(self, path: str, stamp: _Stamp) -> FileLinks | None:
        """Return what was found in the file at `path` with this stamp."""
        cached = self._found.get(path)
        return cached[1] if cached is not None and cached[0] == stamp else None

    def save(self, path: str, stamp: _Stamp, file_links: FileLinks) -> None:
        """Keep it, and forget what was put in first where that is too much."""
        self._found[path] = (stamp, file_links)
        while len(self._found) > self._size:
            self._found.popitem(last=False)


def scan_links(snapshot: Snapshot, cache: LinkCache | None = None) -> ScannedLinks:
    """Read the links of the whole workspace. Blocks on the disk."""
    cache = LinkCache() if cache is None else cache
    scan = _LinkScan(snapshot, cache)
    for located in snapshot.walk():
        scan.add_file(located)
    cache.scanned = scan.scanned
    if scan.is_cut:
        log.warning("the scan for links left files out: %d were read", len(scan.links))
    before, graph = cache.latest, scan.graph()
    if before is not None:
        graph = graph.reuse(before)
    cache.latest = graph
    return graph


@dataclass(slots=True)
class _LinkScan:
    """One scan, file by file."""

    snapshot: Snapshot
    cache: LinkCache
    links: dict[str, tuple[Link, ...]] = field(default_factory=dict)
    uris: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    builds: dict[str, BuildFile] = field(default_factory=dict)
    n_characters: int = 0
    is_cut: bool = False
    scanned: dict[str, ScannedFile] = field(default_factory=dict)
    opened: Mapping[str, TextDocument] = field(init=False)

    def __post_init__(self) -> None:
        self.opened = {
            path.as_posix(): document
            for document in self.snapshot.documents.values()
            if (path := path_of(document.uri)) is not None
        }

    def add_file(self, located: Located) -> None:
        """Take a file of the walk in."""
        if located.path is None:
            return
        scanned = self.cache.scanned.get(located.uri)
        if scanned is None or scanned.located is not located:
            may_link, may_tell = has_links(located.name), is_build(located.name)
            scanned = ScannedFile(located, located.path.as_posix(), may_link, may_link or may_tell)
        self.uris[scanned.path] = located.uri
        if scanned.is_read:
            if len(self.links) >= MAX_FILES or self.n_characters >= MAX_CHARACTERS:
                self.is_cut = True
                return
            if scanned.found is None:
                scanned = replace(scanned, found=self._links_in(located, scanned.path))
            self._add(scanned, scanned.found or _NOTHING)
        if scanned.found is not _NOTHING:
            self.scanned[located.uri] = scanned

    def _add(self, scanned: ScannedFile, file_links: FileLinks) -> None:
        self.n_characters += file_links.n_characters
        if scanned.may_link:
            self.links[scanned.path] = file_links.links
        if file_links.build is not None:
            self.builds[scanned.path] = file_links.build
        if file_links.aliases:
            for alias in dict.fromkeys(map(fold_name, file_links.aliases)):
                self.aliases.setdefault(alias, []).append(scanned.path)

    def graph(self) -> ScannedLinks:
        """Return what was found, before links are resolved."""
        roots = tuple(root.path.as_posix() for root in self.snapshot.roots)
        aliases = {alias: tuple(paths) for alias, paths in self.aliases.items()}
        files = FileTable(
            frozenset(self.uris), roots, MappingProxyType(aliases), MappingProxyType(self.builds)
        )
        return ScannedLinks(files, self.links, self.uris, self.is_cut)

    def _links_in(self, located: Located, path: str) -> FileLinks:
        document, stat = self.opened.get(path), located.stat
        if document is not None:
            stamp = (0.0, 0, document.revision)
        else:
            stamp = (0.0, 0, 0) if stat is None else (stat.mtime, stat.size, 0)
        file_links = self.cache.get(path, stamp)
        if file_links is None:
            try:
                document = self.snapshot.show(located.uri)
            except NotShown:
                return _NOTHING  # gone since it was listed
            file_links = _NOTHING if document.is_large else _read(document, located.name)
            self.cache.save(path, stamp, file_links)
        return file_links


def _read(document: TextDocument, name: str) -> FileLinks:
    text = document.text
    aliases = aliases_in(text) if ending_of(name) in NOTES else ()
    build = read_build(text, name) if is_build(name) else None
    return FileLinks(find_links(text, name), aliases, len(text), build)
