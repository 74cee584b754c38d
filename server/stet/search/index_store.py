"""The index on the disk: files, chunks, their words in SQLite's FTS5, their vectors.

A workspace has one file in the cache folder, owned by the process that has opened it (see
`index_state.py`). The index can be rebuilt, so it is written without waiting for the disk, and
deleted if it is broken or of another version.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from stet.search.chunk import NO_EXCLUSION, ChunkRow, Exclusion, FileStamp, IndexEntry

VERSION = 3
"""The version of the tables and their contents; an index of another version is built again."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, uri TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    mtime REAL, size INTEGER NOT NULL, hash BLOB NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, end INTEGER NOT NULL,
    name TEXT NOT NULL, scope TEXT NOT NULL, is_definition INTEGER NOT NULL, meant BLOB NOT NULL
);
CREATE INDEX chunks_of_file ON chunks (file);
CREATE INDEX chunks_meant ON chunks (meant);
CREATE TABLE vectors (meant BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID;
CREATE TABLE unread (meant BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (path, name, head, body, tokenize = 'ascii');
CREATE VIRTUAL TABLE names USING fts5 (path, tokenize = 'ascii', detail = 'none', columnsize = 0);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""
_PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -12000;
PRAGMA temp_store = MEMORY;
"""
_WEIGHTS = "1.0, 10.0, 3.0, 1.0"
"""The weights of the fields path, name, head, body."""


WRITTEN_TOGETHER = 20
"""The number of writes that are committed together."""


_RARE_WORDS = 8
"""The number of words by which a text is searched for: few other texts have all of them."""
MANY_CHUNKS = 2_000
"""The word lists are merged after at least this many chunks were written."""
MERGED_PAGES = 200
"""The number of pages that are merged in one step, which takes a few milliseconds."""


class IndexStore:
    """One index file; used by one thread. All methods block on the disk."""

    def __init__(self, path: Path | str) -> None:
        """Open the index at `path`, or create it; `:memory:` for an index in memory.

        Raises:
            sqlite3.DatabaseError: If the file is not an index of this version.
        """
        self._db = sqlite3.connect(path, isolation_level=None)
        self._n_written = 0
        self._n_unmerged = 0
        self._is_merging = False
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        self._db.executescript(_PRAGMAS)
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._db.executescript(_TABLES)
            self._db.execute(f"PRAGMA user_version = {VERSION}")
        elif version != VERSION:
            raise sqlite3.DatabaseError(f"an index of version {version}, not {VERSION}")
        (last,) = self._db.execute("SELECT max(id) FROM chunks").fetchone()
        self._next_chunk = (last or 0) + 1

    def close(self) -> None:
        """Close the file."""
        try:
            self.commit()
        finally:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- contents --------------------------------------------------------------------------------

    def stamps(self) -> dict[str, FileStamp]:
        """Return the stamps of all files, by URI."""
        rows = self._db.execute("SELECT uri, mtime, size, hash FROM files")
        return {uri: FileStamp(*stamp) for uri, *stamp in rows}

    def counts(self) -> tuple[int, int, int]:
        """Return the number of files, of chunks, and of texts that are not embedded yet."""
        sql = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks), (SELECT count(*) FROM unread)"
        n_files, n_chunks, n_unread = self._db.execute(sql).fetchone()
        return n_files, n_chunks, n_unread

    def meta(self, key: str) -> str | None:
        """Return the value of an entry about the whole index, or None."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def set_meta(self, key: str, value: str) -> None:
        """Set the value of an entry about the whole index."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # -- writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write everything within the block, or nothing on an error.

        Written data is found at once, but is committed only after `WRITTEN_TOGETHER` writes or by
        `commit`: each commit creates a separate list of words, and merging the lists takes time.
        """
        if not self._db.in_transaction:
            self._db.execute("BEGIN")
        self._db.execute("SAVEPOINT writing")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK TO writing")
            raise
        finally:
            self._db.execute("RELEASE writing")
        self._n_written += 1
        if self._n_written >= WRITTEN_TOGETHER:
            self.commit()

    def commit(self) -> None:
        """Commit the written data."""
        self._n_written = 0
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def save(self, entry: IndexEntry) -> tuple[list[int], list[int]]:
        """Save a file and replace its earlier data. Return the removed and the added chunks."""
        gone = self.drop(entry.uri)
        file = self._db.execute(
            "INSERT INTO files (uri, name, mtime, size, hash) VALUES (?, ?, ?, ?, ?)",
            (entry.uri, entry.name, *entry.stamp),
        ).lastrowid
        self._n_unmerged += len(entry.chunks)
        first = self._next_chunk
        self._next_chunk += len(entry.chunks)
        chunk_ids = range(first, self._next_chunk)
        self._db.executemany(
            "INSERT INTO chunks (id, file, first, end, name, scope, is_definition, meant)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (id_, file, c.first, c.end, c.name, c.scope, c.is_definition, digest)
                for id_, c, digest in zip(chunk_ids, entry.chunks, entry.digests, strict=True)
            ],
        )
        self._db.executemany(
            "INSERT INTO words (rowid, path, name, head, body) VALUES (?, ?, ?, ?, ?)",
            [
                (each, fields.path, fields.name, fields.head, fields.body)
                for each, fields in zip(chunk_ids, entry.fields, strict=True)
            ],
        )
        if entry.fields:
            self._db.execute(
                "INSERT INTO names (rowid, path) VALUES (?, ?)", (first, entry.fields[0].path)
            )
        self._db.executemany(
            "INSERT OR IGNORE INTO unread SELECT ?1, ?2"
            " WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE meant = ?1)",
            [
                (digest, each.embedded)
                for each, digest in zip(entry.fields, entry.digests, strict=True)
            ],
        )
        return gone, list(chunk_ids)

    def touch(self, uri: str, stamp: FileStamp) -> None:
        """Update the stamp of a file that was written again with the same text."""
        self._db.execute(
            "UPDATE files SET mtime = ?, size = ?, hash = ? WHERE uri = ?", (*stamp, uri)
        )

    def drop(self, uri: str) -> list[int]:
        """Remove a file. Return its removed chunks."""
        row = self._db.execute("SELECT id FROM files WHERE uri = ?", (uri,)).fetchone()
        if row is None:
            return []
        ids = self._ids("SELECT id FROM chunks WHERE file = ? ORDER BY id", *row)
        self._db.execute("DELETE FROM names WHERE rowid = ?", (ids[0] if ids else 0,))
        self._db.executemany("DELETE FROM words WHERE rowid = ?", [(each,) for each in ids])
        self._db.execute("DELETE FROM chunks WHERE file = ?", row)
        self._db.execute("DELETE FROM files WHERE id = ?", row)
        return ids

    def merge(self) -> bool:
        """Merge word lists to speed up queries after many writes. Return whether any were left.

        Each commit creates a separate list of words; this method merges a few pages at a time.
        """
        if self._n_unmerged < MANY_CHUNKS and not self._is_merging:
            return False
        pages = MERGED_PAGES if self._is_merging else -MERGED_PAGES  # negative: begin with all
        self._n_unmerged = 0
        before = self._db.total_changes
        self._db.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
        self._is_merging = self._db.total_changes - before >= 2  # as SQLite's documentation says
        return True

    def tidy(self) -> None:
        """Delete vectors and texts that no chunk uses any more."""
        with self.writing():
            for table in ("vectors", "unread"):
                self._db.execute(
                    f"DELETE FROM {table} WHERE meant NOT IN (SELECT meant FROM chunks)"  # noqa: S608
                )

    # -- vectors ---------------------------------------------------------------------------------

    def pending_texts(self, limit: int) -> list[tuple[bytes, str]]:
        """Return texts that are not embedded yet, each with its hash."""
        return self._db.execute("SELECT meant, text FROM unread LIMIT ?", (limit,)).fetchall()

    def save_vectors(
        self, vectors: Iterable[tuple[bytes, bytes | None]]
    ) -> list[tuple[int, bytes]]:
        """Save vectors by the hash of their text; None means that there can be no vector.

        Return the chunks that have received a vector, each with the vector.
        """
        chunks = []
        for digest, vector in vectors:
            self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (digest, vector))
            self._db.execute("DELETE FROM unread WHERE meant = ?", (digest,))
            if vector is not None:
                ids = self._db.execute("SELECT id FROM chunks WHERE meant = ?", (digest,))
                chunks += [(each, vector) for (each,) in ids]
        return chunks

    def vectors(self, chunks: Iterable[int] | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the vectors of chunks, of all chunks by default."""
        sql = "SELECT id, vector FROM chunks JOIN vectors USING (meant) WHERE vector IS NOT NULL"
        if chunks is None:
            yield from self._db.execute(sql)
            return
        for chunk in chunks:
            yield from self._db.execute(f"{sql} AND id = ?", (chunk,))

    # -- reading ---------------------------------------------------------------------------------

    def frequency(self, term: str) -> int:
        """Return the number of chunks that contain a word."""
        row = self._db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
        return 0 if row is None else int(row[0])

    def best(
        self, terms: str, limit: int, folder: str = "", without: Exclusion = NO_EXCLUSION
    ) -> list[tuple[int, float]]:
        """Return the best `limit` chunks for a query in the syntax of FTS5, each with its score.

        The best by BM25 come first; of equal chunks the older comes first.
        """
        tables, conditions, values = "words", "words MATCH ?", [terms]
        if folder or without.uris:
            tables += " JOIN chunks ON chunks.id = words.rowid JOIN files ON files.id = chunks.file"
        if folder:
            prefix = folder.rstrip("/") + "/"
            conditions += f" AND substr(files.name, 1, {len(prefix)}) = ?"
            values.append(prefix)
        for column, left_out in (
            ("files.uri", without.uris),
            ("head || char(10) || body", without.texts),
        ):
            if left_out:
                conditions += f" AND {column} NOT IN ({_marks(len(left_out))})"
                values += left_out
        sql = (
            f"SELECT words.rowid, -bm25(words, {_WEIGHTS}) AS score FROM {tables}"  # noqa: S608
            f" WHERE {conditions} ORDER BY score DESC, words.rowid LIMIT {limit}"
        )
        return self._db.execute(sql, values).fetchall()

    def _ids(self, sql: str, *values: object) -> list[int]:
        """Return the ids that a query with these values selects."""
        return [each for (each,) in self._db.execute(sql, values)]

    def chunks_with(self, term: str) -> list[int]:
        """Return the chunks that contain a word, in order."""
        return self._ids("SELECT rowid FROM words WHERE words MATCH ?", f'"{term}"')

    def chunks_with_text(self, text: str) -> list[int]:
        """Return the chunks whose `ChunkRow.text` equals `text`, found by its longest words."""
        rare_words = sorted(dict.fromkeys(text.split()), key=len, reverse=True)[:_RARE_WORDS]
        if not rare_words:
            return []
        terms = " AND ".join(f'"{word}"' for word in rare_words)
        sql = "SELECT rowid FROM words WHERE words MATCH ? AND head || char(10) || body = ?"
        return self._ids(sql, terms, text)

    def files_named(self, term: str) -> list[int]:
        """Return the files whose path contains a word, each as its first chunk."""
        return self._ids("SELECT rowid FROM names WHERE names MATCH ?", f'"{term}"')

    def spans(self) -> list[tuple[int, int]]:
        """Return the first chunk and the number of chunks of every file with chunks, in order.

        The chunks of a file are consecutive.
        """
        sql = "SELECT min(id) AS first, count(*) FROM chunks GROUP BY file ORDER BY first"
        return self._db.execute(sql).fetchall()

    def chunks_of(self, uris: Collection[str]) -> list[int]:
        """Return all chunks of some files."""
        sql = (
            "SELECT chunks.id FROM files JOIN chunks ON chunks.file = files.id"  # noqa: S608
            f" WHERE uri IN ({_marks(len(uris))})"
        )
        return self._ids(sql, *uris)

    def chunks_below(self, folder: str) -> list[int]:
        """Return all chunks of files below a folder, given by its displayed name."""
        prefix = folder.rstrip("/") + "/"
        sql = (
            "SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file"
            " WHERE substr(files.name, 1, ?) = ?"
        )
        return self._ids(sql, len(prefix), prefix)

    def rows(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return the existing chunks among `ids`, by id."""
        sql = (
            "SELECT chunks.id, uri, files.name, first, end, chunks.name, scope, is_definition,"
            " c0, c1, c2, c3 FROM chunks JOIN files ON files.id = chunks.file"
            " JOIN words_content ON words_content.id = chunks.id WHERE chunks.id IN "
        )
        found = self._db.execute(f"{sql}({_marks(len(ids))})", ids)
        return {row[0]: ChunkRow(*row) for row in found}


def _marks(n: int) -> str:
    return ",".join("?" * n)
