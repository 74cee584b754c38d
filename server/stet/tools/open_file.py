"""`open_file`: show a file to the user, at a line."""

import asyncio

from pydantic import Field

from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind


class OpenFile(Params):
    """Show the user a file in their editor. It changes nothing, and you are not shown what it
    holds.
    """

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
        document = await asyncio.to_thread(ctx.reader.snapshot().show_or_none, located.uri)
        if document is not None and params.line > max(document.n_lines, 1):
            raise ToolError(
                f"{params.file!r} has {document.n_lines} lines; line {params.line} is past the end."
            )
    await ctx.proposer.open(params.file, params.line)
    where = f" at line {params.line}" if params.line else ""
    return f"{params.file} is shown to the user{where}.\n"


OPEN_FILE = Tool("open_file", ToolGroup.ACTION, ToolKind.READ, OpenFile, run)
