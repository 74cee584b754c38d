"""Build the link graph by a plain scan of the workspace.

The scan reads every file that can hold links, through the privacy filter (`Snapshot.walk`,
`Snapshot.show`), so nothing in an excluded folder is read, and no link leads into or through it.
The links of a file are cached until the file changes, and their targets until a name changes. The
graph resolves the links of a file on the first query, and the next scan reuses the result. A scan
blocks on the disk: call it in a worker thread.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from stet.links.build_files import BuildFile, is_build, read_build
from stet.links.file_table import FileTable
from stet.links.link import MAX_DEPTH, Edge, Link, ResolvedLink
from stet.links.link_resolver import resolve_link
from stet.links.links import find_links, has_links
from stet.notes.note_content import aliases_in
from stet.text.document import NOTES, TextDocument, ending_of
from stet.text.unicode_normal import fold_name
from stet.workspace.paths import Located
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical, path_of


@dataclass(frozen=True, slots=True)
class _ResolvedLinks:
    """The links of one file with the paths of their targets.

    Attributes:
        links: Each link with its targets, in order of position.
        targets: The targets of all links.
    """

    links: tuple[tuple[Link, tuple[str, ...]], ...] = ()
    targets: frozenset[str] = frozenset()


_NO_LINKS = _ResolvedLinks()


@dataclass  # without slots: the paths are kept in the instance
class LinkGraph:
    """The link graph of one snapshot.

    Attributes:
        files: All files that links can lead to, by path.
        links: The links found in each file that was read, by path.
        uris: The URI of each file, by path.
        is_cut: Whether files were left out because there are too many.
        resolved: The links of each file that was queried, by path.
        sources: For each path the files that link to it; None until the first query.
    """

    files: FileTable
    links: Mapping[str, tuple[Link, ...]]
    uris: Mapping[str, str]
    is_cut: bool = False
    resolved: dict[str, _ResolvedLinks] = field(default_factory=dict, repr=False, compare=False)
    sources: dict[str, frozenset[str]] | None = field(default=None, repr=False, compare=False)

    def reuse(self, before: "LinkGraph") -> "LinkGraph":
        """Return this graph, with the results of `before` that still hold.

        Nothing is reused if a file was added, removed or renamed: any link may have another target.
        """
        if self.uris != before.uris or self.files != before.files:
            return self
        new, old = self.links, before.links
        changed = [path for path in new.keys() | old.keys() if new.get(path) is not old.get(path)]
        if not changed and self.is_cut == before.is_cut:
            return before
        self.files, self.uris, self.paths = before.files, before.uris, before.paths
        # Each copy is atomic, since other threads still query the previous graph. If that graph has
        # its sources, it has resolved all links.
        self.sources = None if before.sources is None else before.sources.copy()
        self.resolved = before.resolved.copy()
        for path in changed:
            was = self.resolved.pop(path, _NO_LINKS)
            if self.sources is not None:
                for target in was.targets:
                    self.sources[target] -= {path}
                for target in self._resolve(path).targets:
                    self.sources[target] = self.sources.get(target, frozenset()) | {path}
        return self

    def outgoing(self, uri: str) -> tuple[Edge, ...]:
        """Return the links in a file, including dead links, in order of position."""
        path = self.paths.get(canonical(uri))
        return () if path is None else tuple(self._edges(path))

    def backlinks(self, uri: str) -> tuple[Edge, ...]:
        """Return the links in other files that lead to this file, in order of file and place."""
        path = self.paths.get(canonical(uri))
        sources = () if path is None else sorted(self._linking().get(path, frozenset()) - {path})
        return tuple(edge for source in sources for edge in self._edges(source, path))

    def neighbours(self, uri: str, depth: int) -> tuple[str, ...]:
        """Return the files within `depth` steps in either direction, the nearest first. The file
        itself is left out.
        """
        start = self.paths.get(canonical(uri))
        if start is None:
            return ()
        seen, ring, found = {start}, [start], []
        back = self._linking()
        for _ in range(min(depth, MAX_DEPTH)):
            linked: set[str] = set()
            for path in ring:
                linked.update(self._resolve(path).targets, back.get(path, ()))
            ring = sorted(linked - seen)
            seen |= linked
            found += ring
        return tuple(self.uris[path] for path in found)

    def _edges(self, source: str, target: str | None = None) -> Iterator[Edge]:
        """Yield the links in the file `source`, or only those that lead to `target`."""
        for link, targets in self._resolve(source).links:
            if target is None or target in targets:
                yield Edge(self.uris[source], link, tuple(self.uris[each] for each in targets))

    def _resolve(self, path: str) -> _ResolvedLinks:
        if path not in self.resolved:
            links = self.links.get(path, ())
            self.resolved[path] = _resolve_links(path, links, self.files) if links else _NO_LINKS
        return self.resolved[path]

    @cached_property
    def paths(self) -> dict[str, str]:
        """The path of each canonical URI."""
        return {canonical(uri): path for path, uri in self.uris.items()}

    def _linking(self) -> Mapping[str, frozenset[str]]:
        """Return for each path the files that link to it."""
        if self.sources is None:
            sources: dict[str, set[str]] = {}
            for path in self.links:
                for target in self._resolve(path).targets:
                    sources.setdefault(target, set()).add(path)
            self.sources = {target: frozenset(found) for target, found in sources.items()}
        return self.sources


def _resolve_links(path: str, links: tuple[Link, ...], files: FileTable) -> _ResolvedLinks:
    known: dict[Link, ResolvedLink | None] = {}  # one file may hold a link many times
    resolved = []
    for link in links:
        alike = replace(link, start=0)
        if alike not in known:
            known[alike] = resolve_link(link, path, files)
        found = known[alike]
        resolved.append((link, () if found is None else found.targets))
    return _ResolvedLinks(
        tuple(resolved), frozenset(target for _, targets in resolved for target in targets)
    )


log = logging.getLogger(__name__)

MAX_FILES = 20_000
"""The most files that one scan reads."""
MAX_CHARACTERS = 100_000_000
"""The most code points that one scan reads."""


@dataclass(frozen=True, slots=True)
class FileLinks:
    """The results of scanning one file."""

    links: tuple[Link, ...]
    aliases: tuple[str, ...]
    n_characters: int
    build: BuildFile | None = None


_NOTHING = FileLinks((), (), 0)
_Stamp = tuple[float, int, int]
"""A file's modification time in seconds, its size in bytes, and the revision of its open text."""


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file that a scan has included.

    Attributes:
        located: The location from the walk: the same object while the file is unchanged and not
            open.
        path: The file's path.
        may_link: Whether it can contain links.
        is_read: Whether the scan reads it.
        found: The links found; None if the file was not read or is deleted.
        stamp: The state of the file in which the links were found.
    """

    located: Located
    path: str
    may_link: bool
    is_read: bool
    found: FileLinks | None = None
    stamp: _Stamp | None = None


@dataclass(slots=True, eq=False)
class LinkCache:
    """The links found in files, until the files change; one per server, shared by its threads.

    Attributes:
        latest: The graph of the previous scan; its cached results are reused.
        scanned: The files of the previous scan, by URI.
    """

    latest: LinkGraph | None = None
    scanned: Mapping[str, ScannedFile] = field(default_factory=dict)


def scan_links(snapshot: Snapshot, cache: LinkCache | None = None) -> LinkGraph:
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
        documents = self.snapshot.documents.values()
        found = ((path_of(document.uri), document) for document in documents)
        self.opened = {path.as_posix(): document for path, document in found if path is not None}

    def add_file(self, located: Located) -> None:
        """Add one file of the walk to the scan."""
        if located.path is None:
            return
        before = self.cache.scanned.get(located.uri)
        if before is not None and before.located is located:
            scanned = before
        else:
            may_link, may_tell = has_links(located.name), is_build(located.name)
            scanned = ScannedFile(located, located.path.as_posix(), may_link, may_link or may_tell)
        self.uris[scanned.path] = located.uri
        if scanned.is_read:
            if len(self.links) >= MAX_FILES or self.n_characters >= MAX_CHARACTERS:
                self.is_cut = True
                return
            if scanned.found is None:
                scanned = self._read(scanned, before)
            self._add(scanned, scanned.found or _NOTHING)
        self.scanned[located.uri] = scanned

    def _add(self, scanned: ScannedFile, file_links: FileLinks) -> None:
        self.n_characters += file_links.n_characters
        if scanned.may_link:
            self.links[scanned.path] = file_links.links
        if file_links.build is not None:
            self.builds[scanned.path] = file_links.build
        for alias in dict.fromkeys(map(fold_name, file_links.aliases)):
            self.aliases.setdefault(alias, []).append(scanned.path)

    def graph(self) -> LinkGraph:
        """Return the graph of the links found; no link is resolved yet."""
        roots = tuple(root.path.as_posix() for root in self.snapshot.roots)
        aliases = {alias: tuple(paths) for alias, paths in self.aliases.items()}
        files = FileTable(frozenset(self.uris), roots, aliases, self.builds)
        return LinkGraph(files, self.links, self.uris, self.is_cut)

    def _read(self, scanned: ScannedFile, before: ScannedFile | None) -> ScannedFile:
        """Return the file with its links, which are searched again if the file has changed."""
        document, stat = self.opened.get(scanned.path), scanned.located.stat
        if document is not None:
            stamp = (0.0, 0, document.revision)
        else:
            stamp = (0.0, 0, 0) if stat is None else (stat.mtime, stat.size, 0)
        if before is not None and before.stamp == stamp:
            return replace(scanned, found=before.found, stamp=stamp)
        document = self.snapshot.show_or_none(scanned.located.uri)
        if document is None:
            return scanned  # deleted since it was listed
        return replace(scanned, found=_links_in(document, scanned.located.name), stamp=stamp)


def _links_in(document: TextDocument, name: str) -> FileLinks:
    if document.is_large:
        return _NOTHING
    text = document.text
    aliases = aliases_in(text) if ending_of(name) in NOTES else ()
    build = read_build(text, name) if is_build(name) else None
    return FileLinks(find_links(text, name), aliases, len(text), build)
