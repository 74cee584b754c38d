"""`query_files`: find files by tags, properties, times, links, tasks or text."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from stet.links.file_query import FileMatch, FileQuery, match_all
from stet.links.link_scan import LinkCache, scan_links
from stet.notes.property_filter import PropertyFilter, parse_age, parse_moment
from stet.privacy.redactor import Redactor
from stet.text.escape import escape_line
from stet.text.render import iso_time, join_bounded
from stet.tools.file_globs import parse_glob
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.grep import describe_unsearched
from stet.workspace.safe_excerpt import redactor_of, safe_line
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical
from stet.workspace.walk import run_in_slices

MAX_CONDITION = 500
"""The most characters of one condition: a longer one takes long to parse and matches nothing."""

_Condition = Annotated[str, Field(max_length=MAX_CONDITION)]
_CONTINUE_HINT = "add a condition or a folder, or raise limit"


class QueryFiles(Params):
    """Find files by tag, property, time, links, tasks or text. All conditions given must hold.

    With `task` or `text` the lines are shown too. For a search by words use `search_workspace`.
    """

    tag: _Condition = Field(
        default="", description="A tag, inline or in front matter; holds its subtags."
    )
    property: _Condition = Field(default="", description="Name of a front matter property it has.")
    value: _Condition | None = Field(
        default=None,
        description="What the property is; may begin with `>`, `>=`, `<`, `<=`, `!=`, or `~` (holds "
        "this text). Numbers and ISO dates are compared as such; `>7d` is a date in the last 7 days. "
        "Of a list any item counts.",
    )
    folder: str = Field(default="", description="Only files below this folder.")
    glob: _Condition = Field(default="", description="Only paths that match, such as `**/*.md`.")
    modified_after: _Condition = Field(
        default="",
        description="Written at or after this ISO date or time, UTC; or `7d`, `12h`, `2w` ago.",
    )
    modified_before: _Condition = Field(
        default="",
        description="Written before this ISO date or time, UTC; or `7d`, `12h`, `2w` ago.",
    )
    links_to: str = Field(default="", description="A file that it links to.")
    linked_from: str = Field(default="", description="A file that links to it.")
    task: Literal["open", "done"] | None = Field(
        default=None, description="Has a task `- [ ]` (open) or `- [x]` (done)."
    )
    text: _Condition = Field(default="", description="Text it holds, case ignored.")
    limit: int = Field(default=50, ge=1, le=500, description="Maximum number of files.")

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        """Convert a number or a Boolean to text."""
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, int | float) else value

    @field_validator("modified_after", "modified_before")
    @classmethod
    def _is_date(cls, value: str) -> str:
        if value and _moment(value, datetime.now(UTC)) is None:
            raise ValueError(
                f"{value!r} is not an ISO date such as 2026-05-31 or a time ago such as 7d"
            )
        return value

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.value is not None and not self.property:
            raise ValueError("value needs property: the name of the property it is compared with")
        if self.tag and not self.tag.strip("# /"):
            raise ValueError(f"{self.tag!r} is not a tag; `list_tags` lists all tags")
        if not self.model_fields_set - {"limit", "value"}:
            raise ValueError("give at least one condition; `list_files` lists all files")
        return self


async def run(params: QueryFiles, ctx: ToolContext) -> str:
    """Return one file per line, the latest first if the query has times, else by name.

    Raises:
        ToolError: If a folder, a pattern or a file is invalid.
    """
    if params.folder:
        ctx.reader.locate(params.folder)
    snapshot = ctx.reader.snapshot()
    linking = await _linked(params, ctx, snapshot)
    now = datetime.fromtimestamp(snapshot.system.now(), UTC)
    query = FileQuery(
        tag=params.tag,
        property=params.property,
        condition=None if params.value is None else PropertyFilter.parse(params.value, now),
        folder=params.folder,
        patterns=parse_glob(params.glob, snapshot, "**/*.md") if params.glob else None,
        after=_moment(params.modified_after, now),
        before=_moment(params.modified_before, now),
        linking=linking,
        task=params.task,
        text=params.text,
    )
    matches = await run_in_slices(match_all(query, snapshot), snapshot.system)
    result = [match for match in matches if match is not None]
    unsearched = ""
    if params.tag or params.property or params.task or params.text:
        unsearched = await asyncio.to_thread(describe_unsearched, snapshot, params.folder)
    if not result:
        hint = "Leave a condition out; `list_tags` gives the tags."
        return f"No file meets all of that. {hint}\n{unsearched}"
    if params.modified_after or params.modified_before:
        result.sort(key=lambda match: (-(match.mtime or 0.0), match.name))
    lines = await asyncio.to_thread(_lines, result[: params.limit], redactor_of(snapshot))
    text = join_bounded(lines, _CONTINUE_HINT)
    if len(result) > params.limit:
        text += f"(cut: {len(result) - params.limit} more files; {_CONTINUE_HINT})\n"
    return text + unsearched


def _lines(matches: Sequence[FileMatch], redactor: Redactor | None) -> list[str]:
    """Return the lines of the result: each file with its matching lines."""
    lines = []
    for match in matches:
        written = None if match.mtime is None else iso_time(match.mtime)
        lines.append(escape_line(match.name) + (f" (written {written})" if written else ""))
        lines += [f"  {number}: {safe_line(line, redactor)}" for number, line in match.lines]
        if match.n_more:
            lines.append(f"  ({match.n_more} more in this file: `read_file` shows them)")
    return lines


def _moment(text: str, now: datetime) -> datetime | None:
    """Return the moment of a date or of a time before now; None for any other text."""
    return parse_moment(text) or parse_age(text, now)


async def _linked(
    params: QueryFiles, ctx: ToolContext, snapshot: Snapshot
) -> frozenset[str] | None:
    """Return the files that match `links_to` and `linked_from`, or None if neither is given."""
    neighbors: list[frozenset[str]] = []
    for name, written in (("links_to", params.links_to), ("linked_from", params.linked_from)):
        if written:
            find = partial(_link_neighbors, snapshot, ctx.links, ctx.reader.locate(written).uri)
            neighbors.append(await asyncio.to_thread(find, name))
    return frozenset.intersection(*neighbors) if neighbors else None


def _link_neighbors(snapshot: Snapshot, cache: LinkCache, uri: str, name: str) -> frozenset[str]:
    """Return the files that link to `uri`, or for `linked_from` the files that `uri` links to.

    Raises:
        ToolError: If the file may not be shown.
    """
    try:
        snapshot.show(uri)
    except NotShown as refused:
        raise ToolError(f"{name}: {refused} `list_files` gives the names.") from refused
    graph = scan_links(snapshot, cache)
    if name == "links_to":
        return frozenset(canonical(edge.source) for edge in graph.backlinks(uri))
    return frozenset(canonical(one) for edge in graph.outgoing(uri) for one in edge.targets)


QUERY_FILES = Tool("query_files", ToolGroup.WORKSPACE, ToolKind.READ, QueryFiles, run)
