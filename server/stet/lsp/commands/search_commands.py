"""The commands of search: `stet.search`, `workspace/symbol`, `stet.reindex`, `stet.deadLinks`.

Files are read in a worker thread; results are located in the editor's text.
"""

import asyncio
from collections.abc import Awaitable

from lsprotocol import types as lsp

from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import InvalidParams, RequestFailed, report_as
from stet.lsp.presentation.dead_link_view import DeadLinkScope
from stet.lsp.presentation.hunk_selection import resolve_uri
from stet.lsp.presentation.search_hits import (
    LocatedPassage,
    locate_passages,
    passage_to_json,
    to_symbol,
)
from stet.lsp.state import ServerState
from stet.search.word_search import SearchQuery
from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import Snapshot
from stet.workspace.walk import run_in_slices

DEFAULT_LIMIT = 20
MAX_LIMIT = 200
MAX_QUERY = 1000
"""The most characters of a query: a longer query finds no more and is slow to parse."""
MARK = "?"
"""The prefix of a query to Stet in the editor's symbol search; other queries are for other
servers.
"""
MIN_SYMBOL_QUERY = 2
"""The fewest characters after the mark: the user is still typing a shorter query."""


def search(state: ServerState, values: tuple[object, ...]) -> Awaitable[list[dict[str, object]]]:
    """Return the passages that match a query, best first."""
    with CommandArguments("stet.search", values, main="query") as arguments:
        text, folder = arguments.required("query"), arguments.text("folder") or ""
        limit = arguments.count("limit", DEFAULT_LIMIT, MAX_LIMIT)
    if len(text) > MAX_QUERY:
        raise InvalidParams(
            f"stet.search: 'query' has {len(text):,} characters; the maximum is {MAX_QUERY:,}"
        )
    snapshot = state.workspace.snapshot()
    return _search_to_json(state, snapshot, SearchQuery(text, folder=folder, limit=limit))


async def workspace_symbols(
    state: ServerState, params: lsp.WorkspaceSymbolParams
) -> list[lsp.SymbolInformation]:
    """Return the results for a query that begins with the mark, or an empty list for other
    queries.
    """
    mark, text = params.query[:1], params.query[1 : MAX_QUERY + 1].strip()
    if mark != MARK or len(text) < MIN_SYMBOL_QUERY:
        state.background.symbols.stop()
        return []
    snapshot = state.workspace.snapshot()
    work = _locate_results(state, snapshot, SearchQuery(text, limit=DEFAULT_LIMIT))
    return [to_symbol(place) for place in await state.background.symbols.run(work, [])]


def reindex(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Rebuild the search index, or (`rebuild` false) only update it."""
    with CommandArguments("stet.reindex", values) as arguments:
        rebuild = arguments.flag("rebuild", default=True)
    snapshot = state.workspace.snapshot()
    if not snapshot.roots:
        raise RequestFailed("Nothing to index: no folder or file is open.")
    return {"progressToken": state.background.index_view.reindex(snapshot, rebuild=rebuild)}


async def _search_to_json(
    state: ServerState, snapshot: Snapshot, query: SearchQuery
) -> list[dict[str, object]]:
    return [passage_to_json(place) for place in await _locate_results(state, snapshot, query)]


async def _locate_results(
    state: ServerState, snapshot: Snapshot, query: SearchQuery
) -> list[LocatedPassage]:
    """Return the search results located in the editor's text.

    Raises:
        InvalidParams: If the folder is outside the workspace.
    """
    with report_as(InvalidParams, PathRefused):
        if query.folder and not await asyncio.to_thread(_folder_exists, snapshot, query.folder):
            raise InvalidParams(f"There is no folder {query.folder!r} in the workspace.")
        results = await state.background.index.search(snapshot, query)
    state.background.index_view.note_partial_answer(results.n_files_so_far)
    places = locate_passages(results.passages, snapshot, state.workspace.encoding)
    return await run_in_slices(places, state.system)


def _folder_exists(snapshot: Snapshot, folder: str) -> bool:
    return snapshot.exists(snapshot.locate(folder).uri)


def dead_links(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Show the dead links of a file, of a folder or of the workspace, or clear them."""
    with CommandArguments("stet.deadLinks", values, main="file") as arguments:
        uri, folder = resolve_uri(arguments, state.workspace), arguments.text("folder")
        clears = arguments.flag("clear")
    if (uri is not None) + (folder is not None) + clears > 1:
        raise InvalidParams("use at most one of `uri`, `file`, `folder` and `clear`")
    if clears:
        state.review.dead_links.clear()
        return {}
    with report_as(InvalidParams, PathRefused):
        top = state.workspace.snapshot().locate(folder).path if folder else None
    if folder and top is None:
        raise InvalidParams(f"{folder!r} is not a folder")
    state.review.dead_links.ask(DeadLinkScope(uri, top))
    return {}
