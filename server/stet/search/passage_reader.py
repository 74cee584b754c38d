"""Read the passages that the index has found from their files, as they may be shown now.

No passage is shown that is gone or that may not be shown: `Snapshot.show` decides, as everywhere.
The result of `show` is cached between questions as long as nothing has changed. All answers of the
disk meanwhile are recorded: the targets of links, the ignore files, the status of the path. The
same answers, with the same roots and settings, lead to the same decision and the same text. So
before a cached text is used again, the disk is asked again, and if one answer is different, `show`
decides again. Never cached: texts that are open in the editor or have blocks, and texts that may
not be shown.
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
"""Code points of all texts that are kept."""
SETTLED_SECONDS = 2.5
"""A recent file may be written again with the same time: FAT counts in two seconds."""


class DiskAnswers(NamedTuple):
    """What the disk said of paths, by their text: with each the path itself and the answer.

    Attributes:
        stats: What lies there.
        real_paths: Where they lead.
    """

    stats: dict[str, tuple[Path, FileStat | None]]
    real_paths: dict[str, tuple[Path, Path]]


class ShownFile(NamedTuple):
    """A file that may be shown.

    Attributes:
        document: Its text, without blocks.
        name: What models and people call it.
    """

    document: TextDocument
    name: str


class ShownFiles:
    """Owned by the indexer, asked in worker threads: one question at a time."""

    def __init__(self) -> None:
        """None is kept."""
        self._lock = Lock()
        self._basis: tuple[Any, ...] = ()
        self._cache: dict[str, tuple[ShownFile, DiskAnswers]] = {}
        self._n_cached = 0

    @contextmanager
    def reader(self, snapshot: Snapshot) -> Iterator[Callable[[str], ShownFile | None]]:
        """Yield a function that returns a file by its URI, or None if the file may not or cannot be
        shown.

        Within one `with` the disk is asked about each path once. Asks the disk.
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
            self._cache[key] = self._cache.pop(key)  # the last to go now
            return cached[0]
        self._drop(key)
        self._recorder.asked = DiskAnswers({}, {})
        shown = _shown(snapshot, uri)
        if shown is not None and self._recorder.is_settled():
            self._save(key, shown)
        return shown

    def _save(self, key: str, shown: ShownFile) -> None:
        self._cache[key] = (shown, self._recorder.asked)
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
    asked: dict[str, tuple[Path, _Answer]],
) -> _Answer:
    """Return the known answer about a path, or ask for it; record it in both."""
    key = str(path)
    if key not in known:
        known[key] = (path, ask(path))
    asked[key] = known[key]
    return known[key][1]


class _RecordingSystem:
    """A system that records its answers about paths until they are cleared.

    Attributes:
        asked: The questions since the last clearing, with the answers.
    """

    def __init__(self, system: System) -> None:
        """Nothing is asked yet."""
        self._system = system
        self.forget()

    @property
    def system(self) -> System:
        """This object as a `System`: what it does not answer, the real system does."""
        return cast(System, self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def stat(self, path: Path) -> FileStat | None:
        """See `System.stat`."""
        return _recorded(path, self._system.stat, self._known.stats, self.asked.stats)

    def real_path(self, path: Path) -> Path:
        """See `System.real_path`."""
        known, asked = self._known.real_paths, self.asked.real_paths
        return _recorded(path, self._system.real_path, known, asked)

    def forget(self) -> None:
        """Ask anew from now on."""
        self._known, self.asked = DiskAnswers({}, {}), DiskAnswers({}, {})

    def still_holds(self, answers: DiskAnswers) -> bool:
        """Return whether the disk still says all of this."""
        self.asked = DiskAnswers({}, {})  # earlier records belong to another file
        return all(
            self.real_path(path) == answer for path, answer in answers.real_paths.values()
        ) and all(self.stat(path) == answer for path, answer in answers.stats.values())

    def is_settled(self) -> bool:
        """Return whether nothing that was asked about was written just now."""
        latest = self._system.now() - SETTLED_SECONDS
        return all(
            answer is None or answer.mtime < latest for _, answer in self.asked.stats.values()
        )


MAX_LINE = 1000
"""The maximum length of a returned line, in code points."""
MAX_LOOKED_AT = 400
"""Lines of a passage that are weighed for the best one."""
PER_FILE = 4
"""Passages of one file."""


def read_passages(
    snapshot: Snapshot, query: SearchQuery, hits: Iterable[Mapping[str, Any]], files: ShownFiles
) -> tuple[SearchPassage, ...]:
    """Return the first `query.limit` passages for `hits`. Each hit is a
    `stet.search.search_engine.Hit` in a message.

    Asks the disk.
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
    """Return the passage of a hit in the file as it is now, or None if the file has become too
    short.
    """
    document = file.document
    first, end = int(hit["first"]), min(int(hit["end"]), len(document.lines))
    if first >= end:
        return None
    at = _best_line(document, first, end, terms)
    text = document.lines[at].rstrip("\r\n")[:MAX_LINE]
    ranks = {key: hit[key] for key in ("score", "lexical_rank", "vector_rank", "title", "why")}
    return SearchPassage(document.uri, file.name, at + 1, text, first=first, end=end, **ranks)


def _best_line(document: TextDocument, first: int, end: int, terms: set[str]) -> int:
    """Return the line with the most words of the query. By default return the first line that is
    not blank.
    """
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
    """Return how many of the words a line has at most, told without cutting it into words.

    A word is compared by the beginnings of its parts, and by all of them put together.
    """
    if not line.isascii():
        return len(terms)
    text = line.lower().replace("_", "")
    return sum([term in text for term in terms])
