"""`find_dead_links`: links whose target does not exist, with files of similar names."""

import asyncio
from typing import Self

from pydantic import Field, model_validator

from stet.links.dead_links import dead_links, files_below
from stet.links.file_table import is_below
from stet.links.link_scan import LinkCache, LinkGraph, scan_links
from stet.text.escape import escape_line
from stet.text.render import join_bounded
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.tools.tool_errors import refusals_as_errors
from stet.workspace.paths import Located
from stet.workspace.safe_excerpt import redactor_of, safe_line
from stet.workspace.snapshot import Snapshot


class FindDeadLinks(Params):
    """Find links that lead to no file: in one file, below a folder, or everywhere.

    Wikilinks, Markdown links, images and relative imports are looked at; web addresses are not.
    Each comes with its line, and with files of a like name where there are any.
    """

    file: str = Field(default="", description="Only links in this file.")
    folder: str = Field(default="", description="Only links in files below this folder.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.file and self.folder:
            raise ValueError("give file or folder, not both")
        return self


async def run(params: FindDeadLinks, ctx: ToolContext) -> str:
    """Return one link per line.

    Raises:
        ToolError: If the file or folder does not exist.
    """
    name = params.file or params.folder
    located = ctx.reader.locate(name) if name.strip("/. ") else None
    # Take the snapshot here: the workspace belongs to the event loop.
    lines = await asyncio.to_thread(
        _report, ctx.reader.snapshot(), ctx.links, located, is_file=bool(params.file)
    )
    if lines:
        return join_bounded(lines, "fix these first, or name a file or folder")
    return f"No dead links{f' in {escape_line(name)}' if name else ''}.\n"


def _report(
    snapshot: Snapshot, cache: LinkCache, located: Located | None, *, is_file: bool
) -> list[str]:
    if is_file and located is not None:
        with refusals_as_errors("`list_files` gives the names there are."):
            snapshot.show(located.uri)
    scan = scan_links(snapshot, cache)
    redactor = redactor_of(snapshot)
    lines = []
    for found in dead_links(snapshot, scan, _sources(scan, located, is_file=is_file)):
        name = escape_line(snapshot.name_of(found.edge.source))
        where = name if found.place is None else f"{name}:{found.place.line + 1}"
        alike = ", ".join(map(escape_line, found.near))
        hint = f" (similar: {alike})" if alike else ""
        written = safe_line(found.edge.link.written, redactor)
        lines.append(f"{where}: '{written}' does not exist{hint}")
    if scan.is_cut:
        lines.append("(The workspace is too large to look through: not all files were read.)")
    return lines


def _sources(scan: LinkGraph, located: Located | None, *, is_file: bool) -> list[str]:
    """Return the files whose links are checked, in order of path.

    Raises:
        ToolError: If `located` is not a folder, or has no files.
    """
    if located is None:
        return files_below(scan, ())
    if is_file:
        return [located.uri]
    if located.path is None:
        raise ToolError(f"{located.name!r} is not a folder. Use `file`.")
    folder = located.path.as_posix()
    if not any(is_below(path, folder) for path in scan.uris):
        raise ToolError(f"There are no files below {located.name!r}. `list_files` gives the names.")
    return files_below(scan, (located.path,))


FIND_DEAD_LINKS = Tool("find_dead_links", ToolGroup.WORKSPACE, ToolKind.READ, FindDeadLinks, run)
