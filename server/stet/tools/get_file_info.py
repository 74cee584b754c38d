"""`get_file_info`: facts about a file without its text."""

import asyncio
import dataclasses
from collections.abc import Iterator

from pydantic import Field

from stet.links.link_scan import LinkCache, scan_links
from stet.notes.note_content import tags_in
from stet.outline.languages import language_named
from stet.text.document import TextDocument, ending_of
from stet.text.escape import escape_line
from stet.text.render import iso_time, join_bounded
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.paths import Located
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.uris import path_of


class GetFileInfo(Params):
    """Show what is known of a file: size, lines, words, time, language, links, tags, state.

    It tells whether the file is open, has unsaved changes, and what is pending in it.
    """

    file: str = Field(description="Path relative to the workspace root.")


async def run(params: GetFileInfo, ctx: ToolContext) -> str:
    """Return one fact per line.

    Raises:
        ToolError: If there is no such file or it may not be shown.
    """
    located = ctx.reader.locate(params.file)
    hunks = ctx.reader.ledger.live(located.uri)
    # Take the snapshot here: the workspace belongs to the event loop.
    facts = await asyncio.to_thread(_facts, ctx.reader.snapshot(), located, ctx.links)
    pending = ", ".join(hunk.id for hunk in hunks if hunk.chat == ctx.reader.turn.chat)
    facts.append(f"pending hunks: {len(hunks)}{f', yours: {pending}' if pending else ''}")
    return join_bounded(facts, f"`read_file` shows {params.file!r}")


def _facts(snapshot: Snapshot, located: Located, cache: LinkCache) -> list[str]:
    facts = [f"file: {escape_line(located.name)}"]
    try:
        document = snapshot.show(located.uri)
    except NotShown as refused:
        if refused.rule not in NO_TEXT:
            raise ToolError(f"{refused} `list_files` gives the names there are.") from refused
        facts.append(f"kind: {escape_line(refused.message)}")
        return facts + list(_on_disk(snapshot, located))
    language = document.language_id or language_named(ending_of(located.name)) or "unknown"
    facts += [
        f"language: {escape_line(language)}",
        f"characters: {len(document.text)}",
        f"lines: {document.n_lines}",
        f"words: {len(document.text.split())}",
    ]
    facts += _on_disk(snapshot, located)
    facts.append(f"state: {_state(snapshot, located, document)}")
    scan = scan_links(snapshot, cache)
    n_out = sum(bool(edge.targets) for edge in scan.outgoing(located.uri))
    facts.append(
        f"links: {n_out} to files here, {len(scan.backlinks(located.uri))} from other files"
    )
    if document.is_markdown:
        tags = ", ".join(f"#{escape_line(tag)}" for tag in tags_in(document.text))
        facts.append(f"tags: {tags or 'none'}")
    return facts


def _on_disk(snapshot: Snapshot, located: Located) -> Iterator[str]:
    path = path_of(located.uri)
    stat = None if path is None else snapshot.system.stat(snapshot.system.real_path(path))
    if stat is None:
        yield "on disk: no"
        return
    yield f"size on disk: {stat.size} bytes"
    yield f"last written: {iso_time(stat.mtime) or 'at a time no calendar has'}"


def _state(snapshot: Snapshot, located: Located, document: TextDocument) -> str:
    """Return whether the file is open, and whether its text is saved."""
    if document.version is None:
        return "not open"
    closed = dataclasses.replace(snapshot, documents={})
    try:
        saved = closed.show(located.uri).text
    except NotShown as refused:
        return "open, never saved" if refused.rule == "missing" else "open"
    return "open, saved" if saved == document.text else "open, with unsaved changes"


GET_FILE_INFO = Tool("get_file_info", ToolGroup.WORKSPACE, ToolKind.READ, GetFileInfo, run)
