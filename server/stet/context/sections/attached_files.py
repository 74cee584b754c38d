"""`<attached_files>`: the first lines of what else is in scope, the most recently written first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stet.context.current import Current
from stet.context.excerpt import head_of
from stet.context.tags import element
from stet.context.values import Section
from stet.index.graph import LinkGraph
from stet.index.scan import scan_links
from stet.settings.values import Settings
from stet.text.document import TextDocument
from stet.text.iso import iso_time
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical


@dataclass(frozen=True, slots=True)
class Attached:
    """One file.

    Attributes:
        document: As it was.
        name: What the model calls it.
        mtime: Seconds since the epoch; None where it is on no disk.
    """

    document: TextDocument
    name: str
    mtime: float | None


def find_attached(
    snapshot: Snapshot, current: Current | None, graph: LinkGraph | None = None
) -> tuple[Attached, ...]:
    """The files in scope but the current one: those on no disk yet, then the latest written.

    Files of the same time are in the order of their names, so that the same world always gives the
    same context. What may not be shown does not count towards the limit.
    """
    settings = snapshot.settings.context
    own = None if current is None else canonical(current.document.uri)
    uris = [uri for uri in _in_scope(snapshot, current, graph) if canonical(uri) != own]
    candidates = [(snapshot.mtime(uri), snapshot.name_of(uri), uri) for uri in uris]
    candidates.sort(key=lambda each: (each[0] is not None, -(each[0] or 0.0), each[1]))
    found: list[Attached] = []
    for mtime, name, uri in candidates:
        if len(found) >= settings.max_files:
            break
        try:
            found.append(Attached(snapshot.show(uri), name, mtime))
        except NotShown:
            continue
    return tuple(found)


def attached_files(attached: Sequence[Attached], settings: Settings) -> Section:
    """One `<file_contents>` for each file."""
    elements = (_file_contents(each, settings.context.head_lines) for each in attached)
    return Section("attached_files", element("attached_files", "\n".join(elements)))


def _in_scope(
    snapshot: Snapshot, current: Current | None, graph: LinkGraph | None
) -> Iterator[str]:
    """URIs of the files that `context.scope` names."""
    scope = snapshot.settings.context.scope
    if scope == "open":
        yield from (document.uri for document in snapshot.documents.values())
    elif scope == "folder" and current is not None:
        yield from (each.uri for each in snapshot.siblings(current.document.uri))
    elif scope == "linked" and current is not None:
        graph = scan_links(snapshot) if graph is None else graph
        yield from graph.neighbours(current.document.uri, snapshot.settings.context.link_depth)


def _file_contents(attached: Attached, head_lines: int) -> str:
    excerpt = head_of(attached.document, head_lines)
    attributes = {"path": attached.name}
    written = None if attached.mtime is None else iso_time(attached.mtime)
    if written is not None:
        attributes["mtime"] = written
    attributes |= {"lines": excerpt.lines, "total_lines": str(excerpt.total)}
    return element("file_contents", excerpt.text, attributes)
