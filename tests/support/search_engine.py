"""A search engine over a few files, with an embedding that counts letters."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from stet.search.chunk import FileStamp, IndexEntry, SourceFile
from stet.search.embedding import LocalEmbedder
from stet.search.index_store import IndexStore
from stet.search.search_engine import ChunkHit, SearchEngine, digest, make_entry

Matrix = np.ndarray[Any, Any]


class Letters(LocalEmbedder):
    """An embedding that counts how often each letter occurs."""

    name = "letters"

    def __init__(self) -> None:
        """Create the embedding without weights."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one row of length 1 for each text."""
        counts = np.array(
            [[text.count(chr(97 + letter)) for letter in range(26)] for text in texts],
            dtype=np.float32,
        )
        unit: Matrix = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        return unit

    def forget_words(self) -> None:
        """Do nothing: no words are cached."""


def entry(name: str, text: str) -> IndexEntry:
    """Make the index entry of a file."""
    return make_entry(
        SourceFile(f"file:///{name}", name, text, FileStamp(None, len(text), digest(text)))
    )


def engine_of(files: dict[str, str]) -> SearchEngine:
    """Make an engine with these texts by name, and all their embeddings."""
    engine = SearchEngine(IndexStore(":memory:"), Letters())
    engine.add(entry(name, text) for name, text in files.items())
    while engine.embed():
        pass
    return engine


def files_of(hits: Sequence[ChunkHit]) -> list[str]:
    """Return the names of the files found, best first."""
    return [hit.file for hit in hits]
