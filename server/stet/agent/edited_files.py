"""The files that are being edited, as they are now: what a model must not know by a summary only."""

from stet.agent.compaction import COMPACTED_MARK
from stet.context.context_tags import escape_tags, single_line
from stet.review.proposal import OPEN
from stet.tools.read_file import READ_FILE, ReadFile
from stet.tools.tool_context import ToolContext
from stet.tools.tool_errors import ToolError

MAX_FILES = 5
HEADING = (
    f"{COMPACTED_MARK}earlier parts of this conversation, to make room. The files that are being edited, as "
    "they are now:)"
)


async def edited_file_texts(ctx: ToolContext, most: int) -> str:
    """What the turn has edited, or has pending, numbered as `read_file` does; "" for nothing.

    A file that would take the text beyond `most` characters is named only.
    """
    hunks = ctx.ledger.hunks(chat=ctx.chat)
    uris = [hunk.uri for hunk in hunks if hunk.state in OPEN or hunk.turn == ctx.turn]
    snapshot = ctx.snapshot()
    parts = []
    for uri in list(dict.fromkeys(reversed(uris)))[:MAX_FILES]:
        name = snapshot.name_of(uri)
        try:
            text = escape_tags(await READ_FILE.run(ReadFile(file=name), ctx))
        except ToolError:
            continue  # gone, or not to be shown any more
        shown = single_line(name)
        if len(text) > most:
            parts.append(f"{shown}: too long to stand here. Read it before you edit it again.")
            continue
        most -= len(text)
        parts.append(f"{shown}:\n{text}")
    return "\n".join([HEADING, *parts]) if parts else ""
