"""The link graph by a plain scan of the workspace.

The scan reads every file that can hold links, through the privacy filter (`Snapshot.walk`,
`Snapshot.show`), so an excluded folder is a wall: nothing in it is read, and no link leads into it or
through it. The links of a file are kept until the file changes, and their targets until a name changes.
The graph resolves what is asked for once, and the next scan takes it over. It asks the disk: call it in
a worker thread.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stet.links.build_files import BuildFile, is_build, read_build
from stet.links.file_table import FileTable
from stet.links.link import MAX_DEPTH, Edge, Link, ResolvedLink
from stet.links.link_resolver import resolve_link
from stet.links.links import find_links, has_links
from stet.notes.note_content import aliases_in
from stet.text.document import NOTES, TextDocument, ending_of
from stet.text.unicode_normal import fold_name
from stet.workspace.paths import Located
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical, path_of


@dataclass(frozen=True, slots=True)
class _OutgoingLinks:
    """The links of one file: each with the paths it means, and all those paths."""

    edges: tuple[Edge, ...]
    targets: tuple[tuple[str, ...], ...]
    all_targets: frozenset[str]


_NONE = _OutgoingLinks((), (), frozenset())
_Backlinks = dict[str, dict[str, tuple[Edge, ...]]]
"""For each path the links that lead there, by the path of their file."""


@dataclass(slots=True)
class _GraphCache:
    """The cached results for one graph.

    Attributes:
        out: For each file that was queried.
        back: For each path the edges that lead there, by the path of their file; None until the
            first query.
        paths: The path of each canonical URI; None until the first query.
    """

    out: dict[str, _OutgoingLinks] = field(default_factory=dict)
    back: _Backlinks | None = None
    paths: dict[str, str] | None = None


@dataclass(frozen=True)  # without slots: cached results are stored beside the fields
class LinkGraph:
    """The link graph of one snapshot.

    Attributes:
        files: All files that links can lead to, by path.
        links: The links found in each file that was read, by path.
        uris: The URI of each file, by path.
        is_cut: Whether files were left out because there are too many.
        known: The results computed from these files so far.
    """

    files: FileTable
    links: Mapping[str, tuple[Link, ...]]
    uris: Mapping[str, str]
    is_cut: bool = False
    known: _GraphCache = field(default_factory=_GraphCache, repr=False, compare=False)

    def reuse(self, before: "LinkGraph") -> "LinkGraph":
        """Return this graph, with the results of `before` that still hold.

        Where a file has come, gone or got another name, any link may mean another one.
        """
        if self.uris != before.uris or self.files != before.files:
            return self
        new, old = self.links, before.links
        changed = [path for path in new.keys() | old.keys() if new.get(path) is not old.get(path)]
        if not changed and self.is_cut == before.is_cut:
            return before
        # Copies, each at a stroke: other threads go on asking the graph before.
        out, back = before.known.out.copy(), before.known.back
        back = None if back is None else back.copy()
        for path in changed:
            was = out.pop(path, _NONE)
            if back is not None:
                out[path] = _resolved(path, new.get(path, ()), before.files, before.uris)
                _replace(back, path, was, out[path])
        known = _GraphCache(out, back, before.known.paths)
        return replace(self, files=before.files, uris=before.uris, known=known)

    def outgoing(self, uri: str) -> tuple[Edge, ...]:
        """Return the links in a file, including dead links, in order of place."""
        path = self._paths.get(canonical(uri))
        return () if path is None else self._out(path).edges

    def backlinks(self, uri: str) -> tuple[Edge, ...]:
        """Return the links in other files that lead to this file, in order of file and place."""
        path = self._paths.get(canonical(uri))
        found = {} if path is None else self._back.get(path, {})
        return tuple(edge for source in sorted(found) for edge in found[source])

    def neighbours(self, uri: str, depth: int) -> tuple[str, ...]:
        """Return the files within `depth` steps in either direction, the nearest first. The file
        itself is left out.
        """
        start = self._paths.get(canonical(uri))
        if start is None:
            return ()
        seen, ring, found = {start}, [start], []
        back = self._back
        for _ in range(min(depth, MAX_DEPTH)):
            linked: set[str] = set()
            for path in ring:
                linked |= self._out(path).all_targets
                linked.update(back.get(path, ()))
            ring = sorted(linked - seen)
            seen |= linked
            found += ring
        return tuple(self.uris[path] for path in found)

    def _out(self, path: str) -> _OutgoingLinks:
        out = self.known.out
        if path not in out:
            out[path] = _resolved(path, self.links.get(path, ()), self.files, self.uris)
        return out[path]

    @property
    def _paths(self) -> dict[str, str]:
        if self.known.paths is None:
            self.known.paths = {canonical(uri): path for path, uri in self.uris.items()}
        return self.known.paths

    @property
    def _back(self) -> Mapping[str, Mapping[str, tuple[Edge, ...]]]:
        if self.known.back is None:
            back: _Backlinks = {}
            for path in self.links:
                for target, edges in _by_target(path, self._out(path)).items():
                    back.setdefault(target, {})[path] = edges
            self.known.back = back
        return self.known.back


def _resolved(
    path: str, links: tuple[Link, ...], files: FileTable, uris: Mapping[str, str]
) -> _OutgoingLinks:
    edges, targets = [], []
    known: dict[tuple[object, ...], ResolvedLink | None] = {}  # one file may hold a link many times
    for link in links:
        alike = (link.kind, link.written, link.context, link.inside, link.renamed)
        if alike not in known:
            known[alike] = resolve_link(link, path, files)
        found = known[alike]
        meant = () if found is None else found.targets
        edges.append(Edge(uris[path], link, tuple(uris[each] for each in meant)))
        targets.append(meant)
    if not edges:
        return _NONE
    linked = frozenset(each for meant in targets for each in meant)
    return _OutgoingLinks(tuple(edges), tuple(targets), linked)


def _by_target(source: str, out: _OutgoingLinks) -> Mapping[str, tuple[Edge, ...]]:
    """Return the edges of a file by target path. A link to the file itself is left out."""
    found: dict[str, list[Edge]] = {target: [] for target in out.all_targets - {source}}
    for edge, meant in zip(out.edges, out.targets, strict=True):
        for target in meant:
            if target != source:
                found[target].append(edge)
    return {target: tuple(edges) for target, edges in found.items()}


def _replace(back: _Backlinks, source: str, old: _OutgoingLinks, new: _OutgoingLinks) -> None:
    """Put the new links of a file in place of the old ones; what others may be reading is copied."""
    leading = _by_target(source, new)
    for target in (old.all_targets | new.all_targets) - {source}:
        others = {path: each for path, each in back.get(target, {}).items() if path != source}
        back[target] = others | ({source: leading[target]} if target in leading else {})


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


_NOTHING = FileLinks((), (), 0)
_Stamp = tuple[float, int, int]
"""When a file was written, its size, and the revision of its open text."""


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file that a scan has included.

    Attributes:
        located: The location from the walk: the same object while the file is unchanged and not
            open.
        path: Its path.
        may_link: Whether it can contain links.
        is_read: Whether the scan reads it.
        found: The links found; None if it was not read, or is gone.
        stamp: What the links were found in.
    """

    located: Located
    path: str
    may_link: bool
    is_read: bool
    found: FileLinks | None = None
    stamp: _Stamp | None = None


class LinkCache:
    """The links found in files, until the files change; one per server, shared by its threads.

    Attributes:
        latest: The graph of the previous scan; its cached results are reused.
        scanned: The files of the previous scan, by URI.
    """

    def __init__(self) -> None:
        self.latest: LinkGraph | None = None
        self.scanned: Mapping[str, ScannedFile] = {}


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
        """Take a file of the walk in."""
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
        """Return the links found, before they are resolved."""
        roots = tuple(root.path.as_posix() for root in self.snapshot.roots)
        aliases = {alias: tuple(paths) for alias, paths in self.aliases.items()}
        files = FileTable(frozenset(self.uris), roots, aliases, self.builds)
        return LinkGraph(files, self.links, self.uris, self.is_cut)

    def _read(self, scanned: ScannedFile, before: ScannedFile | None) -> ScannedFile:
        """Return the file with its links; they are found anew if it has changed."""
        document, stat = self.opened.get(scanned.path), scanned.located.stat
        if document is not None:
            stamp = (0.0, 0, document.revision)
        else:
            stamp = (0.0, 0, 0) if stat is None else (stat.mtime, stat.size, 0)
        if before is not None and before.stamp == stamp:
            return replace(scanned, found=before.found, stamp=stamp)
        try:
            document = self.snapshot.show(scanned.located.uri)
        except NotShown:
            return scanned  # gone since it was listed
        return replace(scanned, found=_links_in(document, scanned.located.name), stamp=stamp)


def _links_in(document: TextDocument, name: str) -> FileLinks:
    if document.is_large:
        return _NOTHING
    text = document.text
    aliases = aliases_in(text) if ending_of(name) in NOTES else ()
    build = read_build(text, name) if is_build(name) else None
    return FileLinks(find_links(text, name), aliases, len(text), build)
