"""The files that `context.scope` brings: breadth first, as many as there is room for."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from stet.context.current_document import CurrentDocument
from stet.links.graph import LinkGraph
from stet.links.link_scan import ScannedLinks, scan_links
from stet.text.document import TextDocument
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """One file.

    Attributes:
        document: The file's text when it was read.
        name: What the model calls it.
        mtime: Seconds since the epoch; None where it is on no disk.
    """

    document: TextDocument
    name: str
    mtime: float | None


@dataclass(frozen=True, slots=True)
class ScopeFiles:
    """What the scope brings beside the current file.

    Attributes:
        files: Those that are shown.
        left_out: Names of those there was no room for, the nearest first.
        is_partial: Whether there are so many files that not all of their links were read.
    """

    files: tuple[ScopeFile, ...] = ()
    left_out: tuple[str, ...] = ()
    is_partial: bool = False


def find_scope_files(
    snapshot: Snapshot,
    current: CurrentDocument | None,
    graph: LinkGraph | None = None,
    exclude: Collection[str] = (),
) -> ScopeFiles:
    """Return the files in scope, except the current file and the files of `exclude` (keys). Blocks
    on the disk.

    What is fewer links away comes first; of the same distance what is on no disk yet, then the
    latest written, then by name: the same world always gives the same context. What may not be
    shown does not count towards `context.maxFiles`.
    """
    context = snapshot.settings.context
    if context.scope == "linked" and graph is None and current is not None:
        graph = scan_links(snapshot)
    skipped = {*exclude}
    if current is not None:
        skipped.add(canonical(current.document.uri))
    files: list[ScopeFile] = []
    left_out: list[str] = []
    for ring in _files_by_distance(snapshot, current, graph):
        for mtime, name, uri in _latest_first(snapshot, ring, skipped):
            if len(files) >= context.max_files:
                left_out.append(name)
                continue
            try:
                files.append(ScopeFile(snapshot.show(uri), name, mtime))
            except NotShown:
                continue
    is_partial = context.scope == "linked" and isinstance(graph, ScannedLinks) and graph.is_cut
    return ScopeFiles(tuple(files), tuple(left_out), is_partial)


def _latest_first(
    snapshot: Snapshot, ring: Iterable[str], skipped: Collection[str]
) -> list[tuple[float | None, str, str]]:
    """Time, name and URI of the files of one distance."""
    uris = (uri for uri in ring if canonical(uri) not in skipped)
    candidates = [(snapshot.mtime(uri), snapshot.name_of(uri), uri) for uri in uris]
    candidates.sort(key=lambda each: (each[0] is not None, -(each[0] or 0.0), each[1]))
    return candidates


def _files_by_distance(
    snapshot: Snapshot, current: CurrentDocument | None, graph: LinkGraph | None
) -> Iterator[Iterable[str]]:
    """URIs of the files that the scope names, those of one distance together."""
    scope = snapshot.settings.context.scope
    if scope == "open":
        privacy = snapshot.privacy()
        uris = (document.uri for document in snapshot.documents.values())
        yield [uri for uri in uris if privacy.check(uri) is None]
    elif scope == "folder" and current is not None:
        yield [file.uri for file in snapshot.siblings(current.document.uri)]
    elif scope == "linked" and current is not None and graph is not None:
        uri, n_known = current.document.uri, 0
        for depth in range(1, snapshot.settings.context.link_depth + 1):
            near = graph.neighbours(uri, depth)
            yield near[n_known:]
            n_known = len(near)
