"""Updating the index from the files, in small steps, so that questions are answered in between."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

from stet.search.chunk import IndexEntry, SourceFile, forget_words
from stet.search.chunking_process import ChunkingProcess
from stet.search.index_source import IndexSource
from stet.search.index_state import STORM
from stet.search.index_store import IndexStore
from stet.search.outliner import Outliner
from stet.search.search_engine import SearchEngine, make_entries
from stet.workspace.paths import Located
from stet.workspace.uris import canonical


def trim_memory() -> None:
    """Clear the caches of words, and return free memory to the system.

    The C library of most Linux systems keeps freed memory between other objects until `malloc_trim`
    of glibc is called: a tenth of the process. On other systems nothing is called.
    """
    forget_words()
    with suppress(OSError, AttributeError, TypeError):  # the C library has no such function
        ctypes.CDLL(None).malloc_trim(0)


SLICE = 48
"""The most files that are read in one step."""
MANY_TO_READ = 200
"""After a walk has read this many files, a second process cuts further files."""
MAX_BATCHES_UNDER_WAY = 3
"""The most batches that the second process has at a time."""
MANY_LOOKED_AT = 500
"""The most files of a walk that are checked in one step."""


WHOLE = "whole"
"""The key of the entry that marks an index which has had all files once."""


class IndexBuilder:
    """The remaining work on the index, and the processes that help with it.

    Attributes:
        total: The number of files, as far as they have been counted.
        outliner: The owner of the process that runs grammars.
    """

    def __init__(
        self,
        source: IndexSource,
        store: IndexStore,
        engine: SearchEngine,
        reading: Callable[[list[str]], None],
    ) -> None:
        """Create the builder; `reading` is called with the files that are read next."""
        self.total = 0
        self._source = source
        self._store = store
        self._engine = engine
        self._reading = reading
        self._known = store.stamps()
        self._due: dict[str, None] = {}
        self._walk: Iterator[Located] | None = None
        self._seen: set[str] = set()
        self._is_tidy = False
        self._avoided: set[str] = set()
        self._chunker = ChunkingProcess()
        self.outliner = Outliner()
        self._flying: set[str] = set()
        self._n_read = 0
        self._has_read_many = False
        self._is_whole = store.meta(WHOLE) is not None

    def scan(self, first: Iterable[str] = ()) -> None:
        """Begin a walk of all files, the files beside the documents `first` before the others."""
        self._seen = set()
        self._is_tidy = False
        self._walk = self._source.all_files(list(first))

    def tidy(self) -> None:
        """Remove unused data from the store, once after every walk of all files."""
        if not self._is_tidy:
            self._is_tidy = True
            self._store.tidy()

    def release_memory(self) -> None:
        """Return memory to the system, once after every walk that read and embedded many files."""
        if self._has_read_many:
            self._has_read_many = False
            self._engine.forget_words()
            trim_memory()

    @property
    def n_files_so_far(self) -> int | None:
        """The number of indexed files until all files have been checked once; None from then on.

        Later changes are indexed again, and the rest of the index stays complete.
        """
        return None if self._is_whole else len(self._known)

    def close(self) -> None:
        """End the other processes; their current work is lost."""
        self._chunker.close()
        self.outliner.close()

    def avoid(self, uris: Iterable[str]) -> None:
        """Exclude files, because reading one of them has ended the process."""
        self._avoided.update(uris)

    def readmit(self, uri: str) -> None:
        """End the exclusion of a file, given by its canonical URI."""
        self._avoided.discard(uri)

    def set_open_text(self, uri: str, name: str, text: str | None) -> None:
        """Set the text of a document in the editor, or None when closed, and index it at once."""
        key = canonical(uri)
        if text is not None:
            # The database can't store half of a surrogate pair: a `?` replaces it.
            self._source.open_texts[key] = (name, text.encode("utf-8", "replace").decode())
        elif self._source.open_texts.pop(key, None) is None:
            return
        self._read({key: None})

    def changed(self, uris: Iterable[str]) -> None:
        """Handle files or folders that were created, changed or deleted on the disk."""
        keys = dict.fromkeys(map(canonical, uris))
        if len(keys) + len(self._due) > STORM:
            self._scan_all()
            return
        self._due.update(keys)
        if folders := {key for key in keys if key not in self._known}:
            known = (each for each in self._known if not folders.isdisjoint(_folders_of(each)))
            # For a new folder, some editors report only the folder itself.
            below = (each for folder in folders for each in self._source.files_below(folder))
            self._due.update(dict.fromkeys((*known, *(canonical(each.uri) for each in below))))
        if len(self._due) > STORM:
            self._scan_all()
        elif any(key.endswith(("/.gitignore", "/.stetignore")) for key in keys):
            self.scan()

    def _scan_all(self) -> None:
        self._due.clear()
        self.scan()

    def catch_up(self) -> None:
        """Read the latest changes if they are few, so that the next answer includes them."""
        if 0 < len(self._due) <= SLICE:
            _ = self.step()

    def step(self) -> bool:
        """Read some files. Return whether there was anything to do."""
        if self._due:
            due = dict.fromkeys(islice(tuple(self._due), SLICE))
            for uri in due:
                del self._due[uri]
            self._read(due)
            return True
        if self._walk is None:
            return self._finish()
        found = self._next_of(self._walk)
        self._n_read += len(found)
        if self._n_read > MANY_TO_READ:
            self._start_chunking(found)
        else:
            self._read(found)
        return True

    def _finish(self) -> bool:
        """Save the last batches after a walk and end the chunker. Return whether any was left."""
        if self._chunker.n_under_way:
            self._receive_chunks()
            return True
        self._chunker.close()
        self._has_read_many |= self._n_read > MANY_TO_READ
        self._n_read = 0
        if not self._is_whole:
            self._is_whole = True
            self._store.set_meta(WHOLE, "yes")
        return False

    def _next_of(self, walk: Iterator[Located]) -> dict[str, Located | None]:
        """Return the next files of a walk that seem to have changed.

        After the last file, remove the known files that the walk did not find.
        """
        found: dict[str, Located | None] = {}
        for _ in range(MANY_LOOKED_AT):
            located = next(walk, None)
            if located is None:
                self._walk = None
                gone = [each for each in self._known if each not in self._seen]
                self._drop(each for each in gone if each not in self._source.open_texts)
                break
            uri = canonical(located.uri)
            if uri in self._seen:
                continue
            self._seen.add(uri)
            self.total = max(self.total, len(self._seen))
            is_new = not self._source.is_unchanged(located, self._known.get(uri))
            if is_new and uri not in self._source.open_texts:
                found[uri] = located
            if len(found) == SLICE:
                break
        return found

    def _read(self, files: Mapping[str, Located | None]) -> None:
        """Read files and index those that have changed. Files of a walk have their location."""
        self._save(make_entries(self._outlined(self._changed_of(files))))

    def _start_chunking(self, files: Mapping[str, Located | None]) -> None:
        """Read files. The second process cuts those that have changed while others are saved."""
        sources = self._outlined(self._changed_of(files))
        if self._chunker.n_under_way < MAX_BATCHES_UNDER_WAY:
            self._flying.update(source.uri for source in sources)
            self._chunker.send(sources)
        else:  # the second process is busy
            self._save(make_entries(sources))
        while self._chunker.has_done:
            self._receive_chunks()

    def _outlined(self, sources: list[SourceFile]) -> list[SourceFile]:
        """Return the sources with their outlines; the sources left out are read again later."""
        outlined = self.outliner.add_outlines(sources)
        self._due.update((source.uri, None) for source in sources[len(outlined) :])
        return outlined

    def _receive_chunks(self) -> None:
        """Wait for the oldest batch of the second process and save its entries."""
        landed = [entry for entry in self._chunker.receive() if entry.uri in self._flying]
        self._flying.difference_update(entry.uri for entry in landed)
        self._save(landed)

    def _changed_of(self, files: Mapping[str, Located | None]) -> list[SourceFile]:
        """Return the files whose text has changed.

        Update the stamps of the others, and remove files that are gone.
        """
        uris = [uri for uri in files if uri not in self._avoided]
        if uris:
            self._reading(uris)
        sources: list[SourceFile] = []
        gone: list[str] = []
        for uri in uris:
            self._flying.discard(uri)  # an entry of the second process would be older
            found = self._source.read(uri, self._known.get(uri), files[uri])
            if isinstance(found, SourceFile):
                sources.append(found)
            elif found is None:
                gone.append(uri)
            else:
                self._store.touch(uri, found)
                self._known[uri] = found
        self._drop(uri for uri in gone if uri in self._known)
        return sources

    def _save(self, entries: list[IndexEntry]) -> None:
        if entries:
            self._engine.add(entries)
            self._known.update((entry.uri, entry.stamp) for entry in entries)

    def _drop(self, uris: Iterable[str]) -> None:
        gone = list(uris)
        if gone:
            self._engine.drop(gone)
            for uri in gone:
                del self._known[uri]


def _folders_of(uri: str) -> Iterator[str]:
    """Yield the folders above a file, by URI."""
    at = uri.rfind("/")
    while at > 0:
        yield uri[:at]
        at = uri.rfind("/", 0, at)
