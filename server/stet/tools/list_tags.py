"""`list_tags`: the tags of the workspace's notes, each with its number of notes."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from pydantic import Field

from stet.notes.note_content import tags_in
from stet.text.escape import escape_line
from stet.text.render import join_bounded
from stet.text.unicode_normal import fold_name
from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind
from stet.workspace.names import without_folders
from stet.workspace.snapshot import Snapshot
from stet.workspace.walk import run_in_slices


class ListTags(Params):
    """List the tags of Markdown notes, inline and in front matter, the most used first.

    `query_files` finds the notes with a tag.
    """

    folder: str = Field(default="", description="Only notes below this folder.")


async def run(params: ListTags, ctx: ToolContext) -> str:
    """Return one tag per line.

    Raises:
        ToolError: If the folder is not in the workspace.
    """
    if params.folder:
        ctx.reader.locate(params.folder)
    snapshot = ctx.reader.snapshot()
    notes = await run_in_slices(_tags(snapshot, params.folder), snapshot.system)
    lines = await asyncio.to_thread(_counted, notes)
    if not lines:
        where = f" below {params.folder!r}" if params.folder else ""
        return without_folders(f"No note{where} has a tag.\n")
    return join_bounded(lines, "name a folder")


def _tags(snapshot: Snapshot, folder: str) -> Iterator[tuple[str, ...]]:
    """Yield the tags of every file; no tags for a file that is not a note. Blocks on the disk."""
    for located in snapshot.walk(folder):
        document = snapshot.show_or_none(located.uri)
        if document is not None:  # the file may have been deleted since it was listed
            yield tags_in(document.text) if document.is_markdown else ()


def _counted(notes: Iterable[tuple[str, ...]]) -> list[str]:
    """Return one line per tag, in its commonest spelling.

    Spellings that differ only in case or Unicode form are one tag.
    """
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    n_notes: Counter[str] = Counter()
    for tags in notes:
        n_notes.update({fold_name(tag) for tag in tags})
        for tag in tags:
            spellings[fold_name(tag)][tag] += 1
    ranked = sorted(n_notes.items(), key=lambda each: (-each[1], each[0]))
    return [
        f"#{escape_line(spellings[key].most_common(1)[0][0])}: {n} note{'' if n == 1 else 's'}"
        for key, n in ranked
    ]


LIST_TAGS = Tool("list_tags", ToolGroup.WORKSPACE, ToolKind.READ, ListTags, run)
