"""`create_file`: propose a new file."""

import asyncio

from pydantic import Field

from stet.tools.base import Desk, Params, Tool, ToolError, ToolGroup, ToolKind


class CreateFile(Params):
    """Propose a new file. It must not exist yet; change an existing one with `edit_file`.

    The user reviews it; it is written only when they accept.
    """

    file: str = Field(description="Path relative to the workspace root.")
    content: str = Field(description="The whole text of the file.")


async def run(params: CreateFile, desk: Desk) -> str:
    """What was proposed.

    Raises:
        ToolError: If the file exists or may not be created.
    """
    located = desk.locate(params.file)
    if await asyncio.to_thread(desk.snapshot().exists, located.uri):
        raise ToolError(f"{params.file!r} exists already. Change it with `edit_file`.")
    hunk = desk.propose_create(located, params.content, f"Create {located.name}")
    return f"Proposed {hunk.id}: the new file {located.name}. It waits for the user.\n"


CREATE_FILE = Tool(
    name="create_file", group=ToolGroup.ACTION, kind=ToolKind.WRITE, params=CreateFile, run=run
)
