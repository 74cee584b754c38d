"""`explore_structure`: the folders of the workspace, or the outline of one file."""

import asyncio
import posixpath
from collections import Counter
from collections.abc import Iterable
from typing import Self

from pydantic import Field, model_validator

from stet.links.file_outline import outline_file
from stet.text.escape import escape_line
from stet.text.render import join_bounded
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.paths import Located
from stet.workspace.walk import run_in_slices

_N_ENDINGS = 4
_Folder = tuple[str, ...]


class ExploreStructure(Params):
    """Show the folders with how many files are in each, or the outline of one file.

    With `file`: its headings, or its classes and functions, with their line numbers.
    Without: the tree of folders, `depth` levels deep; `list_files` gives the names of files.
    """

    folder: str = Field(default="", description="Only the tree below this folder.")
    depth: int = Field(default=3, ge=1, le=10, description="Levels of folders to show.")
    file: str = Field(default="", description="A file whose outline to show instead.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.file and self.folder:
            raise ValueError("give file or folder, not both")
        return self


async def run(params: ExploreStructure, ctx: ToolContext) -> str:
    """Return the tree of a folder or the outline of a file.

    Raises:
        ToolError: If the file or folder does not exist, or may not be shown.
    """
    if params.file:
        return await _outline(params.file, ctx)
    top: _Folder = ()
    if params.folder.strip("/. "):
        located = ctx.reader.locate(params.folder)
        top = tuple(part for part in located.name.split("/") if part != ".")
    snapshot = ctx.reader.snapshot()
    files = await run_in_slices(snapshot.walk(params.folder, only_text=False), snapshot.system)
    if not files:
        below = f"below {params.folder!r}. Without `folder` you see all folders."
        raise ToolError(f"There are no files {below if top else 'in the workspace.'}")
    lines = await asyncio.to_thread(_tree, files, top, params.depth)
    return join_bounded(lines, "name a folder, or a smaller depth")


def _tree(files: Iterable[Located], top: _Folder, depth: int) -> list[str]:
    """Return one line per folder: the number of files below the folder, and their endings."""
    counts: dict[_Folder, Counter[str]] = {top: Counter()}
    deeper: set[_Folder] = set()
    for located in files:
        if located.path is None or located.name.startswith("/"):
            continue  # not in a folder of the workspace
        *folder, name = located.name.split("/")
        ending = posixpath.splitext(name)[1].lower() or "no ending"
        for n_parts in range(len(top), len(folder) + 1):
            if n_parts > len(top) + depth:
                deeper.add(tuple(folder[: len(top) + depth]))
                break
            counts.setdefault(tuple(folder[:n_parts]), Counter())[ending] += 1
    return [_line(each, top, counts[each], is_cut=each in deeper) for each in sorted(counts)]


def _line(folder: _Folder, top: _Folder, counts: Counter[str], *, is_cut: bool) -> str:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    kinds = [f"{n} {escape_line(ending)}" for ending, n in ranked[:_N_ENDINGS]]
    if others := sum(n for _, n in ranked[_N_ENDINGS:]):
        kinds.append(f"{others} others")
    n_files = counts.total()
    name = folder[-1] if len(folder) > len(top) else "/".join(folder) or "."
    more = ", folders inside not shown" if is_cut else ""
    counts_text = f"{n_files} file{'' if n_files == 1 else 's'}: {', '.join(kinds)}{more}"
    return f"{'  ' * (len(folder) - len(top))}{escape_line(name)}/ ({counts_text})"


async def _outline(file: str, ctx: ToolContext) -> str:
    document = await ctx.reader.read(file)
    name = ctx.reader.locate(file).name
    entries = await asyncio.to_thread(outline_file, document, name)
    n_lines = document.n_lines
    head = f"{escape_line(name)} ({n_lines} line{'' if n_lines == 1 else 's'})"
    if not entries:
        return f"{head} has no headings or definitions that can be told. `read_file` shows it.\n"
    lines = [f"{each.line:>6}  {'  ' * each.depth}{escape_line(each.text)}" for each in entries]
    return join_bounded([head, *lines], f"`search_workspace` or `read_file` shows more of {file!r}")


EXPLORE_STRUCTURE = Tool(
    "explore_structure", ToolGroup.WORKSPACE, ToolKind.READ, ExploreStructure, run
)
