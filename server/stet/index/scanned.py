"""The link graph of one scan: what is asked for is worked out once, and taken over by the next."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stet.index.files import Files
from stet.index.graph import MAX_DEPTH, Edge
from stet.index.link import Link
from stet.index.resolve import Resolved, resolve
from stet.workspace.uris import canonical


@dataclass(frozen=True, slots=True)
class _Out:
    """The links of one file: each with the paths it means, and all those paths."""

    edges: tuple[Edge, ...]
    targets: tuple[tuple[str, ...], ...]
    beside: frozenset[str]


_NONE = _Out((), (), frozenset())


@dataclass(slots=True)
class _Known:
    """What has been worked out of one graph.

    Attributes:
        out: Of each file that was asked about.
        back: For each path the edges that lead there, by the path of their file; None until it has
            been asked for.
        paths: The path of each canonical URI; None until it has been asked for.
    """

    out: dict[str, _Out] = field(default_factory=dict)
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

    files: Files
    links: Mapping[str, tuple[Link, ...]]
    uris: Mapping[str, str]
    is_cut: bool = False
    known: _Known = field(default_factory=_Known, repr=False, compare=False)

    def following(self, before: "ScannedLinks") -> "ScannedLinks":
        """This graph, with what `before` had worked out and that still holds.

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
        known = _Known(out, back, before.known.paths)
        return replace(self, files=before.files, uris=before.uris, known=known)

    def outgoing(self, uri: str) -> tuple[Edge, ...]:
        """The links in a file, dead ones too, in order of place."""
        path = self._paths.get(canonical(uri))
        return () if path is None else self._out(path).edges

    def backlinks(self, uri: str) -> tuple[Edge, ...]:
        """The links in other files that mean this one, in order of file and place."""
        path = self._paths.get(canonical(uri))
        found = {} if path is None else self._back.get(path, {})
        return tuple(edge for source in sorted(found) for edge in found[source])

    def neighbours(self, uri: str, depth: int) -> tuple[str, ...]:
        """The files within `depth` steps in either direction, the nearest first, without itself."""
        start = self._paths.get(canonical(uri))
        if start is None:
            return ()
        seen, ring, found = {start}, [start], []
        back = self._back
        for _ in range(min(depth, MAX_DEPTH)):
            beside: set[str] = set()
            for path in ring:
                beside |= self._out(path).beside
                beside.update(back.get(path, ()))
            ring = sorted(beside - seen)
            seen |= beside
            found += ring
        return tuple(self.uris[path] for path in found)

    def _out(self, path: str) -> _Out:
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


def _resolved(path: str, links: tuple[Link, ...], files: Files, uris: Mapping[str, str]) -> _Out:
    edges, targets = [], []
    known: dict[tuple[object, ...], Resolved | None] = {}  # one file may hold a link many times
    for link in links:
        alike = (link.kind, link.written, link.context, link.inside, link.renamed)
        if alike not in known:
            known[alike] = resolve(link, path, files)
        found = known[alike]
        meant = () if found is None else found.targets
        edges.append(Edge(uris[path], link, tuple(uris[each] for each in meant)))
        targets.append(meant)
    if not edges:
        return _NONE
    beside = frozenset(each for meant in targets for each in meant)
    return _Out(tuple(edges), tuple(targets), beside)


def _by_target(source: str, out: _Out) -> Mapping[str, tuple[Edge, ...]]:
    """The edges of a file by the path they lead to; a link to the file itself leads to no other."""
    found: dict[str, list[Edge]] = {target: [] for target in out.beside - {source}}
    for edge, meant in zip(out.edges, out.targets, strict=True):
        for target in meant:
            if target != source:
                found[target].append(edge)
    return {target: tuple(edges) for target, edges in found.items()}


def _replace(
    back: dict[str, dict[str, tuple[Edge, ...]]], source: str, old: _Out, new: _Out
) -> None:
    """Put the new links of a file in place of the old ones; what others may be reading is copied."""
    leading = _by_target(source, new)
    for target in (old.beside | new.beside) - {source}:
        kept = {path: each for path, each in back.get(target, {}).items() if path != source}
        back[target] = kept | ({source: leading[target]} if target in leading else {})
