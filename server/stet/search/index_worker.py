"""The process of the search index: it reads the files, updates the index, and answers questions.

Each message is a JSON object on one line of the standard input or output; `IndexWorker.handle` and,
for the other direction, `IndexService` define them. The process has a low priority, and ends when
its standard input ends.
"""

import errno
import json
import logging
import os
import queue
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from stet.outline.grammar_definitions import installed_grammars
from stet.search.embedding import LocalEmbedder, can_embed
from stet.search.index_builder import IndexBuilder
from stet.search.index_source import IndexSource, roots_of, settings_of, watch_folders
from stet.search.index_state import DISK_REFUSES, acquire_index, check_index, remove_index
from stet.search.index_store import IndexStore
from stet.search.outliner import Outliner
from stet.search.search_engine import ChunkQuery, SearchEngine
from stet.search.vector_table import unpack_vector
from stet.text.safe_traceback import format_safe_traceback
from stet.workspace.uris import canonical

NICE = 10
BATCH = 64
"""The most texts that are sent to an endpoint together."""
MAX_FAULTS = 2
"""The most times that a broken index is built again; further faults have another cause."""
REPORT_EVERY = 10
"""The number of steps between two reports while there is work."""


class IndexWorker:
    """The state of the process; used by one thread, while another reads the messages."""

    def __init__(self, begin: dict[str, Any]) -> None:
        """Open the index that `begin` names, and check all files for changes."""
        self._slot, self._path = acquire_index(Path(begin["folder"]))
        self._embedder = _embedder(begin)
        self._endpoint: str = begin["endpoint"]
        self._is_waiting = False
        self._refused: set[bytes] = set()
        self._source = IndexSource.of(roots_of(begin["roots"]), settings_of(begin["settings"]))
        self._source.is_sent = bool(self._endpoint)
        self._avoided: list[str] = begin["avoid"]
        self._first: list[str] = begin["first"]
        self._failed: set[str] = set()
        """Documents whose last text could not be indexed."""
        self._n_steps = 0
        self._n_faults = 0
        self._n_rebuilt = 0
        if begin["anew"]:
            remove_index(self._path)
        self._store = self._opened()
        try:
            self._make()
        except sqlite3.DatabaseError as fault:
            self._count(fault)
            self._recreate()

    def _make(self) -> None:
        self._engine = SearchEngine(self._store, self._embedder, is_embedded=bool(self._endpoint))
        self._builder = IndexBuilder(self._source, self._store, self._engine, _reading)
        self._builder.avoid(self._avoided)
        self._builder.scan(self._first)
        self._was_complete = False

    def _opened(self) -> IndexStore:
        """Open and return the index; a new one if it is broken or has other vectors or grammars."""
        model = self._endpoint if self._embedder is None else self._embedder.name
        # With an endpoint, the embedded texts are redacted: the index is of another kind.
        grammars = installed_grammars() + (" sent" if self._endpoint else "")
        try:
            store = _open_existing(self._path, model, grammars)
        except sqlite3.DatabaseError as fault:
            send_message(
                "told", message=f"The search index could not be used ({fault}); rebuilding it."
            )
            store = None
        if store is None:
            remove_index(self._path)
            store = IndexStore(self._path)
            store.set_meta("vectors", model)
            store.set_meta("grammars", grammars)
        self._is_checked = False
        return store

    def handle(self, message: dict[str, Any]) -> None:
        """Handle a message."""
        match message["do"]:
            case "text":
                self._index_open_text(message)
            case "changed":
                self._builder.changed(message["uris"])
            case "scan":
                self._builder.scan()
            case "rebuild":
                self._n_rebuilt = message["number"]
                self._rebuild()
            case "vectors":
                self._take(message["items"])
            case "ask":
                self._answer_safely(message)
        self._was_complete = False

    def _index_open_text(self, message: dict[str, Any]) -> None:
        """Index a document of the editor. If this fails, exclude it until it has another text.

        The reason is logged once, until the document can be indexed again.

        Raises:
            sqlite3.DatabaseError: If the index is broken.
            OSError: If the disk refuses.
        """
        key = canonical(message["uri"])
        if has_failed := key in self._failed:
            self._builder.readmit(key)
        try:
            self._builder.set_open_text(message["uri"], message["name"], message["text"])
        except Exception as bug:  # one document must not end the index
            if isinstance(bug, sqlite3.DatabaseError | OSError):
                raise
            self._builder.avoid([key])
            self._failed.add(key)
            if not has_failed:
                why = format_safe_traceback(bug)
                send_message(
                    "logged", message=f"A document can't be indexed and was skipped: {why}"
                )
        else:
            self._failed.discard(key)

    def step(self) -> bool:
        """Do a small part of the work. Return whether there was work to do."""
        is_busy = self._builder.step() or self._store.merge() or self._engine.embed() > 0
        if not is_busy and self._endpoint and not self._is_waiting:
            self._ask_for_vectors()
        self._n_steps += 1
        if is_busy and self._n_steps % REPORT_EVERY == 0:
            self._report(is_complete=False)
        if not is_busy and not self._was_complete:
            self._was_complete = True
            self._builder.tidy()
            self._store.commit()
            self._builder.release_memory()
            self._report(is_complete=True)
        return is_busy

    def _ask_for_vectors(self) -> None:
        """Ask the server to have texts embedded; this process has no network access."""
        # Refused texts stay without vectors: the next run of the process asks for them again.
        texts = self._store.pending_texts(BATCH + len(self._refused))
        unread = [(digest, text) for digest, text in texts if digest not in self._refused][:BATCH]
        if unread:
            self._is_waiting = True
            send_message("embed", items=[[digest.hex(), text] for digest, text in unread])

    def _take(self, items: list[tuple[str, list[float] | None]]) -> None:
        self._is_waiting = False
        given = [(bytes.fromhex(digest), vector) for digest, vector in items]
        self._refused.update(digest for digest, vector in given if vector is None)
        self._engine.add_vectors(
            (each, unpack_vector(vector)) for each, vector in given if vector is not None
        )

    @contextmanager
    def recovering(self) -> Iterator[None]:
        """Rebuild the index if it is found to be broken within the block.

        Raises:
            sqlite3.DatabaseError: If rebuilding has not helped before, as on a full disk.
        """
        try:
            yield
        except sqlite3.DatabaseError as fault:
            self._count(fault)
            self._rebuild()

    def _count(self, fault: sqlite3.DatabaseError) -> None:
        self._n_faults += 1
        if self._n_faults > MAX_FAULTS:
            raise fault
        send_message("told", message=f"The search index is damaged ({fault}); rebuilding it.")

    @property
    def outliner(self) -> Outliner:
        """The owner of the process that runs grammars."""
        return self._builder.outliner

    def close(self) -> None:
        """Close the index."""
        self._builder.close()
        with suppress(sqlite3.Error):
            self._store.close()
        self._slot.release()

    def _rebuild(self) -> None:
        self._builder.close()
        self._recreate()

    def _recreate(self) -> None:
        with suppress(sqlite3.Error):
            self._store.close()
        remove_index(self._path)
        self._store = self._opened()
        self._make()

    def _answer_safely(self, message: dict[str, Any]) -> None:
        """Answer a question, or report that it can't be answered: then the server scans the files.

        Raises:
            sqlite3.DatabaseError: If the index is broken.
        """
        try:
            self._answer(message)
        except Exception as bug:  # one question's bug must not end the index
            send_message("unanswered", id=message["id"], error=format_safe_traceback(bug))
            code = getattr(bug, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
            if code != sqlite3.SQLITE_ERROR:
                raise
            self._check()

    def _check(self) -> None:
        """Check whether the index is damaged, after an error that the question may have caused.

        Raises:
            sqlite3.DatabaseError: If the index is broken.
        """
        if not self._is_checked:
            self._is_checked = True  # once: the check takes long, and a bug occurs repeatedly
            self._store.commit()
            check_index(self._path)

    def _answer(self, message: dict[str, Any]) -> None:
        self._builder.catch_up()
        query = ChunkQuery(**message["query"], for_people=True)
        hits = [hit._asdict() for hit in self._engine.search(query)]
        send_message(
            "answer",
            id=message["id"],
            hits=hits,
            meaning=self._engine.has_vectors,
            files_so_far=self._builder.n_files_so_far,
        )

    def _report(self, *, is_complete: bool) -> None:
        n_files, n_chunks, n_unread = self._store.counts()
        send_message(
            "state",
            state="ready" if is_complete else "building",
            files=n_files,
            chunks=n_chunks,
            total=max(self._builder.total, n_files),
            unread=n_unread,
            rebuilt=self._n_rebuilt,
        )


def _open_existing(path: Path, model: str, grammars: str) -> IndexStore | None:
    """Return the existing index or a new one, or None if it has other vectors or grammars.

    Raises:
        sqlite3.DatabaseError: If the index is broken.
    """
    store = IndexStore(path)
    with ExitStack() as unused:
        unused.callback(store.close)
        is_cut_so = store.meta("grammars") == grammars or store.counts()[0] == 0
        if not is_cut_so or (model and (store.meta("vectors") or model) != model):
            return None
        store.set_meta("vectors", store.meta("vectors") or model)
        store.set_meta("grammars", grammars)
        unused.pop_all()
    return store


def send_message(kind: str, **fields: Any) -> None:
    """Write a message to the server."""
    sys.stdout.write(json.dumps({"is": kind, **fields}) + "\n")
    sys.stdout.flush()


class _Forwarding(logging.Handler):
    """A handler that sends log records to the server."""

    def emit(self, record: logging.LogRecord) -> None:
        send_message("logged", message=record.getMessage())


def _reading(uris: list[str]) -> None:
    send_message("reading", uris=uris)


def _embedder(begin: dict[str, Any]) -> LocalEmbedder | None:
    if begin["embeddings"] != "local" or not can_embed():
        return None
    try:
        return LocalEmbedder()
    except (ImportError, OSError, ValueError) as fault:
        send_message(
            "told", message=f"Search uses words only: the embedding can't be loaded ({fault})."
        )
        return None


def _read_messages(messages: "queue.SimpleQueue[dict[str, Any] | None]") -> None:
    for line in sys.stdin:
        messages.put(json.loads(line))
    messages.put(None)


def main() -> None:
    """Work until the standard input ends."""
    os.umask(0o077)
    logging.getLogger("stet").addHandler(_Forwarding(logging.WARNING))
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    # The server logs the standard error, and the text of an error may quote an indexed text.
    sys.excepthook = lambda _, error, __: _ended(error)
    messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_read_messages, args=(messages,), daemon=True).start()
    begin = messages.get()
    if begin is None:
        return
    worker = IndexWorker(begin)
    if begin["watch"]:
        folders = [root.path for root in roots_of(begin["roots"])]
        threading.Thread(target=watch_folders, args=(folders, messages.put), daemon=True).start()
    is_busy = True
    while True:
        try:
            message = messages.get(not is_busy, worker.outliner.seconds_left)
            if message is None:
                break
            is_busy = True
            with worker.recovering():
                worker.handle(message)
        except queue.Empty:
            worker.outliner.release_idle()
            with worker.recovering():
                is_busy = is_busy and worker.step()
    worker.close()


_DISK_ERRORS = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def _ended(error: BaseException) -> None:
    report = f"{DISK_REFUSES} ({error})" if _is_of_the_disk(error) else format_safe_traceback(error)
    sys.stderr.write(f"{report}\n")


def _is_of_the_disk(error: BaseException) -> bool:
    """Return whether the disk caused an error, for example because it is full."""
    if isinstance(error, sqlite3.Error):
        return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DISK_ERRORS
    return isinstance(error, OSError) and error.errno in _NO_ROOM


if __name__ == "__main__":
    main()
