"""Answers questions about the files that were put into it, and keeps their index.

Blocks, and takes a processor while it works: it lives in a process of its own (`child.py`).
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from stet.index.search.by_file import FileRanking, Spans
from stet.index.search.by_words import WordRanking
from stet.index.search.chunks import chunks_of
from stet.index.search.embedding import Embedder
from stet.index.search.entries import NOTHING, Entry, Row, Source, Without
from stet.index.search.fields import Told, fields_of, query_meant, query_terms, subject_terms
from stet.index.search.flood import for_people, spread_out, unlike
from stet.index.search.ranking import Asked, Ranks, Scored, ranked, value_of, why
from stet.index.search.store import Store
from stet.index.search.vectors import Vectors, packed, unpacked
from stet.text.lines import split_lines
from stet.text.secrets import Secret, find_secrets

if TYPE_CHECKING:
    import numpy as np

N_BY_WORDS = 100
N_BY_MEANING = 60
"""Chunks that each ranking puts up. Twice as many find one in a hundred more, and take 1.4 times as long."""
LEAST_COSINE = 0.25
"""What is less near in meaning has nothing to do with the question."""
LEAST_SPREAD = 0.05
"""Cosines of an endpoint's vectors that lie closer together tell no passage from another."""
MAX_FOUND = 6000
"""Places of words that are weighed: common words find nothing by themselves where there are rarer ones."""
MAX_FOUND_OF_FILES = 2500
"""The same for the ranking of files, which adds to the others."""
_MIN_TERMS = 3
_MANY = 1000
"""Chunks with a word that take long to count, and whose number says the same if a few come and go."""
_DRIFT = 100
"""Where one of so many chunks has changed, those are counted anew too."""
_BATCH = 512
_HALVES = re.compile("[\ud800-\udfff]")


class Hit(NamedTuple):
    """A chunk that answers a question.

    Attributes:
        uri: Of its file.
        file: What the file is called.
        first: The chunk's first line, 0-based.
        end: The line behind its last.
        title: What is defined there, or the heading, with what that lies in.
        score: Higher is better; comparable within one answer only.
        by_words: Its place in the ranking by words, from 1; None if it is not in it.
        by_meaning: The same for meaning.
        why: Why it is here, in words.
    """

    uri: str
    file: str
    first: int
    end: int
    title: str
    score: float
    by_words: int | None
    by_meaning: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Search:
    """A question.

    Attributes:
        text: In anybody's words.
        limit: At most so many chunks.
        folder: Only below this one, as files are called; empty for everywhere.
        by_words: Whether words count.
        by_meaning: Whether meaning counts.
        favoured: What is added to the score of chunks of some files, by URI.
        vector: What it means, where somebody else embeds.
        for_people: Whether of one file, and of passages that read the same, a few are enough.
    """

    text: str
    limit: int = 40
    folder: str = ""
    by_words: bool = True
    by_meaning: bool = True
    favoured: Mapping[str, float] = field(default_factory=dict)
    vector: Sequence[float] | None = None
    for_people: bool = False


def entry_of(source: Source) -> Entry:
    """A file as it is put into the index; its stamp holds the digest of its text."""
    uri, name, text, stamp, outline, is_sent = source
    name, text = _whole(name), _whole(text)
    lines = split_lines(text)
    chunks = chunks_of(text, name, outline)
    # Looking for secrets costs nearly as much as all the rest.
    told = _told(name, text) if is_sent else None
    fields = [fields_of(name, chunk, lines, told) for chunk in chunks]
    meant = [digest(each.meant) for each in fields]
    return Entry(uri, name, stamp, chunks, fields, meant)


def _whole(text: str) -> str:
    """A text without halves of characters, as many code points long: what the database takes.

    Editors cut emoji in two, and the bytes of a name need not be text.
    """
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def _told(name: str, text: str) -> Told | None:
    """A file as it may be sent away; None where that is all of it."""
    in_name, in_text = find_secrets(name), find_secrets(text)
    if not in_name and not in_text:
        return None
    return Told.of(_without(name, in_name), _without(text, in_text))


def _without(text: str, secrets: Sequence[Secret]) -> str:
    """A text with spaces in the place of secrets, which are none of its words."""
    parts: list[str] = []
    behind = 0
    for one in secrets:
        parts += (text[behind : one.start], " " * (one.end - one.start))
        behind = one.end
    return "".join((*parts, text[behind:]))


def digest(text: str) -> bytes:
    """Tells texts apart."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class SearchEngine:
    """Owns the store and the vectors.

    Attributes:
        n_chunks: In the store.
    """

    def __init__(
        self, store: Store, embedder: Embedder | None = None, *, is_embedded: bool = False
    ) -> None:
        """An engine of what is in `store`.

        Args:
            store: The index.
            embedder: Tells what texts mean.
            is_embedded: Whether somebody else does, and gives the vectors to `take`; without either
                meaning has no say.
        """
        self._store = store
        self._embedder = embedder
        self._has_vectors = is_embedded or embedder is not None
        self._vectors = Vectors()
        # SQLite and numpy let go of the interpreter while they work: both rankings are made at once.
        self._beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="by meaning")
        self._frequencies: dict[str, int] = {}
        self._n_changed = 0
        _, self.n_chunks, _ = store.counts()
        self._spans = Spans(store.spans())
        if self._has_vectors:
            self._vectors.put(store.vectors())

    @property
    def has_meaning(self) -> bool:
        """Whether meaning has a say: some texts are embedded."""
        return len(self._vectors) > 0

    def put(self, entries: Iterable[Entry]) -> None:
        """Put files in, each in place of what was there of it; all of them or, on an error, none."""
        with self._store.writing():
            changes = [self._store.put(entry) for entry in entries]
        self._changed(changes)

    def drop(self, uris: Iterable[str]) -> None:
        """Take files out."""
        with self._store.writing():
            changes: list[tuple[list[int], list[int]]] = [
                (self._store.drop(uri), []) for uri in uris
            ]
        self._changed(changes)

    def _changed(self, changes: Sequence[tuple[list[int], list[int]]]) -> None:
        """Of each file the chunks that went and those that came."""
        for went, put in changes:
            self._spans.drop(went)
            self._spans.put(put)
        gone = [chunk for went, _ in changes for chunk in went]
        came = [chunk for _, put in changes for chunk in put]
        self.n_chunks += len(came) - len(gone)
        self._vectors.drop(gone)
        if self._has_vectors:
            self._vectors.put(self._store.vectors(came))
        self._n_changed += len(gone) + len(came)
        if self._n_changed * _DRIFT > self.n_chunks:
            self._frequencies.clear()
            self._n_changed = 0
        for term in [term for term, n in self._frequencies.items() if n < _MANY]:
            del self._frequencies[term]

    def embed(self, limit: int = _BATCH) -> int:
        """Embed some of what is not embedded yet; how many there were."""
        if self._embedder is None:
            return 0
        unread = self.unread(limit)
        if unread:
            vectors = self._embedder.embed([text for _, text in unread])
            self.take((meant, row) for (meant, _), row in zip(unread, vectors, strict=True))
        return len(unread)

    def forget_words(self) -> None:
        """Let go of what the embedder keeps of words, which is megabytes once many were embedded."""
        if self._embedder is not None:
            self._embedder.forget_words()

    def unread(self, limit: int) -> list[tuple[bytes, str]]:
        """Texts that are not embedded yet, each with its hash."""
        return self._store.unread(limit)

    def take(self, vectors: Iterable[tuple[bytes, "np.ndarray[Any, Any]"]]) -> None:
        """Take in vectors, each with the hash of its text."""
        with self._store.writing():
            kept = self._store.embedded((meant, packed(row)) for meant, row in vectors)
        self._vectors.put(kept)

    def search(self, search: Search) -> list[Hit]:
        """The chunks that fit best, the best first."""
        asked, candidates = self.candidates(search)
        valued = [
            (value_of(asked, row, ranks) + search.favoured.get(row.uri, 0.0), row, ranks)
            for row, ranks in candidates
        ]
        valued.sort(key=lambda each: (-each[0], each[1].file, each[1].first))
        if search.for_people:
            few = list(for_people(row for _, row, _ in valued))[: search.limit]
            wanted = {row.id for row in few}
            valued = [each for each in valued if each[1].id in wanted]
        return [_hit(asked, *each) for each in valued[: search.limit]]

    def candidates(self, search: Search) -> tuple[Asked, list[tuple[Row, Ranks]]]:
        """The chunks that any of the rankings put up, in no order."""
        terms = query_terms(search.text)
        asked = Asked.of(terms, {term: self._frequency(term) for term in terms}, self.n_chunks)
        if not terms:
            return asked, []
        # Only this thread may ask the store.
        only = self._store.chunks_below(search.folder) if search.folder else None
        meant = self._beside.submit(self._by_meaning, search, only)
        try:
            by_words = self._by_words(asked, search) if search.by_words else []
            files = self._by_file(asked, search)
        finally:
            vector, by_meaning = meant.result()
        if by_words and not self._is_informative(search, vector):
            vector, by_meaning = None, []
        rows = self._store.rows(list({each for each, _ in (*by_words, *by_meaning)}))

        def others_by_words(without: Without) -> Scored:
            return self._by_words(asked, search, without)

        def others_by_meaning(without: Without) -> Scored:
            return self._nearest(vector, self._not_in(without, only))

        fetch = self._store.rows
        words = spread_out(by_words, N_BY_WORDS, rows, fetch, others_by_words)
        meaning = spread_out(by_meaning, N_BY_MEANING, rows, fetch, others_by_meaning)
        put_up = {each for each, _ in (*words, *meaning)}
        if search.by_words:
            of_files = files.best(only)
            rows.update(fetch([chunk for chunk in of_files if chunk not in rows]))
            put_up.update(unlike(of_files, rows))
        rows = {chunk: row for chunk, row in rows.items() if chunk in put_up}
        cosines = {} if vector is None else self._vectors.cosines(list(rows), vector)
        if search.vector is not None and cosines:
            # An endpoint may have none for a passage yet: that is not far, but unknown.
            cosines = dict.fromkeys(rows, min(cosines.values())) | cosines
        return asked, ranked(rows, words, meaning, cosines, files)

    def _frequency(self, term: str) -> int:
        known = self._frequencies.get(term)
        if known is None:
            known = self._frequencies[term] = self._store.frequency(term)
        return known

    def _not_in(self, without: Without, only: Sequence[int] | None) -> list[int]:
        """The chunks with a vector, of `only` where that is given, without those of some files and texts."""
        out = {chunk for text in without.texts for chunk in self._store.chunks_saying(text)}
        out.update(self._store.chunks_of(without.uris))
        among = self._vectors.chunks if only is None else only
        return [chunk for chunk in among if chunk not in out]

    def _by_words(
        self, asked: Asked, search: Search, without: Without = NOTHING
    ) -> list[tuple[int, float]]:
        telling = self._telling(asked, MAX_FOUND, at_least=_MIN_TERMS)
        if not telling:
            return []
        ranking = WordRanking(self._store, self.n_chunks, self._frequencies)
        return ranking.best(telling, N_BY_WORDS, search.folder, without)

    def _by_file(self, asked: Asked, search: Search) -> FileRanking:
        subject = subject_terms(search.text)
        return FileRanking.of(
            self._store,
            self._spans,
            asked.rarity,
            self._telling(asked, MAX_FOUND_OF_FILES),
            subject,
        )

    def _telling(self, asked: Asked, most: int, at_least: int = 0) -> list[str]:
        """The rarest words of the question, in so many chunks at most together; some in any case."""
        telling: list[str] = []
        n_found = 0
        for term in sorted(asked.rarity, key=self._frequency):
            n_found += self._frequency(term)
            if len(telling) >= at_least and n_found > most:
                break
            telling += [term] if self._frequency(term) else []
        return telling

    def _is_informative(self, search: Search, vector: "np.ndarray[Any, Any] | None") -> bool:
        """Return whether vectors of an endpoint tell passages apart; those made here do.

        A passage without a vector would else be ranked after all that have one.
        """
        if vector is None or search.vector is None:
            return True
        return self._vectors.spread(vector) >= LEAST_SPREAD

    def _vector_of(self, search: Search) -> "np.ndarray[Any, Any] | None":
        if not search.by_meaning or not len(self._vectors):
            return None
        if search.vector is not None:
            return unpacked(search.vector)
        if self._embedder is None:
            return None
        vector: np.ndarray[Any, Any] = self._embedder.embed([query_meant(search.text)])[0]
        return vector

    def _by_meaning(
        self, search: Search, only: Sequence[int] | None
    ) -> tuple["np.ndarray[Any, Any] | None", list[tuple[int, float]]]:
        """What the question means, and the chunks near to it; of `only` where that is given."""
        vector = self._vector_of(search)
        return vector, self._nearest(vector, only)

    def _nearest(
        self, vector: "np.ndarray[Any, Any] | None", only: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        if vector is None:
            return []
        nearest = self._vectors.nearest(vector, N_BY_MEANING, only)
        return [(chunk, cosine) for chunk, cosine in nearest if cosine >= LEAST_COSINE]


def _hit(asked: Asked, value: float, row: Row, ranks: Ranks) -> Hit:
    title = f"{row.scope}.{row.title}" if row.is_definition and row.scope else row.title
    return Hit(
        row.uri, row.file, row.first, row.end, title, value, ranks.by_words, ranks.by_meaning,
        why(asked, row, ranks),
    )  # fmt: skip
