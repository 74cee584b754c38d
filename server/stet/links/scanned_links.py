"""The link graph of one scan: what is asked for is worked out once, and taken over by the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stet.links.file_table import FileTable
from stet.links.link import MAX_DEPTH, Edge, Link
from stet.links.link_resolver import ResolvedLink, resolve_link
from stet.workspace.uris import canonical


@dataclass(frozen=True, slots=True)
class _OutgoingLinks:
    """The links of one file: each with the paths it means, and all those paths."""

    edges: tuple[Edge, ...]
    targets: tuple[tuple[str, ...], ...]
    all_targets: frozenset[str]


_NONE = _OutgoingLinks((), (), frozenset())


@dataclass(slots=True)
class _GraphCache:
    """What has been worked out of one graph.

    Attributes:
        out: Of each file that was asked about.
        back: For each path the edges that lead there, by the path of their file; None until it has
            been asked for.
        paths: The path of each canonical URI; None until it has been asked for.
    """

    out: dict[str, _OutgoingLinks] = field(default_factory=dict)
    back: dict[str, dict[str, tuple[Edge, ...]]] | None = None
    paths: dict[str, str] | None = None


@dataclass(frozen=True)  # without slots: what is worked out is kept beside it
class ScannedLinks:
    """The link graph of one snapshot.

    Attributes:
        files: All files that links can lead to, by path.
        links: What was found in each file that was read, by path.
        uris: The URI of each file, by path.
        is_cut: Whether files were left out because there are too many.
        known: What has been worked out of them so far.
    """

    files: FileTable
    links: Mapping[str, tuple[Link, ...]]
    uris: Mapping[str, str]
    is_cut: bool = False
    known: _GraphCache = field(default_factory=_GraphCache, repr=False, compare=False)

    def reuse(self, before: "ScannedLinks") -> "ScannedLinks":
        """Return this graph, with the results of `before` that still hold.

        Where a file has come, gone or got another name, any link may mean another one.
        """
        if self.uris != before.uris or self.files != before.files:
            return self
        changed = [
            path
            for path in self.links.keys() | before.links.keys()
            if self.links.get(path) is not before.links.get(path)
        ]
        if not changed and self.is_cut == before.is_cut:
            return before
        # Copies, each at a stroke: other threads go on asking the graph before.
        out, back = before.known.out.copy(), before.known.back
        back = None if back is None else back.copy()
        for path in changed:
            old = out.pop(path, _NONE)
            if back is not None:
                out[path] = _resolved(path, self.links.get(path, ()), before.files, before.uris)
                _replace(back, path, old, out[path])
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
        found = self.known.out.get(path)
        if found is None:
            found = _resolved(path, self.links.get(path, ()), self.files, self.uris)
            self.known.out[path] = found
        return found

    @property
    def _paths(self) -> dict[str, str]:
        if self.known.paths is None:
            self.known.paths = {canonical(uri): path for path, uri in self.uris.items()}
        return self.known.paths

    @property
    def _back(self) -> Mapping[str, Mapping[str, tuple[Edge, ...]]]:
        if self.known.back is None:
            back: dict[str, dict[str, tuple[Edge, ...]]] = {}
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


def _replace(
    back: dict[str, dict[str, tuple[Edge, ...]]],
    source: str,
    old: _OutgoingLinks,
    new: _OutgoingLinks,
) -> None:
    """Put the new links of a file in place of the old ones; what others may be reading is copied."""
    leading = _by_target(source, new)
    for target in (old.all_targets | new.all_targets) - {source}:
        others = {path: each for path, each in back.get(target, {}).items() if path != source}
        back[target] = others | ({source: leading[target]} if target in leading else {})
