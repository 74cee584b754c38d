"""A third party's tool in one file. One line in a list makes it a tool of the agent."""

from pydantic import Field

from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind


class Shout(Params):
    """Say it louder."""

    text: str = Field(description="What is said.")


async def run(params: Shout, ctx: ToolContext) -> str:
    """Return the text in upper case."""
    return f"{params.text.upper()}!\n"


SHOUT = Tool(name="shout", group=ToolGroup.WORKSPACE, kind=ToolKind.READ, params=Shout, run=run)
