"""`create_file`: propose a new file."""

from pydantic import Field

from stet.tools.tool import Params, ShortForm, Tool, ToolContext, ToolGroup, ToolKind


class CreateFile(Params):
    """Propose a new file. It must not exist yet; change an existing one with `edit_file`.

    The user reviews it; it is written only when they accept.
    """

    file: str = Field(description="Path relative to the workspace root.")
    content: str = Field(description="The whole text of the file.")


async def run(params: CreateFile, ctx: ToolContext) -> str:
    """Propose the new file and return what was proposed.

    Raises:
        ToolError: If the file exists or may not be created.
    """
    hunk = await ctx.proposer.create(params.file, params.content)
    return f"Proposed {hunk.id}: the new file {params.file}. It waits for the user.\n"


CREATE_FILE = Tool(
    "create_file",
    ToolGroup.ACTION,
    ToolKind.WRITE,
    CreateFile,
    run,
    short=ShortForm("Propose a new file.", ("file", "content")),
)
