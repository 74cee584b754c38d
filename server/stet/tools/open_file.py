"""`open_file`: show the user a file, at a line."""

import asyncio

from pydantic import Field

from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.snapshot import NotShown, Snapshot


class OpenFile(Params):
    """Show the user a file in their editor. It changes nothing, and you are not shown what it holds."""

    file: str = Field(description="Path relative to the workspace root.")
    line: int | None = Field(default=None, ge=1, description="The line to show, from 1.")


async def run(params: OpenFile, ctx: ToolContext) -> str:
    """Show the file to the user and return what is shown.

    Raises:
        ToolError: If there is no such file or line, or the user wants no files opened.
    """
    if params.line is not None:
        # `open` reports refused files, and files that are not text.
        located = ctx.reader.locate(params.file)
        n_lines = await asyncio.to_thread(_n_lines, ctx.reader.snapshot(), located.uri)
        if n_lines is not None and params.line > max(n_lines, 1):
            raise ToolError(
                f"{params.file!r} has {n_lines} lines; line {params.line} is past the end."
            )
    await ctx.proposer.open(params.file, params.line)
    where = f" at line {params.line}" if params.line else ""
    return f"{params.file} is shown to the user{where}.\n"


def _n_lines(snapshot: Snapshot, uri: str) -> int | None:
    """Return how many lines a file has; None where it has none to show."""
    try:
        return snapshot.show(uri).n_lines
    except NotShown:
        return None


OPEN_FILE = Tool("open_file", ToolGroup.ACTION, ToolKind.READ, OpenFile, run)
