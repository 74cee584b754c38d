"""Reading the passages that the index has found from their files, if these may be shown.

`Snapshot.show` decides whether a file may be shown. The result of `show` is cached between
questions as long as nothing has changed. All answers of the disk during `show` are recorded: the
targets of links, the ignore files, the status of the path. The same answers, with the same roots
and settings, lead to the same decision and the same text. So before a cached text is used, the same
questions are put to the disk, and if one answer is different, `show` decides again. Texts that are
open in the editor or have blocks, and texts that may not be shown, are never cached.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast

from stet.search.chunk import query_terms, words
from stet.search.word_search import SearchPassage, SearchQuery
from stet.system.system import FileStat, System
from stet.text.document import TextDocument
from stet.workspace.ignore_rules import IgnoreRules
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

MAX_CACHED = 4_000_000
"""The most code points of all cached texts."""
SETTLED_SECONDS = 2.5
"""A younger file may be written again with the same time: FAT has a resolution of two seconds."""


class DiskAnswers(NamedTuple):
    """The answers of the disk about paths, by the text of the path, each with the path.

    Attributes:
        stats: The status of each path.
        real_paths: Each path with its links resolved.
    """

    stats: dict[str, tuple[Path, FileStat | None]]
    real_paths: dict[str, tuple[Path, Path]]


class ShownFile(NamedTuple):
    """A file that may be shown.

    Attributes:
        document: The text of the file, without blocks.
        name: The displayed name of the file.
    """

    document: TextDocument
    name: str


class ShownFiles:
    """The cache of shown files; owned by the indexer and used in worker threads, one at a time."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._lock = Lock()
        self._basis: tuple[Any, ...] = ()
        self._cache: dict[str, tuple[ShownFile, DiskAnswers]] = {}
        self._n_cached = 0

    @contextmanager
    def reader(self, snapshot: Snapshot) -> Iterator[Callable[[str], ShownFile | None]]:
        """Yield a function that returns a file by its URI, or None if it can't or may not be shown.

        Within the block, the disk is asked about each path once. Blocks on the disk.
        """
        with self._lock:
            basis = (snapshot.system, snapshot.roots, snapshot.settings)
            if self._basis != basis:
                self._basis = basis
                self._recorder = _RecordingSystem(snapshot.system)
                self._rules = IgnoreRules(self._recorder.system)
                self._cache.clear()
                self._n_cached = 0
            self._recorder.forget()
            seen = replace(snapshot, system=self._recorder.system, rules=self._rules)
            yield lambda uri: self._show(seen, uri)

    def _show(self, snapshot: Snapshot, uri: str) -> ShownFile | None:
        key = canonical(uri)
        if key in snapshot.documents or key in snapshot.blocks:
            self._drop(key)
            return _shown(snapshot, uri)
        cached = self._cache.get(key)
        if cached is not None and self._recorder.still_holds(cached[1]):
            self._cache[key] = self._cache.pop(key)  # now the most recently used
            return cached[0]
        self._drop(key)
        self._recorder.reads = DiskAnswers({}, {})
        shown = _shown(snapshot, uri)
        if shown is not None and self._recorder.is_settled():
            self._save(key, shown)
        return shown

    def _save(self, key: str, shown: ShownFile) -> None:
        self._cache[key] = (shown, self._recorder.reads)
        self._n_cached += len(shown.document.text)
        while self._n_cached > MAX_CACHED:
            self._drop(next(iter(self._cache)))

    def _drop(self, key: str) -> None:
        cached = self._cache.pop(key, None)
        if cached is not None:
            self._n_cached -= len(cached[0].document.text)


def _shown(snapshot: Snapshot, uri: str) -> ShownFile | None:
    document = snapshot.show_or_none(uri)
    return None if document is None else ShownFile(document, snapshot.name_of(document.uri))


_Answer = TypeVar("_Answer")


def _recorded(
    path: Path,
    ask: Callable[[Path], _Answer],
    known: dict[str, tuple[Path, _Answer]],
    reads: dict[str, tuple[Path, _Answer]],
) -> _Answer:
    """Return the known answer about a path, or ask for it; record it in both."""
    key = str(path)
    if key not in known:
        known[key] = (path, ask(path))
    reads[key] = known[key]
    return known[key][1]


class _RecordingSystem:
    """A system that records its answers about paths until they are cleared.

    Attributes:
        reads: The questions since the last clearing, with the answers.
    """

    def __init__(self, system: System) -> None:
        """Create a system without recorded answers."""
        self._system = system
        self.forget()

    @property
    def system(self) -> System:
        """This object as a `System`; the real system does all that is not defined here."""
        return cast(System, self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def stat(self, path: Path) -> FileStat | None:
        """See `System.stat`."""
        return _recorded(path, self._system.stat, self._known.stats, self.reads.stats)

    def real_path(self, path: Path) -> Path:
        """See `System.real_path`."""
        known, reads = self._known.real_paths, self.reads.real_paths
        return _recorded(path, self._system.real_path, known, reads)

    def forget(self) -> None:
        """Clear the recorded answers, so that the disk is asked again."""
        self._known, self.reads = DiskAnswers({}, {}), DiskAnswers({}, {})

    def still_holds(self, answers: DiskAnswers) -> bool:
        """Return whether the disk still gives these answers."""
        self.reads = DiskAnswers({}, {})  # earlier records belong to another file
        return all(
            self.real_path(path) == answer for path, answer in answers.real_paths.values()
        ) and all(self.stat(path) == answer for path, answer in answers.stats.values())

    def is_settled(self) -> bool:
        """Return whether none of the recorded paths was written within `SETTLED_SECONDS`."""
        latest = self._system.now() - SETTLED_SECONDS
        return all(
            answer is None or answer.mtime < latest for _, answer in self.reads.stats.values()
        )


MAX_LINE = 1000
"""The most code points of a returned line."""
MAX_LOOKED_AT = 400
"""The most lines of a passage that are compared to find the best line."""
PER_FILE = 4
"""The most passages of one file."""


def read_passages(
    snapshot: Snapshot, query: SearchQuery, hits: Iterable[Mapping[str, Any]], files: ShownFiles
) -> tuple[SearchPassage, ...]:
    """Return the first `query.limit` passages for `hits`, each a `ChunkHit` from a message.

    Blocks on the disk.
    """
    terms = set(query_terms(query.text))
    n_of_file: Counter[str] = Counter()
    found: list[SearchPassage] = []
    with files.reader(snapshot) as show:
        shown = lru_cache(maxsize=None)(show)
        for hit in hits:
            if len(found) == query.limit:
                break
            uri = str(hit["uri"])
            file = shown(uri) if n_of_file[uri] < PER_FILE else None
            passage = None if file is None else _passage(file, hit, terms)
            if passage is not None:
                n_of_file[uri] += 1
                found.append(passage)
    return tuple(found)


def _passage(file: ShownFile, hit: Mapping[str, Any], terms: set[str]) -> SearchPassage | None:
    """Return the passage of a hit in the present file, or None if the file has become too short."""
    document = file.document
    first, end = int(hit["first"]), min(int(hit["end"]), len(document.lines))
    if first >= end:
        return None
    at = _best_line(document, first, end, terms)
    text = document.lines[at].rstrip("\r\n")[:MAX_LINE]
    ranks = {key: hit[key] for key in ("score", "lexical_rank", "vector_rank", "title", "why")}
    return SearchPassage(document.uri, file.name, at + 1, text, first=first, end=end, **ranks)


def _best_line(document: TextDocument, first: int, end: int, terms: set[str]) -> int:
    """Return the line with the most terms; the first line that is not blank if no line has any."""
    best, n_best = first, -1
    for at in range(first, min(end, first + MAX_LOOKED_AT)):
        line = document.lines[at][:MAX_LINE]
        if not line.strip() or (n_best >= 0 and _max_words(line, terms) <= n_best):
            continue
        n = len(terms.intersection(words(line).split()))
        if n > n_best:
            best, n_best = at, n
    return best


def _max_words(line: str, terms: set[str]) -> int:
    """Return an upper bound of the number of terms in a line, without cutting it into words.

    Every term of an ASCII line occurs in the line in lower case without underscores.
    """
    if not line.isascii():
        return len(terms)
    text = line.lower().replace("_", "")
    return sum([term in text for term in terms])
