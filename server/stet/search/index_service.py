"""The search index in the server: synchronized with the editor, queried, restarted after a crash.

A separate process does the work (`index_worker.py`). The server checks the results again: every
passage is read from the snapshot, through the privacy filter, with unsaved text. Without an index,
or without an answer, the files are scanned instead.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stet.search.index_process import IndexProcess
from stet.search.index_state import DISK_REFUSES, STORM, IndexState, Stage, index_folder
from stet.search.passage_reader import ShownFiles, read_passages
from stet.search.remote_embedder import RemoteEmbedder, VectorSource
from stet.search.word_search import SearchMode, SearchQuery, SearchResults, WordSearcher
from stet.settings.values import SearchSettings
from stet.system.system import System
from stet.text.document import TextDocument
from stet.text.safe_traceback import format_safe_traceback
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical


class OpenTextSync:
    """The open texts that a process has; the indexer owns one for each process."""

    def __init__(self, process: IndexProcess) -> None:
        """Create the state of a process that has no open texts."""
        self._process = process
        self._sent: dict[str, int] = {}
        self._one_at_a_time = asyncio.Lock()

    async def sync(self, snapshot: Snapshot) -> None:
        """Send the process the changes in the editor since the last call.

        Texts are prepared in worker threads, and an old long text may take longer than a new short
        one. So calls run one after the other, and no text overwrites a newer one.
        """
        async with self._one_at_a_time:
            for key in [key for key in self._sent if key not in snapshot.documents]:
                del self._sent[key]
                await self._process.send({"do": "text", "uri": key, "name": "", "text": None})
            for key, document in snapshot.documents.items():
                if self._sent.get(key, -1) < document.revision:
                    await self._sync_document(snapshot, key, document)

    async def _sync_document(self, snapshot: Snapshot, key: str, document: TextDocument) -> None:
        text = await asyncio.to_thread(_shown, snapshot, document)
        name = snapshot.name_of(document.uri)
        await self._process.send({"do": "text", "uri": key, "name": name, "text": text})
        self._sent[key] = document.revision


def _shown(snapshot: Snapshot, document: TextDocument) -> str | None:
    """Return the text of a document, or None if no model may see it or it is too long to index."""
    shown = None if document.is_large else snapshot.show_or_none(document.uri)
    return None if shown is None else shown.text


log = logging.getLogger(__name__)

ANSWER_SECONDS = 5.0
"""The time to wait for an answer before the files are scanned instead."""
MAX_DEATHS = 3
"""After this many crashes in close succession the index is given up."""
STEADY_SECONDS = 60.0
"""A crash after the index was ready for this time is not counted with earlier crashes."""
RESTART_SECONDS = 1.0
"""The delay before the first restart; each further delay is four times as long."""
N_EXTRA_HITS = 3
"""This many times `limit` passages are requested, as some may be gone or may not be shown."""
FAVOUR_OPEN = 0.4
FAVOUR_RECENT = 0.2

_OF_ANY_PROCESS = frozenset({"answer", "unanswered", "logged"})

Listener = Callable[[IndexState], None]
Start = Callable[[Coroutine[Any, Any, None], str], None]


class IndexService:
    """The search index as a `Searcher`; owned by the server and used on the event loop only.

    Attributes:
        state: The state of the index.
    """

    def __init__(
        self,
        system: System,
        start: Start,
        notify: Callable[[str], None],
        *,
        watches: Callable[[], bool],
        endpoint: VectorSource | None = None,
    ) -> None:
        """Create the service without a process.

        Args:
            system: Starts the process.
            start: Starts a task.
            notify: Shows a message to the user.
            watches: Returns whether the editor reports files that change on the disk.
            endpoint: Embeds texts if the settings name an endpoint.
        """
        self.state = IndexState()
        self._system = system
        self._start = start
        self._notify = notify
        self._watches = watches
        self._remote_embedder = RemoteEmbedder(endpoint, notify)
        self._words = WordSearcher()
        self._shown = ShownFiles()
        self._listeners: list[Listener] = []
        self._process: IndexProcess | None = None
        self._start_message: Mapping[str, Any] | None = None
        self._basis: tuple[object, ...] = ()
        self._overlay: OpenTextSync | None = None
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._reading: list[str] = []
        self._avoided: list[str] = []
        self._suspected: frozenset[str] = frozenset()
        self._n_deaths = 0
        self._complete_since: float | None = None
        self._has_answered = False
        self._is_death_reported = False
        self._n_rebuilt = 0
        self._is_closed = False
        self._search = SearchSettings()
        self._starting = asyncio.Lock()

    @property
    def is_running(self) -> bool:
        """Whether there is a process that must be informed of changes."""
        return self._process is not None

    # -- changes ---------------------------------------------------------------------------------

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every new state. Return a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def changed(self, uris: Iterable[str]) -> None:
        """Handle files or folders that were created, changed or deleted on the disk."""
        if self._process is None or not (named := list(uris)):
            return
        is_storm = len(named) > STORM  # sending so many names would block the event loop
        self._process.post({"do": "scan"} if is_storm else {"do": "changed", "uris": named})

    async def ensure_current(self, snapshot: Snapshot) -> None:
        """Start a process if necessary, and send it the texts of the editor."""
        basis = (snapshot.roots, snapshot.settings, self._watches())
        if self._process is None or basis != self._basis:
            await self._begin_on(snapshot, basis)
        if self._process is not None and self._overlay is not None:
            await self._overlay.sync(snapshot)

    async def _begin_on(self, snapshot: Snapshot, basis: tuple[object, ...]) -> None:
        """Start a process for the roots and settings of the snapshot, if none runs for them."""
        try:
            begin = await asyncio.to_thread(self._begin, snapshot)
        except OSError as fault:
            if self.state.stage is not Stage.FAILED:
                self._give_up(f"no cache folder: {fault}")
            return
        self._search = snapshot.settings.search
        async with self._starting:
            if begin is None or self.state.stage is Stage.FAILED or self._is_closed:
                return
            if self._process is not None and self._start_message != begin:
                await self._end()
            if self._process is None:
                await self._run(begin, list(snapshot.documents))
            self._basis = basis

    def retry(self) -> None:
        """Allow `ensure_current` to start an index that was given up."""
        if self.state.stage is Stage.FAILED:
            self._n_deaths = 0
            self._is_death_reported = False
            self._avoided.clear()
            self._set(IndexState())

    def rebuild(self) -> None:
        """Delete the index and build it again."""
        if self._process is not None:
            self._n_rebuilt += 1
            self._set(replace(self.state, stage=Stage.BUILDING, files=0, chunks=0, unread=0))
            self._process.post({"do": "rebuild", "number": self._n_rebuilt})

    async def close(self) -> None:
        """End the process."""
        self._is_closed = True
        async with self._starting:  # a process that is being started is ended as well
            await self._end()

    # -- questions -------------------------------------------------------------------------------

    async def search(self, snapshot: Snapshot, query: SearchQuery) -> SearchResults:
        """See `Searcher.search`."""
        if query.mode is SearchMode.KEYWORD:  # literal words need the text, not its stems
            return await self._words.search(snapshot, query)
        folder = snapshot.locate(query.folder).name if query.folder.strip("/. ") else ""
        folder = "" if folder == "." else folder  # the only root
        await self.ensure_current(snapshot)
        answer = await self._ask(snapshot, query, folder)
        if answer is None or (not answer["hits"] and self.state.stage is not Stage.READY):
            return await self._words.search(snapshot, query)
        found = await asyncio.to_thread(read_passages, snapshot, query, answer["hits"], self._shown)
        n_more = max(0, len(answer["hits"]) - len(found)) if len(found) == query.limit else 0
        return SearchResults(
            found, n_more, answer["meaning"], n_files_so_far=answer["files_so_far"]
        )

    async def _ask(
        self, snapshot: Snapshot, query: SearchQuery, folder: str
    ) -> dict[str, Any] | None:
        """Return the answer of the process, or None if the process does not answer."""
        vector = await self._remote_embedder.embed_query(query.text, snapshot.settings.search)
        process = self._process
        if process is None:
            return None
        number = next(self._numbers)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        fields = {
            "text": query.text,
            "limit": query.limit * N_EXTRA_HITS,
            "folder": folder,
            "use_words": query.mode is not SearchMode.SEMANTIC,
            "favoured": _favoured(snapshot),
            "vector": vector,
        }
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await process.send({"do": "ask", "id": number, "query": fields})
                return await future
        except TimeoutError:
            log.warning("the search index did not respond within %s s", ANSWER_SECONDS)
            return None
        except _SearchUnanswered:
            return None
        finally:
            del self._pending[number]

    # -- the process -----------------------------------------------------------------------------

    def _begin(self, snapshot: Snapshot) -> Mapping[str, Any] | None:
        """Return the first message to a process, or None if there is nothing to index.

        For a worker thread.

        Raises:
            OSError: If there is no cache folder.
        """
        if not snapshot.roots:
            return None
        cache = self._system.cache_folder()
        settings = snapshot.settings
        return {
            "do": "begin",
            "folder": str(index_folder(cache, (root.uri for root in snapshot.roots))),
            "roots": [(root.uri, str(root.path), root.name) for root in snapshot.roots],
            "settings": {
                "excluded": settings.context.excluded_folders,
                "deny": settings.privacy.deny,
                "maxFileBytes": settings.search.max_file_bytes,
            },
            "embeddings": settings.search.embeddings,
            "endpoint": self._remote_embedder.name(settings.search),
            "watch": not self._watches(),
        }

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            pending = list(self._pending.values())
            await process.end()  # the process first answers pending questions, if it is quick
            _fail_pending(pending)

    async def _run(self, begin: Mapping[str, Any], first: Sequence[str] = ()) -> None:
        """Start a process, which reads the files beside the documents `first` before the others."""
        self._start_message = begin
        self._n_rebuilt = 0
        self._complete_since, self._has_answered = None, False
        self._set(replace(self.state, stage=Stage.STARTING))
        # The content of the index file may be the cause of the crashes.
        from_scratch = self._n_deaths == MAX_DEATHS - 1
        begin = {**begin, "anew": from_scratch, "avoid": self._avoided, "first": first}
        try:
            process = await IndexProcess.start(self._system, begin, self._on_message)
        except OSError as fault:
            self._give_up(f"its process can't be started: {fault}")
            return
        self._process, self._overlay = process, OpenTextSync(process)
        self._start(self._supervise(process), "the search index")

    async def _supervise(self, process: IndexProcess) -> None:
        """Handle the messages of the process until its end. Restart it if it has crashed."""
        try:
            errors = await process.run()
        except ValueError as fault:  # the process wrote an invalid message
            errors = format_safe_traceback(fault)
        if self._process is not process:
            return  # it was ended on purpose
        self._process = None
        _fail_pending(self._pending.values())
        self._n_deaths = 1 if self._was_steady() else self._n_deaths + 1
        level = logging.WARNING if errors.startswith(DISK_REFUSES) else logging.ERROR
        template = "the search index (process %s) ended by itself, reading %s: %s"
        log.log(level, template, process.pid, self._reading, errors.strip())
        # A single crash may have another cause; files that were being read at two crashes in a row
        # are excluded.
        self._avoided += [uri for uri in self._reading if uri in self._suspected]
        self._suspected, self._reading = frozenset(self._reading), []
        if self._n_deaths >= MAX_DEATHS:
            self._give_up("its process keeps crashing; see the log")
            return
        if not self._is_death_reported:
            self._is_death_reported = True
            self._notify("Stet: the search index stopped unexpectedly and is restarting.")
        self._set(replace(self.state, stage=Stage.STARTING))
        await asyncio.sleep(RESTART_SECONDS * 4 ** (self._n_deaths - 1))
        await self._start_again()

    def _was_steady(self) -> bool:
        """Return whether the ended process was ready, and has answered since or run long enough."""
        if self._complete_since is None:
            return False
        seconds = asyncio.get_running_loop().time() - self._complete_since
        return self._has_answered or seconds >= STEADY_SECONDS

    async def _start_again(self) -> None:
        async with self._starting:
            if self._process is None and self._start_message is not None and not self._is_closed:
                await self._run(self._start_message)

    def _give_up(self, reason: str) -> None:
        self._set(IndexState(Stage.FAILED, message=reason))
        self._notify(f"Stet: search index unavailable: {reason}. Searches read the files instead.")

    def _on_message(self, process: IndexProcess, message: dict[str, Any]) -> None:
        # Reports of an ended process about itself do not apply to the running process.
        if process is self._process or message["is"] in _OF_ANY_PROCESS:
            self._handle_message(process, message)

    def _handle_message(self, process: IndexProcess, message: dict[str, Any]) -> None:
        match message["is"]:
            case "state" if message["rebuilt"] == self._n_rebuilt:  # else of the deleted index
                stage = Stage(message["state"])
                counts = {key: message[key] for key in ("files", "total", "chunks", "unread")}
                self._set(IndexState(stage, **counts))
                if stage is Stage.READY:
                    self._note_complete()
            case "reading":
                self._reading = message["uris"]
            case "answer" | "unanswered":
                self._answered(message)
            case "embed":
                giving = self._remote_embedder.embed_texts(process, message["items"], self._search)
                self._start(giving, "embedding")
            case "logged":
                log.warning("the search index: %s", message["message"])
            case "told":
                log.warning("%s", message["message"])
                self._notify(f"Stet: {message['message']}")

    def _note_complete(self) -> None:
        self._reading = []
        if self._complete_since is None:
            self._complete_since = asyncio.get_running_loop().time()

    def _answered(self, message: dict[str, Any]) -> None:
        is_answer = message["is"] == "answer"
        self._has_answered |= is_answer and self._complete_since is not None
        if not is_answer:
            log.error("the search index could not answer: %s", message["error"].strip())
        future = self._pending.get(message["id"])
        if future is not None and not future.done():
            future.set_result(message) if is_answer else future.set_exception(_SearchUnanswered)

    def _set(self, state: IndexState) -> None:
        self.state = state
        for listener in tuple(self._listeners):
            listener(state)


class _SearchUnanswered(Exception):
    """The process has ended before its answer, or has failed to answer."""


def _fail_pending(pending: Iterable[asyncio.Future[dict[str, Any]]]) -> None:
    """Let all unanswered questions fail."""
    for future in pending:
        if not future.done():
            future.set_exception(_SearchUnanswered)


def _favoured(snapshot: Snapshot) -> dict[str, float]:
    """Return the bonus for the score of the documents that the user works on, by URI."""
    favoured = dict.fromkeys(snapshot.documents, FAVOUR_OPEN)
    active = snapshot.activity.active
    if active is not None:
        favoured[canonical(active)] = FAVOUR_OPEN + FAVOUR_RECENT
    return favoured
