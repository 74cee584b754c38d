"""What the model sees of the editor: sections in Cursor's shape, then the question.

    <additional_data>
    <current_file> ... </current_file>
    <attached_files> ... </attached_files>
    <manually_added_selection path="src/app.py" lines="10-11"> ... </manually_added_selection>
    <mentioned> ... </mentioned>
    <workspace roots="/ws" current_directory="/ws/src"/>
    </additional_data>
    <user_query> ... </user_query>

All text comes through `Snapshot.show`, so open text is laid over the disk's and nothing leaves that
may not. What has nothing to say is left out. The same snapshot gives the same bytes.
"""

from stet.context.current import Current, find_current
from stet.context.mentions import Mentioned, find_mentioned
from stet.context.sections.attached_files import Attached, attached_files, find_attached
from stet.context.sections.current_file import current_file
from stet.context.sections.mentioned import mentioned
from stet.context.sections.selection import selection
from stet.context.sections.user_query import user_query
from stet.context.sections.workspace import workspace
from stet.context.values import Context, Place, Section
from stet.index.graph import LinkGraph
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

__all__ = ["Context", "Place", "Section", "build_context"]


def build_context(
    snapshot: Snapshot, place: Place, prompt: str, graph: LinkGraph | None = None
) -> Context:
    """Everything that is sent with `prompt`, asked at `place`.

    Asks the disk for times and for files in scope that are not open: call it in a worker thread.
    The scope `linked` follows `graph`; without one the workspace is scanned for links.
    """
    snapshot = snapshot.asked_about(place.uri)
    current = find_current(snapshot, place)
    named = find_mentioned(snapshot, prompt, current)
    whole = {canonical(each.document.uri) for each in named.files}
    attached = tuple(
        each
        for each in find_attached(snapshot, current, graph)
        if canonical(each.document.uri) not in whole
    )
    shown = [] if current is None else [current.document]
    shown += [each.document for each in attached]
    shown += [each.document for each in named.files]
    sections = (*_data(snapshot, current, attached, named), user_query(prompt))
    return Context(sections, tuple(shown), named.problems)


def _data(
    snapshot: Snapshot,
    current: Current | None,
    attached: tuple[Attached, ...],
    named: Mentioned,
) -> list[Section]:
    """The sections before the question."""
    sections: list[Section] = []
    if current is not None:
        sections.append(current_file(current, snapshot.settings))
    if attached:
        sections.append(attached_files(attached, snapshot.settings))
    if current is not None and current.selected:
        sections.append(selection(current, snapshot.settings))
    if named != Mentioned():
        sections.append(mentioned(named, snapshot.settings))
    sections.append(workspace(snapshot.roots, current))
    return sections
