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

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stet.context.attaching import find_attached, scoped
from stet.context.current import Current, find_current
from stet.context.gathering import Gathered, GatheredFile
from stet.context.in_scope import InScope, find_in_scope
from stet.context.mentions import find_mentioned
from stet.context.sections.attached_files import attached_files
from stet.context.sections.current_file import current_file
from stet.context.sections.mentioned import mentioned
from stet.context.sections.selection import MAX_SELECTIONS, selection
from stet.context.sections.user_query import user_query
from stet.context.sections.workspace import workspace
from stet.context.values import Context, Place, Section
from stet.index.graph import LinkGraph
from stet.text.document import TextDocument
from stet.workspace.attachments import Attachments
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

__all__ = ["Context", "Place", "Section", "build_context"]


def build_context(
    snapshot: Snapshot,
    place: Place,
    prompt: str,
    graph: LinkGraph | None = None,
    attachments: Attachments | None = None,
) -> Context:
    """Everything that is sent with `prompt`, asked at `place`.

    Asks the disk for times and for files in scope that are not open: call it in a worker thread.
    The scope `linked` follows `graph`; without one the workspace is scanned for links.
    """
    attachments = attachments or Attachments()
    if not snapshot.is_question:
        snapshot = snapshot.asked_about(place.uri or snapshot.activity.active)
    snapshot = scoped(snapshot, attachments)
    current = find_current(snapshot, place)
    named = find_mentioned(snapshot, prompt, current)
    chosen = find_attached(snapshot, attachments, current, named.whole)
    named = replace(named, files=tuple(one for one in named.files if _key(one) not in chosen.whole))
    besides = frozenset(map(_key, (*named.files, *chosen.files)))
    found = find_in_scope(snapshot, current, graph, besides)
    shown = [] if current is None else [current.document]
    shown += [each.document for each in chosen.files]
    shown += [each.document for each in found.files]
    shown += [each.document for each in named.files]
    sections = (*_data(snapshot, current, chosen, found, named), user_query(prompt))
    problems = (*named.problems, *chosen.problems, *chosen.hidden)
    n_lines = snapshot.settings.context.current_file_lines
    stretches = _stretches(current, shown, n_lines)
    return Context(sections, tuple(shown), problems, tuple(stretches))


def _stretches(
    current: Current | None, shown: Sequence[TextDocument], n_lines: int
) -> Iterator[tuple[TextDocument, int, int]]:
    """Which lines of very long documents a context of at most `n_lines` of each can hold."""
    for document in shown:
        if not document.is_large:
            continue
        if current is None or document is not current.document:
            yield document, 0, n_lines
            continue
        line = 0 if current.cursor is None else current.cursor.line
        yield document, max(0, line - n_lines), line + n_lines
        for range_ in current.selected[:MAX_SELECTIONS]:
            yield (
                document,
                range_.start.line,
                min(range_.last_line + 1, range_.start.line + n_lines),
            )


def _key(file: GatheredFile) -> str:
    return canonical(file.document.uri)


def _data(
    snapshot: Snapshot,
    current: Current | None,
    chosen: Gathered,
    found: InScope,
    named: Gathered,
) -> list[Section]:
    """The sections before the question."""
    settings = snapshot.settings
    sections: list[Section] = []
    if current is not None:
        sections.append(current_file(current, settings))
    if (attached := attached_files(chosen, found, settings)) is not None:
        sections.append(attached)
    if current is not None and current.selected:
        sections.append(selection(current, settings))
    if named != Gathered():
        sections.append(mentioned(named, settings))
    sections.append(workspace(snapshot.roots, current))
    return sections
