"""A workspace on the disk with its real index process, called as the server calls it."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from stet.lsp.tasks import Tasks
from stet.search.index_service import IndexService
from stet.search.index_state import Stage
from stet.search.remote_embedder import VectorSource
from stet.search.word_search import SearchQuery, SearchResults
from stet.system.system import System
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Modification, ModificationKind, Workspace

WAIT_SECONDS = 60


class IndexedWorkspace:
    """A workspace on the disk with its index."""

    def __init__(
        self, root: Path, endpoint: VectorSource | None = None, *, watches: bool = True
    ) -> None:
        self.watches = watches
        self.root = root
        self.endpoint = endpoint
        self.tasks = Tasks()
        self.reported: list[str] = []
        self.workspace = Workspace(System())
        self.workspace.add_root(uri_of(root))
        self.index = self.new_index()

    def new_index(self) -> IndexService:
        """Make an index like that of a newly started server."""
        return IndexService(
            System(),
            self._start,
            self.reported.append,
            watches=lambda: self.watches,
            endpoint=self.endpoint,
        )

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.tasks.start(work, name)

    def open(self, name: str, text: str) -> None:
        uri = uri_of(self.root / name)
        self.workspace.apply(
            Modification(ModificationKind.OPENED, uri, text=text, version=1, language_id="python")
        )

    async def find(self, text: str, index: IndexService | None = None, **query: Any) -> list[str]:
        found = await self.ask(text, index, **query)
        return sorted({passage.name for passage in found.passages})

    async def ask(
        self, text: str, index: IndexService | None = None, **query: Any
    ) -> SearchResults:
        searcher = self.index if index is None else index
        return await searcher.search(self.workspace.snapshot(), SearchQuery(text, **query))

    async def until(
        self,
        is_so: Callable[[Any], bool],
        index: IndexService | None = None,
        seconds: float = WAIT_SECONDS,
    ) -> None:
        """Wait for a state of the index."""
        watched = self.index if index is None else index
        reached = asyncio.Event()

        def look(state: Any) -> None:
            if is_so(state):
                reached.set()

        stop = watched.listen(look)
        look(watched.state)
        async with asyncio.timeout(seconds):
            await reached.wait()
        stop()

    async def close(self) -> None:
        await self.index.close()
        await self.tasks.close()

    async def ready(self, index: IndexService | None = None) -> None:
        await (index or self.index).ensure_current(self.workspace.snapshot())
        await self.until(lambda state: state.stage is Stage.READY, index)
