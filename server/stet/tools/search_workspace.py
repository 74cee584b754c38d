"""`search_workspace`: find lines by words or by a regular expression."""

from collections import defaultdict
from typing import Literal

from pydantic import Field

from stet.tools.base import Params, Tool, ToolGroup, ToolKind
from stet.tools.desk import Desk
from stet.tools.errors import ToolError
from stet.workspace.grep import BadPattern, Hit, grep

MAX_LINE = 200


class SearchWorkspace(Params):
    """Search the text of the workspace's files, unsaved changes included.

    `keyword` finds lines with any of the words, case ignored, best files first. `regex` finds lines
    that match a Python regular expression. Results are `path:line: text`.
    """

    query: str = Field(min_length=1, description="Words, or a regular expression.")
    mode: Literal["keyword", "regex"] = Field(default="keyword", description="How to search.")
    folder: str = Field(default="", description="Only below this folder.")
    limit: int = Field(default=40, ge=1, le=200, description="At most so many lines.")


async def run(params: SearchWorkspace, desk: Desk) -> str:
    """One hit a line.

    Raises:
        ToolError: If the pattern or the folder is none.
    """
    if params.folder:
        desk.locate(params.folder)
    words = params.query.split()
    query: dict[str, object] = (
        {"regex": params.query} if params.mode == "regex" else {"words": words or [params.query]}
    )
    try:
        hits = await grep(desk.snapshot(), query, params.folder)
    except BadPattern as error:
        raise ToolError(str(error)) from error
    if not hits:
        return f"Nothing matches {params.query!r}.\n"
    ranked = _ranked(hits) if params.mode == "keyword" else hits
    text = "".join(f"{hit.name}:{hit.line}: {_cut(hit.text)}\n" for hit in ranked[: params.limit])
    if len(ranked) > params.limit:
        text += f"(cut: {len(ranked) - params.limit} more lines; narrow the query or the folder)\n"
    return text


def _ranked(hits: list[Hit]) -> list[Hit]:
    """Lines with more of the words first, then files with more such lines, then as in the file."""
    by_file: dict[str, int] = defaultdict(int)
    for hit in hits:
        by_file[hit.name] += hit.score
    return sorted(hits, key=lambda hit: (-hit.score, -by_file[hit.name], hit.name, hit.line))


def _cut(line: str) -> str:
    text = line.strip()
    return text if len(text) <= MAX_LINE else text[:MAX_LINE] + " …"


SEARCH_WORKSPACE = Tool(
    name="search_workspace",
    group=ToolGroup.WORKSPACE,
    kind=ToolKind.READ,
    params=SearchWorkspace,
    run=run,
)
