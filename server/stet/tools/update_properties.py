"""`update_properties`: propose a change of a note's YAML front matter."""

from functools import partial
from typing import Any, Self

from pydantic import Field, model_validator

from stet.notes.note_properties import InvalidYaml, edit_properties
from stet.text.document import TextDocument
from stet.tools.proposer import ComputedEdit, check_has_properties
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.snapshot import Snapshot

MAX_PROPERTIES = 100
"""The most properties that one call may set, and the most that it may remove."""


class UpdateProperties(Params):
    """Propose a change of a note's properties: the YAML front matter at its top.

    Only the named properties change; comments, order and the rest stay. A note without front matter
    gets one. For tags use `add_tags`.
    """

    file: str = Field(description="Path relative to the workspace root.")
    set: dict[str, Any] = Field(
        default_factory=dict,
        max_length=MAX_PROPERTIES,
        description="Properties and their new values: texts, numbers, lists.",
    )
    remove: list[str] = Field(
        default_factory=list,
        max_length=MAX_PROPERTIES,
        description="Names of properties to take out.",
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.set and not self.remove:
            raise ValueError("give set, remove or both")
        if both := set(self.set).intersection(self.remove):
            raise ValueError(f"{sorted(both)} can't be both set and removed")
        return self


async def run(params: UpdateProperties, ctx: ToolContext) -> str:
    """Propose the changes of properties and return what was proposed.

    Raises:
        ToolError: If the front matter can't be read, or the edit is refused.
    """
    names = ", ".join((*params.set, *params.remove))
    find = partial(_compute_edit, params, f"Properties: {names}")
    _, hunks = await ctx.proposer.propose_computed(params.file, find, position="properties")
    if not hunks:
        return f"{params.file} already says so; nothing to do.\n"
    return f"Proposed {hunks}: properties of {params.file} ({names}). They wait for the user.\n"


def _compute_edit(
    params: UpdateProperties, summary: str, document: TextDocument, _: Snapshot
) -> ComputedEdit:
    check_has_properties(params.file, document)
    try:
        return ComputedEdit(edit_properties(document.text, params.set, params.remove), summary)
    except InvalidYaml as error:
        raise ToolError(f"{params.file!r}, {error}") from error
    except RecursionError as error:
        raise ToolError("`set` is nested too deeply. Give texts, numbers or lists.") from error


UPDATE_PROPERTIES = Tool(
    "update_properties", ToolGroup.ACTION, ToolKind.WRITE, UpdateProperties, run
)
