"""`list_files`: the names of the workspace's files."""

import asyncio
import itertools

from pydantic import Field

from stet.tools.file_globs import parse_glob
from stet.tools.tool import Params, ShortForm, Tool, ToolContext, ToolGroup, ToolKind
from stet.workspace.names import without_folders
from stet.workspace.snapshot import Snapshot


class ListFiles(Params):
    """List files of the workspace, sorted by path. Ignored, binary and secret files are left
    out.
    """

    folder: str = Field(default="", description="Only files below this folder.")
    glob: str = Field(default="", description="Only paths that match, such as `**/*.py`.")
    limit: int = Field(default=200, ge=1, le=1000, description="Maximum number of files.")


async def run(params: ListFiles, ctx: ToolContext) -> str:
    """Return one path per line.

    Raises:
        ToolError: If the folder is not in the workspace or the pattern is invalid.
    """
    if params.folder:
        ctx.reader.locate(params.folder)
    # Take the snapshot here: the workspace belongs to the event loop.
    names, more = await asyncio.to_thread(_names, params, ctx.reader.snapshot())
    if not names:
        where = f" below {params.folder!r}" if params.folder else ""
        what = f" that match {params.glob!r}" if params.glob else ""
        return without_folders(f"There are no files{where}{what}.\n")
    text = "".join(f"{name}\n" for name in names)
    if more:
        text += f"(cut at {params.limit}; narrow it with folder or glob, or raise limit)\n"
    return text


def _names(params: ListFiles, snapshot: Snapshot) -> tuple[list[str], bool]:
    found = (located.name for located in snapshot.walk(params.folder))
    if params.glob:
        patterns = parse_glob(params.glob, snapshot, "**/*.py")
        found = (name for name in found if patterns.match(tuple(name.split("/")), is_folder=False))
    names = list(itertools.islice(found, params.limit + 1))
    return names[: params.limit], len(names) > params.limit


LIST_FILES = Tool(
    "list_files",
    ToolGroup.WORKSPACE,
    ToolKind.READ,
    ListFiles,
    run,
    short=ShortForm("List the files of the workspace.", (), ("folder",)),
)
