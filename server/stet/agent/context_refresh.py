"""The current state of the editor during a turn, in the sections that came with the question."""

import asyncio
from dataclasses import replace

from stet.context.attachment_collector import with_scope
from stet.context.context_builder import Context, EditorLocation, build_context
from stet.links.link_scan import LinkCache, scan_links
from stet.text.render import MAX_CHARACTERS
from stet.tools.file_reader import FileReader
from stet.workspace.attachments import Attachments
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

_MAX_TRIES = 6
"""The most times that the limits are halved to fit the context into the result of a tool."""


async def current_context(
    reader: FileReader,
    links: LinkCache,
    location: EditorLocation,
    attachments: Attachments | None = None,
) -> str:
    """Return the current file with cursor and selection, and the attached files.

    Serves as `ToolContext.current_context` for a question at `location` with `attachments`. The
    documents in the result are recorded as shown and read.
    """
    # Take the snapshot here: the workspace belongs to the event loop.
    attachments = attachments or Attachments()
    snapshot = with_scope(reader.snapshot(), attachments)
    place = _current_location(snapshot, location)
    context = await asyncio.to_thread(_fit_context, snapshot, place, links, attachments)
    for document in context.shown:
        reader.shown.record(document)
        reader.report.record_read(snapshot.name_of(document.uri))
    *data, _ = context.sections  # the last is the question
    return "\n".join(section.text for section in data) if context.shown else ""


def _current_location(snapshot: Snapshot, location: EditorLocation) -> EditorLocation:
    """Return the user's current location, or that of the question if no newer one is known."""
    active = snapshot.activity.active
    if active is None:
        active = location.uri
    if active is not None and location.uri is not None:
        is_same = canonical(active) == canonical(location.uri)
        if is_same and snapshot.activity.selection_of(active) is None:
            return location
    return EditorLocation(active)


def _fit_context(
    snapshot: Snapshot, location: EditorLocation, links: LinkCache, attachments: Attachments
) -> Context:
    """Return the context, with less of each file until it fits into the result of a tool.

    Blocks on the disk.
    """
    settings = snapshot.settings
    graph = scan_links(snapshot, links) if settings.context.scope == "linked" else None
    halvings = 0
    while True:
        less = replace(
            settings.context,
            current_file_lines=max(10, settings.context.current_file_lines >> halvings),
            head_lines=max(2, settings.context.head_lines >> halvings),
        )
        trimmed = replace(snapshot, settings=replace(settings, context=less))
        context = build_context(trimmed, location, "", graph, attachments)
        size = sum(len(section.text) + 1 for section in context.sections[:-1])
        halvings += 1
        if size <= MAX_CHARACTERS or halvings == _MAX_TRIES:
            return context
