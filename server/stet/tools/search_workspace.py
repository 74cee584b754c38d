"""`search_workspace`: find lines by words or by a regular expression."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from stet.privacy.redactor import Redactor
from stet.search.word_search import SearchMode, SearchPassage, SearchQuery, SearchResults
from stet.text.escape import escape_line
from stet.text.render import MAX_LINE, join_bounded
from stet.tools.tool import Params, ShortForm, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.grep import GrepHit, InvalidRegex, describe_unsearched, grep
from stet.workspace.grep_helper import MAX_LINE as MAX_HIT
from stet.workspace.names import without_folders
from stet.workspace.safe_excerpt import redactor_of, safe_line

MAX_QUERY = 1000
"""The most characters of a query: a longer one finds no more and takes long to parse."""

_INVISIBLE = 300
"""Characters at the end of a truncated hit that are not shown: they may begin a secret."""
_CONTINUE_HINT = "narrow the query or the folder, or raise limit"
_NOT_ALL = "(There is too much: not all was searched. Name a folder.)\n"


class SearchWorkspace(Params):
    """Search the text of the workspace's files, unsaved changes included.

    `hybrid` finds words in all their forms, also inside identifiers, best files first. `keyword`
    takes words to the letter; `"quotes"` hold several together. `semantic` ranks by meaning where
    there is an index of it. `regex` finds lines that match a Python regular expression, at most 20
    of a file. Results are `path:line: text`.
    """

    query: str = Field(
        min_length=1,
        max_length=MAX_QUERY,
        description="Words, a question, or a regular expression.",
    )
    mode: Literal["hybrid", "keyword", "semantic", "regex"] = Field(
        default="hybrid", description="How to search."
    )
    folder: str = Field(default="", description="Only below this folder.")
    limit: int = Field(default=40, ge=1, le=200, description="Maximum number of lines.")


async def run(params: SearchWorkspace, ctx: ToolContext) -> str:
    """Return one hit per line.

    Raises:
        ToolError: If the pattern or the folder is invalid.
    """
    if params.folder:
        ctx.reader.locate(params.folder)
    unsearched = await asyncio.to_thread(describe_unsearched, ctx.reader.snapshot(), params.folder)
    if params.mode == "regex":
        return await _search_regex(params, ctx) + unsearched
    query = SearchQuery(params.query, SearchMode(params.mode), params.folder, params.limit)
    found = await ctx.searcher.search(ctx.reader.snapshot(), query)
    lines = await asyncio.to_thread(_lines, found.passages, redactor_of(ctx.reader.snapshot()))
    return _format_hits(params, lines, found.n_more) + _search_notes(params, found) + unsearched


async def _search_regex(params: SearchWorkspace, ctx: ToolContext) -> str:
    try:
        found = await grep(ctx.reader.snapshot(), params.query, params.folder)
    except InvalidRegex as error:
        raise ToolError(str(error)) from error
    hits = found.hits[: params.limit]
    lines = await asyncio.to_thread(_lines, hits, redactor_of(ctx.reader.snapshot()))
    text = _format_hits(params, lines, len(found.hits) - len(lines))
    return text + (_NOT_ALL if found.is_cut else "")


def _format_hits(params: SearchWorkspace, lines: Sequence[str], n_more: int) -> str:
    if not lines:
        where = without_folders(f" below {params.folder!r}") if params.folder else ""
        return f"Nothing matches {params.query!r}{where}.\n"
    text = join_bounded(lines, _CONTINUE_HINT)
    return f"{text}(cut: {n_more} more lines; {_CONTINUE_HINT})\n" if n_more else text


def _search_notes(params: SearchWorkspace, result: SearchResults) -> str:
    """Return the notes on how the results were found."""
    notes = ""
    if params.mode == "semantic" and not result.used_vectors:
        notes = (
            "(Ranked by words: there is no index of meanings here. Try the words that the text itself "
            "would use.)\n"
        )
    if result.is_cut:
        notes += _NOT_ALL
    if result.n_files_so_far is not None:
        notes += (
            f"(The index is still being built: {result.n_files_so_far:,} files so far. What is not found "
            "may be in another: ask again later, or use regex, which reads all of them.)\n"
        )
    return notes


def _lines(hits: Sequence[GrepHit | SearchPassage], redactor: Redactor | None) -> list[str]:
    """Return the lines of the result."""
    return [f"{escape_line(hit.name)}:{hit.line}: {_quoted(hit.text, redactor)}" for hit in hits]


def _quoted(text: str, redactor: Redactor | None) -> str:
    """Return a line that is short enough to be shown. A truncated line has no part of a secret."""
    is_cut = len(text) >= MAX_HIT
    most = min(MAX_LINE, len(text.strip()) - _INVISIBLE) if is_cut else MAX_LINE
    return safe_line(text, redactor, most)


SEARCH_WORKSPACE = Tool(
    "search_workspace",
    ToolGroup.WORKSPACE,
    ToolKind.READ,
    SearchWorkspace,
    run,
    short=ShortForm("Find lines in all files by words. Results are `path:line: text`.", ("query",)),
)
