"""The ranking of whole files: by their paths, and by the question's words anywhere in the files.

A description of a change names its subject: `png: Abort sooner`, a program, a folder. No passage of
the right file need contain the subject, and its words may be spread over many passages.
"""

import heapq
import math
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stet.search.index_store import IndexStore

MAX_FILES_RANKED = 20
"""The most files that the ranking proposes, each with its best passage."""


class FileRank(NamedTuple):
    """The rank of a file.

    Attributes:
        place: Its place, from 1; None if the file is not among the best.
        named: How much of the question its path contains, relative to the best path.
        cover: The share of the question that is in its path or its text.
        subject: The share of the question's subject that is in its path.
        n_chunks: The number of its chunks.
    """

    place: int | None = None
    named: float = 0.0
    cover: float = 0.0
    subject: float = 0.0
    n_chunks: int = 0


class ChunkSpans:
    """The chunks of each file, which are consecutive; a file is identified by its first chunk.

    Attributes:
        file_of: The file of each chunk; the value for a removed chunk is undefined.
    """

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        """Create the table from the result of `IndexStore.spans`."""
        self.file_of = array("L")
        self._sizes: dict[int, int] = {}
        for first, size in spans:
            self.add(range(first, first + size))

    def __len__(self) -> int:
        return len(self._sizes)

    def drop(self, chunks: Iterable[int]) -> None:
        """Remove all chunks of some files."""
        for chunk in chunks:
            self._sizes.pop(chunk, None)

    def add(self, chunks: Sequence[int]) -> None:
        """Add the chunks of a new file. Their numbers are higher than those of all other chunks."""
        if chunks:
            n_between = chunks[0] - len(self.file_of)
            self.file_of.extend([0] * n_between + [chunks[0]] * len(chunks))
            self._sizes[chunks[0]] = len(chunks)

    def chunks_of(self, file: int) -> range:
        """Return all chunks of a file."""
        return range(file, file + self._sizes[file])


@dataclass(slots=True)
class FileRanker:
    """The ranking of files for one question.

    Attributes:
        spans: The chunks of all files.
        named: By file, the summed rarity of the question's words in the path.
        covered: By file, the share of the question that is in the path or the text.
        subject: By file, the share of the question's subject that is in the path.
        chunks: For each searched word, its rarity and the chunks that contain it.
    """

    spans: ChunkSpans
    named: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    covered: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    subject: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    chunks: list[tuple[float, Sequence[int]]] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)
    _most: float = 1.0

    @classmethod
    def of(
        cls,
        store: IndexStore,
        spans: ChunkSpans,
        rarity: Mapping[str, float],
        looked_for: Collection[str],
        subject: Collection[str],
    ) -> "FileRanker":
        """Return the ranker of a question.

        Args:
            store: The index.
            spans: The chunks of all files in the index.
            rarity: The rarity of each word of the question.
            looked_for: The words that are searched for in texts as well, which takes time.
            subject: The words of the question's subject.
        """
        self = cls(spans)
        total = sum(rarity.values()) or 1.0
        about = 0.0
        for term in {**dict.fromkeys(rarity), **dict.fromkeys(subject)}:
            files = store.files_named(term)
            weight = math.log(1 + (len(spans) - len(files) + 0.5) / (len(files) + 0.5))
            if term in subject:
                about += weight
                _add(self.subject, files, weight)
            if term in rarity:
                _add(self.named, files, weight)
                found = set(files)
                if term in looked_for:
                    chunks = store.chunks_with(term)
                    self.chunks.append((rarity[term], chunks))
                    found.update(map(spans.file_of.__getitem__, chunks))
                _add(self.covered, found, rarity[term] / total)
        for file in self.subject:
            self.subject[file] /= about
        self._most = max(self.named.values(), default=1.0)
        return self

    def best(self, only: Collection[int] | None = None) -> list[int]:
        """Return the best chunk of each of the best files; only chunks in `only`, if given."""
        files = self.covered.keys() | self.subject.keys()
        files = files if only is None else files.intersection(only)
        covered, named, subject = self.covered.get, self.named.get, self.subject.get
        most = self._most
        values = [
            (covered(file, 0.0) + named(file, 0.0) / most + subject(file, 0.0), -file)
            for file in files
        ]
        best = [-file for _, file in heapq.nlargest(MAX_FILES_RANKED, values)]
        self._places = {file: place for place, file in enumerate(best, 1)}
        near = {chunk for file in best for chunk in self.spans.chunks_of(file)}
        weights: defaultdict[int, float] = defaultdict(float)
        for weight, chunks in self.chunks:
            _add(weights, near.intersection(chunks), weight)
        weight_of = weights.get
        return [
            max(self.spans.chunks_of(file), key=lambda chunk: (weight_of(chunk, 0.0), -chunk))
            for file in best
        ]

    def rank(self, chunk: int) -> FileRank:
        """Return the rank of the file of a chunk."""
        file = self.spans.file_of[chunk]
        return FileRank(
            self._places.get(file),
            self.named.get(file, 0.0) / self._most,
            self.covered.get(file, 0.0),
            self.subject.get(file, 0.0),
            len(self.spans.chunks_of(file)),
        )


def _add(values: defaultdict[int, float], keys: Iterable[int], value: float) -> None:
    for key in keys:
        values[key] += value
