"""`add_tags`: propose tags in a note's YAML front matter."""

import asyncio
from typing import Annotated

from pydantic import Field

from stet.index.front_matter import find_front_matter
from stet.index.links import NOTES, ending_of
from stet.index.properties import BadYaml
from stet.index.tags import BadTag, add_tags
from stet.text.edit import TextEdit
from stet.tools.base import Params, Tool, ToolGroup, ToolKind
from stet.tools.desk import Desk
from stet.tools.errors import ToolError

_TRIES = 3
MAX_TAGS = 100
"""How many one call may add."""
MAX_TAG = 200
"""Characters of one."""


class AddTags(Params):
    """Propose that tags are added to a note, in its YAML front matter. Those it has stay."""

    file: str = Field(description="Path relative to the workspace root.")
    tags: list[Annotated[str, Field(max_length=MAX_TAG)]] = Field(
        min_length=1, max_length=MAX_TAGS, description="Tags, such as `project/alpha`."
    )


async def run(params: AddTags, desk: Desk) -> str:
    """What was proposed.

    Raises:
        ToolError: If one is no tag, the front matter can't be read, or the gate refuses.
    """
    for _ in range(_TRIES):
        live = await desk.live(params.file, position="tags")
        edit, new = await asyncio.to_thread(_edit, params, live.text)
        now = desk.workspace.shown(live.uri) or live
        if now.text == live.text:
            break
    else:
        raise ToolError(f"{params.file!r} is being changed. Try again later.")
    names = ", ".join(new)
    hunks = desk.propose(now, params.file, edit, f"Add tags: {names}", position="tags")
    if not hunks:
        return f"{params.file} has these tags already; nothing to do.\n"
    told = ", ".join(hunk.id for hunk in hunks)
    return f"Proposed {told}: the tags {names} in {params.file}. They wait for the user.\n"


def _edit(params: AddTags, text: str) -> tuple[TextEdit, tuple[str, ...]]:
    if ending_of(params.file) not in NOTES and find_front_matter(text) is None:
        raise ToolError(f"{params.file!r} is no Markdown note and has no front matter.")
    try:
        return add_tags(text, params.tags)
    except (BadYaml, BadTag) as error:
        raise ToolError(f"{params.file!r}, {error}") from error


ADD_TAGS = Tool(
    name="add_tags", group=ToolGroup.ACTION, kind=ToolKind.WRITE, params=AddTags, run=run
)
