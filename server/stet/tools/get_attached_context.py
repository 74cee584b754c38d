"""`get_attached_context`: the current state of the editor and the attached files."""

import asyncio

from stet.text.render import MAX_CHARACTERS
from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind
from stet.workspace.safe_excerpt import excerpt, redactor_of


class GetAttachedContext(Params):
    """Show the user's editor as it is now: current file, cursor, selection, attached files.

    The question came with it; call this when the user may have gone on since.
    """


async def run(params: GetAttachedContext, ctx: ToolContext) -> str:  # noqa: ARG001 - it has none
    """Return the current sections of the context."""
    text = await ctx.current_context()
    if not text:
        return "No file is open and nothing is attached. `list_files` gives the names of files.\n"
    if len(text) <= MAX_CHARACTERS:
        return f"{text}\n"
    n_cut = len(text) - MAX_CHARACTERS
    top = await asyncio.to_thread(excerpt, text, MAX_CHARACTERS, redactor_of(ctx.reader.snapshot()))
    return f"{top}\n(cut: {n_cut} more characters; `read_file` shows each file)\n"


GET_ATTACHED_CONTEXT = Tool(
    "get_attached_context",
    ToolGroup.WORKSPACE,
    ToolKind.READ,
    GetAttachedContext,
    run,
    has_sections=True,
)
