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

from stet.context.attachment_collector import (
    AttachedFile,
    CollectedAttachments,
    collect_attachments,
    with_scope,
)
from stet.context.context_sections import (
    MAX_SELECTIONS,
    attached_files_section,
    current_file_section,
    mentioned_section,
    selection_section,
    user_query_section,
    workspace_section,
)
from stet.context.context_values import Context, ContextSection, EditorLocation
from stet.context.current_document import CurrentDocument, find_current_document
from stet.context.mentions import collect_mentioned
from stet.context.scope_files import ScopeFiles, find_scope_files
from stet.links.graph import LinkGraph
from stet.text.document import TextDocument
from stet.workspace.attachments import Attachments
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

__all__ = ["Context", "ContextSection", "EditorLocation", "build_context"]


def build_context(
    snapshot: Snapshot,
    location: EditorLocation,
    prompt: str,
    graph: LinkGraph | None = None,
    attachments: Attachments | None = None,
) -> Context:
    """Everything that is sent with `prompt`, asked at `location`.

    Asks the disk for times and for files in scope that are not open: call it in a worker thread.
    The scope `linked` follows `graph`; without one the workspace is scanned for links.
    """
    attachments = attachments or Attachments()
    if not snapshot.is_question:
        snapshot = snapshot.asked_about(location.uri or snapshot.activity.active)
    snapshot = with_scope(snapshot, attachments)
    current = find_current_document(snapshot, location)
    mentions = collect_mentioned(snapshot, prompt, current)
    attached = collect_attachments(snapshot, attachments, current, mentions.whole_files)
    mentions = replace(
        mentions,
        files=tuple(file for file in mentions.files if _file_key(file) not in attached.whole_files),
    )
    exclude = frozenset(map(_file_key, (*mentions.files, *attached.files)))
    in_scope = find_scope_files(snapshot, current, graph, exclude)
    shown = [] if current is None else [current.document]
    shown += [attached_file.document for attached_file in attached.files]
    shown += [each.document for each in in_scope.files]
    shown += [each.document for each in mentions.files]
    sections = (
        *_data_sections(snapshot, current, attached, in_scope, mentions),
        user_query_section(prompt),
    )
    problems = (*mentions.problems, *attached.problems, *attached.hidden)
    n_lines = snapshot.settings.context.current_file_lines
    line_ranges = _large_line_ranges(current, shown, n_lines)
    return Context(sections, tuple(shown), problems, tuple(line_ranges))


def _large_line_ranges(
    current: CurrentDocument | None, shown: Sequence[TextDocument], n_lines: int
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


def _file_key(file: AttachedFile) -> str:
    return canonical(file.document.uri)


def _data_sections(
    snapshot: Snapshot,
    current: CurrentDocument | None,
    attachments: CollectedAttachments,
    in_scope: ScopeFiles,
    mentions: CollectedAttachments,
) -> list[ContextSection]:
    """Return the sections before the question."""
    settings = snapshot.settings
    sections: list[ContextSection] = []
    if current is not None:
        sections.append(current_file_section(current, settings))
    if (attached_section := attached_files_section(attachments, in_scope, settings)) is not None:
        sections.append(attached_section)
    if current is not None and current.selected:
        sections.append(selection_section(current, settings))
    if mentions != CollectedAttachments():
        sections.append(mentioned_section(mentions, settings))
    sections.append(workspace_section(snapshot.roots, current))
    return sections
