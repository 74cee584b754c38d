"""The connections of the search index: file events, progress for the user, and an embeddings
endpoint.

`IndexFeed` forwards file events, never while a message is handled. `IndexView` shows the progress
of a build. `EmbeddingPort` connects the index, which uses no network itself, to the endpoint of the
settings.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from stet.lsp.editor_client import Client, Progress
from stet.lsp.tasks import Start
from stet.privacy.redactor import RedactedText, Redactor
from stet.privacy.request_log import Recipient, RequestRecord
from stet.search.index_service import IndexService
from stet.search.index_state import IndexState, Stage
from stet.search.remote_embedder import VectorsUnavailable
from stet.settings.values import SearchSettings
from stet.system.system import System
from stet.workspace.snapshot import Snapshot
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

QUIET_SECONDS = 3.0
"""The delay of the first build, so that the editor starts fast. A search does not wait."""
MOMENT_SECONDS = 0.02
"""The time for which events are collected."""


class IndexFeed:
    """The forwarder of file events to the index; used on the event loop only."""

    def __init__(self, workspace: Workspace, index: IndexService, start: Start) -> None:
        """Create the feed; `start` starts a task."""
        self._workspace = workspace
        self._index = index
        self._start = start
        self._due: dict[str, None] = {}
        self._is_due = False

    async def begin(self) -> None:
        """Build or update the index, `QUIET_SECONDS` after the start.

        Without a workspace folder, nothing is read before the first search: the files beside a
        single open file may be unrelated to it.
        """
        await asyncio.sleep(QUIET_SECONDS)
        if self._workspace.folders:
            await self._index.ensure_current(self._workspace.snapshot())

    def changed(self, uris: Iterable[str]) -> None:
        """Schedule an update for files that were saved, closed, created, changed or removed."""
        if not self._index.is_running:
            return
        self._due.update(dict.fromkeys(uris))
        if self._due and not self._is_due:
            self._is_due = True
            self._start(self._pass_on(), "files for the search index")

    async def _pass_on(self) -> None:
        await asyncio.sleep(MOMENT_SECONDS)
        uris, self._due, self._is_due = list(self._due), {}, False
        await self._index.ensure_current(self._workspace.snapshot())
        self._index.changed(uris)


SHOWN_AFTER_SECONDS = 1.0
"""The duration of a build after which progress is shown."""
TITLE = "Stet: indexing"

_BUILDING = frozenset({Stage.STARTING, Stage.BUILDING})


class IndexView:
    """The state of the index as the user sees it; used on the event loop only."""

    def __init__(self, index: IndexService, client: Client) -> None:
        """Start without progress."""
        self._index = index
        self._client = client
        self._progress: Progress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._reported: IndexState | None = None
        self._is_starting = False
        self._has_reported_partial = False
        index.listen(self._state_changed)

    def reindex(self, snapshot: Snapshot, *, rebuild: bool) -> str:
        """Update the index, or rebuild it; return the token of the progress."""
        self._end("restarted")
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
        """Inform the user, once for each build, that a search used an index that is still being
        built.
        """
        if n_files_so_far is not None and not self._has_reported_partial:
            self._has_reported_partial = True
            self._client.show_message(
                f"Stet: the search index is being built ({n_files_so_far:,} files so far); "
                "results are incomplete until it is done."
            )

    async def _begin(self, snapshot: Snapshot, *, rebuild: bool) -> None:
        try:
            self._index.retry()
            await self._index.ensure_current(snapshot)
            if rebuild:
                self._index.rebuild()
        finally:
            self._is_starting = False
            self._state_changed(self._index.state)

    def _state_changed(self, state: IndexState) -> None:
        """Update the view after the state of the index has changed."""
        if self._is_starting:
            return  # the requested build has not started yet
        if state.stage not in _BUILDING:
            self._has_reported_partial = False
            self._end(state.message or f"{state.files:,} files")
        elif self._progress is not None:
            self._report(self._progress, state)
        elif self._timer is None and not self._client.capabilities.covers_messages:
            # Where progress covers messages, it would hide the end of a turn.
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SHOWN_AFTER_SECONDS, self._show)

    def _show(self) -> None:
        """Show the progress of a build that takes long."""
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
        else:  # files are counted while they are found: the total is not known before the end
            progress.report(f"{state.files:,} files{left}")

    def _end(self, message: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._progress is not None:
            self._progress.end(message)
            self._progress = None
        self._reported = None


class EmbeddingPort:
    """A `VectorSource` that uses `stet.llm`."""

    def __init__(self, system: System, workspace: Workspace) -> None:
        """Create the adapter; `system` has the keys, `workspace` the redactor and the request
        log.
        """
        self._system = system
        self._workspace = workspace

    def name_of(self, settings: SearchSettings) -> str:
        """See `VectorSource.name_of`."""
        if settings.embeddings != "endpoint":
            return ""
        from stet.llm.embeddings import embedding_target  # late: rarely used

        return " ".join(embedding_target(settings, self._system.environ()))

    async def embed(
        self, texts: Sequence[str], settings: SearchSettings
    ) -> Sequence[Sequence[float]]:
        """See `VectorSource.embed`."""
        from stet.llm.embeddings import EmbeddingError, embed, embedding_target  # late: as above
        from stet.llm.model_endpoint import host_of

        is_redacting = self._workspace.settings.privacy.redact_secrets
        kinds: Counter[str] = Counter()
        if is_redacting:
            # The texts are parts of files: a part of a private key may lack the key's first line.
            redacted = await asyncio.to_thread(_redact_texts, self._workspace.redactor, texts)
            texts = [text.text for text in redacted]
            for text in redacted:
                kinds.update(text.kinds)
        base_url, model = embedding_target(settings, self._system.environ())
        size = sum(map(len, texts))
        sending = RequestRecord(
            self._system.now(),
            Recipient.EMBEDDINGS,
            host_of(base_url),
            model,
            parts=(f"{len(texts)} passages or questions of a search",),
            characters=size,
            tokens=size // 4,
            kinds=tuple(sorted(kinds.items())),
            is_open=not is_redacting,
        )
        self._workspace.request_log.add(sending)
        try:
            return await embed(texts, settings, self._system)
        except EmbeddingError as fault:
            raise VectorsUnavailable(str(fault)) from fault


def _redact_texts(redactor: Redactor, texts: Sequence[str]) -> list[RedactedText]:
    return [redactor.redact(text, wrapped=True) for text in texts]
