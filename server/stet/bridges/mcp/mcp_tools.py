"""The tools of the MCP server: their names, descriptions and arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

MAX_WAIT_SECONDS = 3600
_HUNKS = "Ids of hunks, as `propose_edit` and `list_proposals` name them."
_PATH = "Path relative to the workspace folder, or absolute."


class McpArguments(BaseModel):
    """The arguments of a tool: unknown names and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadArguments(McpArguments):
    """Read a file as the user's editor has it: unsaved text, and your own pending edits.

    The saved file may be older. Keys and passwords are replaced by marks; leave the marks as they
    are in your edits.
    """

    path: str = Field(description=_PATH)
    start_line: int = Field(default=1, ge=1, description="First line, 1-based.")
    end_line: int | None = Field(default=None, ge=1, description="Last line, 1-based, included.")


class EditArguments(McpArguments):
    """Propose a change of a file. It waits for the user's review; the file is not written.

    `old_text` is copied exactly from `read_file`, with enough lines to be unique. To change what
    you have proposed, quote that text. Don't repeat an edit that was proposed, and don't write the
    file in another way.
    """

    path: str = Field(description=_PATH)
    old_text: str = Field(description="The text to replace, exactly.")
    new_text: str = Field(description="What it becomes; empty deletes it.")
    replace_all: bool = Field(default=False, description="Replace every place, not just one.")
    summary: str = Field(default="", description="One line for the user: what and why.")


class FileArguments(McpArguments):
    """Propose a new file, or another text of a whole file. It waits for the user's review."""

    path: str = Field(description=_PATH)
    content: str = Field(description="The whole text of the file.")
    summary: str = Field(default="", description="One line for the user: what and why.")


class ListArguments(McpArguments):
    """List the hunks that you have proposed, with their states, the user's reasons and texts."""

    path: str | None = Field(default=None, description=f"Only hunks of this file. {_PATH}")
    state: str | None = Field(
        default=None, description="Only this state: pending, accepted, rejected, conflict, ..."
    )


class WaitArguments(McpArguments):
    """Wait until the user has decided about hunks; return states, reasons and amended texts.

    You need not wait: the user may decide later, and other work can go on.
    """

    hunks: list[str] = Field(min_length=1, max_length=1000, description=_HUNKS)
    timeout_seconds: int = Field(
        default=600, ge=1, le=MAX_WAIT_SECONDS, description="Return then, decided or not."
    )


class StateArguments(McpArguments):
    """Return what the user sees: open files, the active file, cursor and selection."""


class DiagnosticsArguments(McpArguments):
    """Return the syntax errors of a file, or of all files that you have changed, as you see them.

    Only Python, JSON and TOML are checked. Run the project's own checks for more.
    """

    path: str | None = Field(default=None, description=_PATH)


class SearchArguments(McpArguments):
    """Search the text of the workspace, unsaved changes included, by words. Best files first."""

    query: str = Field(min_length=1, max_length=1000, description="Words or a question.")
    limit: int = Field(default=40, ge=1, le=200, description="Maximum number of lines.")


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool.

    Attributes:
        arguments: The arguments; the docstring is the description.
        is_read_only: Whether the tool proposes nothing.
    """

    arguments: type[McpArguments]
    is_read_only: bool = True

    @property
    def description(self) -> str:
        """The description for the model."""
        lines = (self.arguments.__doc__ or "").strip().splitlines()
        return "\n".join(line.strip() for line in lines)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        return schema


TOOLS: Mapping[str, McpTool] = {
    "read_file": McpTool(ReadArguments),
    "propose_edit": McpTool(EditArguments, is_read_only=False),
    "propose_file": McpTool(FileArguments, is_read_only=False),
    "list_proposals": McpTool(ListArguments),
    "wait_for_review": McpTool(WaitArguments),
    "editor_state": McpTool(StateArguments),
    "get_diagnostics": McpTool(DiagnosticsArguments),
    "search": McpTool(SearchArguments),
}
"""The tools by name."""

INSTRUCTIONS = (
    "The user reviews your edits in an editor. Read files with `read_file`, which has their unsaved "
    "text, and change them with `propose_edit` and `propose_file` only. A proposed edit waits as "
    "hunks; the file changes when the user accepts a hunk. Don't repeat an edit that was proposed, "
    "and don't write these files in another way, such as by shell. You see your own pending edits. "
    "`list_proposals` and `wait_for_review` return the user's decisions, with reasons and changed "
    "texts; respect them."
)
