"""`done`: the model reports that the work is finished."""

from pydantic import Field

from stet.tools.tool import Params, ShortForm, Tool, ToolContext, ToolGroup, ToolKind


class Done(Params):
    """Say that the work is finished. Call it last, with one or two sentences for the user."""

    summary: str = Field(description="What was done, or why it could not be.")


async def run(params: Done, ctx: ToolContext) -> str:
    """Record the summary; the loop ends after this call."""
    ctx.reader.report.summary = params.summary.strip()
    return "Finished.\n"


DONE = Tool(
    "done",
    ToolGroup.ACTION,
    ToolKind.CONTROL,
    Done,
    run,
    short=ShortForm("Say that the work is finished. Call it last.", ("summary",)),
)
