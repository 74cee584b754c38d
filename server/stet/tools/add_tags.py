"""`add_tags`: propose tags in a note's YAML front matter."""

from functools import partial
from typing import Annotated

from pydantic import Field

from stet.notes.note_content import InvalidTag, add_tags
from stet.notes.note_properties import InvalidYaml
from stet.text.document import TextDocument
from stet.tools.proposer import ComputedEdit, check_has_properties
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.snapshot import Snapshot

MAX_TAGS = 100
"""The most tags that one call may add."""
MAX_TAG = 200
"""The most characters of a tag."""


class AddTags(Params):
    """Propose that tags are added to a note, in its YAML front matter. Those it has stay."""

    file: str = Field(description="Path relative to the workspace root.")
    tags: list[Annotated[str, Field(max_length=MAX_TAG)]] = Field(
        min_length=1, max_length=MAX_TAGS, description="Tags, such as `project/alpha`."
    )


async def run(params: AddTags, ctx: ToolContext) -> str:
    """Propose the tags and return what was proposed.

    Raises:
        ToolError: If a tag is invalid, the front matter can't be read, or the edit is refused.
    """
    find = partial(_compute_edit, params)
    computed, hunks = await ctx.proposer.propose_computed(params.file, find, position="tags")
    if not hunks:
        return f"{params.file} has these tags already; nothing to do.\n"
    tags = f"the tags {computed.detail} in {params.file}"
    return f"Proposed {hunks}: {tags}. They wait for the user.\n"


def _compute_edit(params: AddTags, document: TextDocument, _: Snapshot) -> ComputedEdit:
    check_has_properties(params.file, document)
    try:
        edit, new = add_tags(document.text, params.tags)
    except (InvalidYaml, InvalidTag) as error:
        raise ToolError(f"{params.file!r}, {error}") from error
    names = ", ".join(new)
    return ComputedEdit(edit, f"Add tags: {names}", names)


ADD_TAGS = Tool("add_tags", ToolGroup.ACTION, ToolKind.WRITE, AddTags, run)
