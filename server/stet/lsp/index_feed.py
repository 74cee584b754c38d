"""Tells the search index what happens in the editor, none of it while a message is handled."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from stet.search.index_service import IndexService
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

QUIET_SECONDS = 3.0
"""After the start: the first moments are the editor's. A search begins at once."""
MOMENT_SECONDS = 0.02
"""What is told within is passed on together."""

Start = Callable[[Coroutine[Any, Any, None], str], None]


class IndexFeed:
    """Between the editor and the index. Touched on the event loop only."""

    def __init__(self, workspace: Workspace, index: IndexService, start: Start) -> None:
        """`start` begins a task."""
        self._workspace = workspace
        self._index = index
        self._start = start
        self._due: dict[str, None] = {}
        self._is_due = False

    async def begin(self) -> None:
        """Have the index made, or brought up to date, once the editor has had its first moments.

        Without a folder of the editor's nothing is read before somebody searches: a file that was
        opened alone says little about all that lies beside it.
        """
        await asyncio.sleep(QUIET_SECONDS)
        if self._workspace.folders:
            await self._index.keep_up(self._workspace.snapshot())

    def handle_watched_files(self, params: object) -> None:
        """`workspace/didChangeWatchedFiles`, as the editor sent it, unchecked."""
        events = params.get("changes") if isinstance(params, dict) else None
        if isinstance(events, list):
            named = [event.get("uri") for event in events if isinstance(event, dict)]
            self.changed(uri for uri in named if isinstance(uri, str))

    def changed(self, uris: Iterable[str]) -> None:
        """Record files that were saved, closed, created, changed or removed."""
        if not self._index.is_running:
            return
        self._due.update(dict.fromkeys(uris))
        if self._due and not self._is_due:
            self._is_due = True
            self._start(self._pass_on(), "files for the search index")

    async def _pass_on(self) -> None:
        await asyncio.sleep(MOMENT_SECONDS)
        uris, self._due, self._is_due = list(self._due), {}, False
        await self._index.keep_up(self._workspace.snapshot())
        self._index.changed(uris)
