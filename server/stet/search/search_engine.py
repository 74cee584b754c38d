"""Answering questions about the indexed files, and updating the index.

The engine blocks and takes processor time, so it runs in a separate process (`index_worker.py`).
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from stet.privacy.secrets import Secret, find_secrets
from stet.search.chunk import (
    NO_EXCLUSION,
    ChunkRow,
    Exclusion,
    IndexEntry,
    RedactedFile,
    SourceFile,
    make_fields,
    query_embedding_text,
    query_terms,
    subject_terms,
)
from stet.search.chunk_ranking import (
    ChunkRanks,
    PreparedQuery,
    cap_per_file,
    deduplicate,
    diversify,
    explain,
    rank_chunks,
    score,
)
from stet.search.chunker import chunk_file
from stet.search.embedding import LocalEmbedder
from stet.search.file_ranker import ChunkSpans, FileRanker
from stet.search.index_store import IndexStore
from stet.search.lexical_ranker import Ranking, best_by_words
from stet.search.vector_table import VectorTable, pack_vector, unpack_vector
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines

if TYPE_CHECKING:
    import numpy as np

N_LEXICAL = 100
N_VECTOR = 60
"""The chunks that each ranking proposes. Twice as many find 1 % more and take 1.4 times as long."""
LEAST_COSINE = 0.25
"""A chunk with a lower cosine is not related to the question."""
LEAST_SPREAD = 0.05
"""If the cosines of an endpoint's vectors are closer together, they do not distinguish passages."""
MAX_FOUND = 6000
"""Words are searched for, the rarest first, until they have this many chunks together: common words
add little to rare ones."""
MAX_FOUND_OF_FILES = 2500
"""The same limit for the ranking of files, which only supplements the other rankings."""
_MIN_TERMS = 3
_MANY = 1000
"""The count of a word in this many chunks stays cached: a few changes hardly affect it."""
_DRIFT = 100
"""If one of this many chunks has changed, all cached counts are cleared."""
_BATCH = 512
_HALVES = re.compile("[\ud800-\udfff]")


class ChunkHit(NamedTuple):
    """A chunk that answers a question.

    Attributes:
        uri: The URI of the file.
        file: The displayed name of the file.
        first: The first line of the chunk, 0-based.
        end: The line after the last line, 0-based.
        title: The defined name with the enclosing names, or the heading.
        score: The score; higher is better, comparable within one answer only.
        lexical_rank: The rank by words, from 1; None if the chunk is not in this ranking.
        vector_rank: The rank by meaning, from 1; None if the chunk is not in this ranking.
        why: The reason for the hit, as text.
    """

    uri: str
    file: str
    first: int
    end: int
    title: str
    score: float
    lexical_rank: int | None
    vector_rank: int | None
    why: str


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """A question.

    Attributes:
        text: The question in the user's or the model's words.
        limit: The maximum number of chunks.
        folder: Only below this folder, as displayed; empty for everywhere.
        use_words: Whether to search by words.
        use_vectors: Whether to search by meaning.
        favoured: The bonus for the score of the chunks of some files, by URI.
        vector: The embedding of the question, if another component embeds.
        for_people: Whether to show only a few passages of one file, or with the same text.
    """

    text: str
    limit: int = 40
    folder: str = ""
    use_words: bool = True
    use_vectors: bool = True
    favoured: Mapping[str, float] = field(default_factory=dict)
    vector: Sequence[float] | None = None
    for_people: bool = False


def make_entries(sources: Sequence[SourceFile]) -> list[IndexEntry]:
    """Return the index entries of files, in the same order."""
    return [make_entry(source) for source in sources]


def make_entry(source: SourceFile) -> IndexEntry:
    """Return the index entry of a file; its stamp contains the digest of the text."""
    uri, name, text, stamp, outline, is_sent = source
    name, text = _whole(name), _whole(text)
    lines = split_lines(text)
    chunks = chunk_file(text, name, outline)
    # Only if necessary: searching for secrets takes nearly as long as all the rest.
    redacted = _redact_file(name, text) if is_sent else None
    fields = [make_fields(name, chunk, lines, redacted) for chunk in chunks]
    digests = [digest(field.embedded) for field in fields]
    return IndexEntry(uri, name, stamp, chunks, fields, digests)


def _whole(text: str) -> str:
    """Return the text with lone surrogates replaced, as the database can't store them.

    Editors may split an emoji, and the bytes of a name need not be valid text.
    """
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


def _redact_file(name: str, text: str) -> RedactedFile | None:
    """Return the redacted file for an endpoint, or None if the file has no secrets."""
    in_name, in_text = find_secrets(name), find_secrets(text)
    if not in_name and not in_text:
        return None
    return RedactedFile.of(_blank_secrets(name, in_name), _blank_secrets(text, in_text))


def _blank_secrets(text: str, secrets: Sequence[Secret]) -> str:
    """Return the text with spaces in place of its secrets."""
    blanks = (Replacement(start, end, " " * (end - start)) for start, end, _ in secrets)
    return TextEdit(tuple(blanks)).apply(text)


def digest(text: str) -> bytes:
    """Return a digest of a text; different texts have different digests."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class SearchEngine:
    """The search in the index; owns the store and the vectors.

    Attributes:
        n_chunks: The number of chunks in the store.
    """

    def __init__(
        self, store: IndexStore, embedder: LocalEmbedder | None = None, *, is_embedded: bool = False
    ) -> None:
        """Create an engine for the contents of `store`.

        Args:
            store: The index.
            embedder: Embeds texts.
            is_embedded: Whether another component embeds, and passes the vectors to `add_vectors`;
                without either, there is no search by meaning.
        """
        self._store = store
        self._embedder = embedder
        self._has_embedder = is_embedded or embedder is not None
        self._vectors = VectorTable()
        # SQLite and numpy release the GIL while they work: both rankings are computed in parallel.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="by meaning")
        self._frequencies: dict[str, int] = {}
        self._n_changed = 0
        _, self.n_chunks, _ = store.counts()
        self._spans = ChunkSpans(store.spans())
        if self._has_embedder:
            self._vectors.add(store.vectors())

    @property
    def has_vectors(self) -> bool:
        """Whether some texts are embedded, so that the ranking by meaning is used."""
        return len(self._vectors) > 0

    def add(self, entries: Iterable[IndexEntry]) -> None:
        """Add files and replace their earlier data; on an error, no file is added."""
        with self._store.writing():
            changes = [self._store.save(entry) for entry in entries]
        self._changed(changes)

    def drop(self, uris: Iterable[str]) -> None:
        """Remove files."""
        with self._store.writing():
            dropped = [self._store.drop(uri) for uri in uris]
        self._changed([(chunks, []) for chunks in dropped])

    def _changed(self, changes: Sequence[tuple[list[int], list[int]]]) -> None:
        """Update the tables after changes: for each file, the removed and the added chunks."""
        for removed, put in changes:
            self._spans.drop(removed)
            self._spans.add(put)
        gone = [chunk for removed, _ in changes for chunk in removed]
        added = [chunk for _, put in changes for chunk in put]
        self.n_chunks += len(added) - len(gone)
        self._vectors.drop(gone)
        if self._has_embedder:
            self._vectors.add(self._store.vectors(added))
        self._n_changed += len(gone) + len(added)
        if self._n_changed * _DRIFT > self.n_chunks:
            self._frequencies.clear()
            self._n_changed = 0
        for term in [term for term, n in self._frequencies.items() if n < _MANY]:
            del self._frequencies[term]

    def embed(self, limit: int = _BATCH) -> int:
        """Embed at most `limit` texts that are not embedded yet. Return their number."""
        if self._embedder is None:
            return 0
        unread = self._store.pending_texts(limit)
        if unread:
            vectors = self._embedder.embed([text for _, text in unread])
            self.add_vectors((key, row) for (key, _), row in zip(unread, vectors, strict=True))
        return len(unread)

    def forget_words(self) -> None:
        """Clear the embedder's cache of words, which takes megabytes after many were embedded."""
        if self._embedder is not None:
            self._embedder.forget_words()

    def add_vectors(self, vectors: Iterable[tuple[bytes, "np.ndarray[Any, Any]"]]) -> None:
        """Add vectors, each with the hash of its text."""
        with self._store.writing():
            saved = self._store.save_vectors((key, pack_vector(row)) for key, row in vectors)
        self._vectors.add(saved)

    def search(self, search: ChunkQuery) -> list[ChunkHit]:
        """Return the best chunks, the best first."""
        query, candidates = self.candidates(search)
        valued = [
            (score(query, row, ranks) + search.favoured.get(row.uri, 0.0), row, ranks)
            for row, ranks in candidates
        ]
        valued.sort(key=lambda each: (-each[0], each[1].file, each[1].first))
        if search.for_people:
            few = list(cap_per_file(row for _, row, _ in valued))[: search.limit]
            wanted = {row.id for row in few}
            valued = [each for each in valued if each[1].id in wanted]
        return [_hit(query, *each) for each in valued[: search.limit]]

    def candidates(
        self, search: ChunkQuery
    ) -> tuple[PreparedQuery, list[tuple[ChunkRow, ChunkRanks]]]:
        """Return the chunks that any of the rankings proposes, in no particular order."""
        terms = query_terms(search.text)
        query = PreparedQuery.prepare(
            terms, {term: self._frequency(term) for term in terms}, self.n_chunks
        )
        if not terms:
            return query, []
        # Only this thread may use the store.
        only = self._store.chunks_below(search.folder) if search.folder else None
        ranking = self._executor.submit(self._rank_by_vectors, search, only)
        try:
            by_words = self._rank_by_words(query, search) if search.use_words else []
            files = self._rank_files(query, search)
        finally:
            vector, by_meaning = ranking.result()
        if by_words and not self._is_informative(search, vector):
            vector, by_meaning = None, []
        rows = self._store.rows(list({each for each, _ in (*by_words, *by_meaning)}))

        def others_by_meaning(without: Exclusion) -> Ranking:
            return self._nearest(vector, self._without_excluded(without, only))

        fetch, others_by_words = self._store.rows, partial(self._rank_by_words, query, search)
        words = diversify(by_words, N_LEXICAL, rows, fetch, others_by_words)
        meaning = diversify(by_meaning, N_VECTOR, rows, fetch, others_by_meaning)
        put_up = {each for each, _ in (*words, *meaning)}
        if search.use_words:
            of_files = files.best(only)
            rows.update(fetch([chunk for chunk in of_files if chunk not in rows]))
            put_up.update(deduplicate(of_files, rows))
        rows = {chunk: row for chunk, row in rows.items() if chunk in put_up}
        cosines = {} if vector is None else self._vectors.cosines(list(rows), vector)
        if search.vector is not None and cosines:
            # A chunk may have no vector of the endpoint yet: its cosine is not low, but unknown.
            cosines = dict.fromkeys(rows, min(cosines.values())) | cosines
        return query, rank_chunks(rows, words, meaning, cosines, files)

    def _frequency(self, term: str) -> int:
        if term not in self._frequencies:
            self._frequencies[term] = self._store.frequency(term)
        return self._frequencies[term]

    def _without_excluded(self, without: Exclusion, only: Sequence[int] | None) -> list[int]:
        """Return the chunks with a vector, without the excluded files and texts.

        Consider only the chunks in `only` if given.
        """
        out = {chunk for text in without.texts for chunk in self._store.chunks_with_text(text)}
        out.update(self._store.chunks_of(without.uris))
        among = self._vectors.chunks if only is None else only
        return [chunk for chunk in among if chunk not in out]

    def _rank_by_words(
        self, query: PreparedQuery, search: ChunkQuery, without: Exclusion = NO_EXCLUSION
    ) -> Ranking:
        rare = self._rare_terms(query, MAX_FOUND, at_least=_MIN_TERMS)
        if not rare:
            return []
        terms = {term: self._frequency(term) for term in rare}
        ask = partial(self._store.best, limit=N_LEXICAL, folder=search.folder, without=without)
        return best_by_words(ask, terms, N_LEXICAL, self.n_chunks)

    def _rank_files(self, query: PreparedQuery, search: ChunkQuery) -> FileRanker:
        rare, subject = self._rare_terms(query, MAX_FOUND_OF_FILES), subject_terms(search.text)
        return FileRanker.of(self._store, self._spans, query.rarity, rare, subject)

    def _rare_terms(self, query: PreparedQuery, most: int, at_least: int = 0) -> list[str]:
        """Return the rarest words of the question that have at most `most` chunks together.

        The limit applies only after `at_least` words.
        """
        rare: list[str] = []
        n_found = 0
        for term in sorted(query.rarity, key=self._frequency):
            n_found += self._frequency(term)
            if len(rare) >= at_least and n_found > most:
                break
            rare += [term] if self._frequency(term) else []
        return rare

    def _is_informative(self, search: ChunkQuery, vector: "np.ndarray[Any, Any] | None") -> bool:
        """Return whether an endpoint's vectors distinguish passages; local vectors always do.

        Otherwise, a passage without a vector would be ranked below all passages with vectors.
        """
        if vector is None or search.vector is None:
            return True
        return self._vectors.spread(vector) >= LEAST_SPREAD

    def _vector_of(self, search: ChunkQuery) -> "np.ndarray[Any, Any] | None":
        if not search.use_vectors or not len(self._vectors):
            return None
        if search.vector is not None:
            return unpack_vector(search.vector)
        if self._embedder is None:
            return None
        vector: np.ndarray[Any, Any] = self._embedder.embed([query_embedding_text(search.text)])[0]
        return vector

    def _rank_by_vectors(
        self, search: ChunkQuery, only: Sequence[int] | None
    ) -> tuple["np.ndarray[Any, Any] | None", Ranking]:
        """Return the vector of the question and the nearest chunks, all in `only` if given."""
        vector = self._vector_of(search)
        return vector, self._nearest(vector, only)

    def _nearest(
        self, vector: "np.ndarray[Any, Any] | None", only: Sequence[int] | None
    ) -> Ranking:
        if vector is None:
            return []
        nearest = self._vectors.nearest(vector, N_VECTOR, only)
        return [(chunk, cosine) for chunk, cosine in nearest if cosine >= LEAST_COSINE]


def _hit(query: PreparedQuery, value: float, row: ChunkRow, ranks: ChunkRanks) -> ChunkHit:
    title = f"{row.scope}.{row.title}" if row.is_definition and row.scope else row.title
    return ChunkHit(
        row.uri, row.file, row.first, row.end, title, value, ranks.by_words, ranks.by_meaning,
        explain(query, row, ranks),
    )  # fmt: skip
