"""The search index as the user sees it: its progress while it is built, and how it stands."""

import asyncio

from stet.lsp.editor_client import Client
from stet.lsp.progress import Progress
from stet.search.index_service import IndexService
from stet.search.index_state import IndexState, Stage
from stet.workspace.snapshot import Snapshot

SHOWN_AFTER_SECONDS = 1.0
"""What takes less is not worth a progress that comes and goes."""
TITLE = "Stet: indexing"

_BUILDING = frozenset({Stage.STARTING, Stage.BUILDING})


class IndexView:
    """Between the index and the editor. Touched on the event loop only."""

    def __init__(self, index: IndexService, client: Client) -> None:
        """Nothing is shown yet."""
        self._index = index
        self._client = client
        self._progress: Progress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._reported: IndexState | None = None
        self._is_starting = False
        self._has_said_partial = False
        index.listen(self._state_changed)

    def reindex(self, snapshot: Snapshot, *, rebuild: bool) -> str:
        """Bring the index up to the files, or make it anew; the token of the progress that shows it."""
        self._end("begun again")
        self._progress = self._client.progress(TITLE)
        self._is_starting = True
        self._client.start(self._begin(snapshot, rebuild=rebuild), "reindexing")
        return self._progress.token

    def to_json(self) -> dict[str, object]:
        """Return the `index` part of `stet.status`."""
        state = self._index.state
        return {
            "state": str(Stage.STARTING if self._is_starting else state.stage),
            "files": state.files,
            "total": state.total,
            "chunks": state.chunks,
            "message": state.message or None,
        }

    def note_partial_answer(self, n_files_so_far: int | None) -> None:
        """Tell the user, once a build, that an answer came from an index that is still being built."""
        if n_files_so_far is not None and not self._has_said_partial:
            self._has_said_partial = True
            self._client.show_message(
                f"Stet: the search index is still being built ({n_files_so_far:,} files so far). Until"
                " it is done, searches find what is in those."
            )

    async def _begin(self, snapshot: Snapshot, *, rebuild: bool) -> None:
        try:
            self._index.retry()
            await self._index.keep_up(snapshot)
            if rebuild:
                self._index.rebuild()
        finally:
            self._is_starting = False
            self._state_changed(self._index.state)

    def _state_changed(self, state: IndexState) -> None:
        """Update the view after the state of the index has changed."""
        if self._is_starting:
            return  # what it has been told to do comes only after this
        if state.stage not in _BUILDING:
            self._has_said_partial = False
            self._end(state.message or f"{state.files:,} files")
        elif self._progress is not None:
            self._report(self._progress, state)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SHOWN_AFTER_SECONDS, self._show)

    def _show(self) -> None:
        """Show progress for a build that takes long."""
        self._timer = None
        self._progress = self._client.progress(TITLE)
        self._report(self._progress, self._index.state)

    def _report(self, progress: Progress, state: IndexState) -> None:
        if state == self._reported:
            return
        self._reported = state
        left = f", {state.unread:,} passages to embed" if state.unread else ""
        if state.files < state.total:
            percentage = 100 * state.files // state.total
            progress.report(f"{state.files:,} of {state.total:,} files{left}", percentage)
        else:  # files are counted as they are met: how many there are is not known before the end
            progress.report(f"{state.files:,} files{left}")

    def _end(self, message: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._progress is not None:
            self._progress.end(message)
            self._progress = None
        self._reported = None
