"""The searches that answer the questions: the engine, each of its arms alone, and plain FTS5."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter

from stet.search.chunk import FileStamp, SourceFile
from stet.search.chunker import chunk_file
from stet.search.embedding import LocalEmbedder, can_embed
from stet.search.index_store import IndexStore
from stet.search.search_engine import ChunkHit, ChunkQuery, SearchEngine, digest, make_entry
from stet.text.lines import split_lines
from tests.eval.corpus import Change, Question

Found = tuple[str, int, int]
"""A file, the first line of a passage in it, 0-based, and the line after the passage."""
HYBRID, WORDS, MEANING, PLAIN, PLAIN_FILES = (
    "hybrid",
    "words",
    "meaning",
    "FTS5",
    "FTS5, whole files",
)
_LIMIT = 300
_WORD = re.compile(r"\w+")


class Ours:
    """The engine as shipped, and each arm alone with the same rules."""

    def __init__(self) -> None:
        self.engine = SearchEngine(IndexStore(":memory:"), LocalEmbedder() if can_embed() else None)
        self.seconds: list[float] = []
        """Seconds that the whole engine took for each question."""

    def change(self, change: Change) -> None:
        self.engine.drop(change.drop)
        self.engine.add(
            make_entry(SourceFile(name, name, text, FileStamp(None, len(text), digest(text))))
            for name, text in change.put.items()
        )
        while self.engine.embed():
            pass

    def arms(self) -> Mapping[str, Callable[[Question], list[Found]]]:
        return {
            HYBRID: self._hybrid,
            WORDS: lambda asked: self._found(self._search(asked, by_meaning=False)),
            MEANING: lambda asked: self._found(self._search(asked, by_words=False)),
        }

    def _hybrid(self, asked: Question) -> list[Found]:
        start = perf_counter()
        found = self._found(self._search(asked))
        self.seconds.append(perf_counter() - start)
        return found

    @staticmethod
    def _search(asked: Question, *, by_words: bool = True, by_meaning: bool = True) -> ChunkQuery:
        """Make the query that the index process makes for the agent or a person."""
        return ChunkQuery(
            asked.text, _LIMIT, use_words=by_words, use_vectors=by_meaning, for_people=True
        )

    def _found(self, search: ChunkQuery) -> list[Found]:
        return [_found(hit) for hit in self.engine.search(search)]


def _found(hit: ChunkHit) -> Found:
    return hit.uri, hit.first, hit.end


class Plain:
    """Default FTS5: its own tokenizer, one column with the text, any word of the question."""

    def __init__(self, *, whole_files: bool) -> None:
        self._whole_files = whole_files
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.executescript(
            "CREATE TABLE places (id INTEGER PRIMARY KEY, file TEXT, first INTEGER, end INTEGER);"
            "CREATE INDEX files ON places (file);"
            "CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = 'unicode61');"
        )

    def change(self, change: Change) -> None:
        self._db.execute("BEGIN")
        for name in [*change.drop, *change.put]:
            for row in self._db.execute("SELECT id FROM places WHERE file = ?", (name,)).fetchall():
                self._db.execute("DELETE FROM texts WHERE rowid = ?", row)
            self._db.execute("DELETE FROM places WHERE file = ?", (name,))
        for name, text in change.put.items():
            for first, end, body in self._cut(name, text):
                place = (name, first, end)
                cursor = self._db.execute(
                    "INSERT INTO places (file, first, end) VALUES (?, ?, ?)", place
                )
                self._db.execute(
                    "INSERT INTO texts (rowid, body) VALUES (?, ?)", (cursor.lastrowid, body)
                )
        self._db.execute("COMMIT")

    def _cut(self, name: str, text: str) -> Iterator[tuple[int, int, str]]:
        lines = split_lines(text)
        if self._whole_files:
            yield 0, len(lines), text
            return
        for chunk in chunk_file(text, name):
            yield chunk.first, chunk.end, "".join(lines[chunk.first : chunk.end])

    def ask(self, asked: Question) -> list[Found]:
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORD.findall(asked.text)))
        if not wanted:
            return []
        return self._db.execute(
            "SELECT file, first, end FROM texts JOIN places ON places.id = texts.rowid"
            " WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?",
            (wanted, _LIMIT),
        ).fetchall()
