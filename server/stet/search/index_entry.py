"""What goes into the index and what comes out of it, as values."""

from collections.abc import Sequence
from typing import NamedTuple

from stet.outline.definition import Definition
from stet.search.chunk import Chunk
from stet.search.chunk_fields import ChunkFields


class FileStamp(NamedTuple):
    """What tells that a file has changed.

    Attributes:
        mtime: When it was written, in seconds; None for unsaved text.
        size: In bytes, or in code points for unsaved text.
        hash: Of its text.
    """

    mtime: float | None
    size: int
    hash: bytes


class SourceFile(NamedTuple):
    """A file as it was read; named as in `OutlineEntry`."""

    uri: str
    name: str
    text: str
    stamp: FileStamp
    outline: Sequence[Definition] | None = None
    """What a grammar has found in it; None where none was asked."""
    is_sent: bool = False
    """Whether what is embedded of it goes to an endpoint, and so without its secrets."""


class IndexEntry(NamedTuple):
    """A file to be put into the index."""

    uri: str
    name: str
    stamp: FileStamp
    chunks: Sequence[Chunk]
    fields: Sequence[ChunkFields]
    meant: Sequence[bytes]
    """The hash of what is embedded of each chunk."""


class ChunkRow(NamedTuple):
    """A chunk as the index holds it; see `Chunk` and `ChunkFields`."""

    id: int
    uri: str
    file: str
    first: int
    end: int
    title: str
    scope: str
    is_definition: int
    path: str
    name: str
    head: str
    body: str

    @property
    def text(self) -> str:
        """What it says, wherever it lies."""
        return f"{self.head}\n{self.body}"


class Exclusion(NamedTuple):
    """What a ranking leaves out.

    Attributes:
        uris: Files.
        texts: Passages that say this, as `ChunkRow.text` has it.
    """

    uris: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


NO_EXCLUSION = Exclusion()
