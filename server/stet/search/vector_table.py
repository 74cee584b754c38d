"""The vectors of all chunks, in memory, and the nearest to one of them.

Exact search over all: a product with the first 64 dimensions, which hold most of the meaning (the
embedding is trained to be cut, see Kusupati et al., "Matryoshka Representation Learning", 2022),
chooses a few thousand, and those are compared in full. Vectors have unit length; in full they are
kept as bytes.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

ROUGH = 64
"""Dimensions of the first product."""
N_ROUGH = 1000
"""How many are compared in full."""
PUT_TOGETHER = 4096
"""Vectors that are taken in at a time."""
_SCALE = 127.0
_SAMPLED = 16
"""A sample of one in so many products shows which products may be among the largest."""


def pack_vector(vector: "np.ndarray[Any, Any]") -> bytes:
    """Return a vector of any length other than 0 in its stored form: one byte for each dimension."""
    import numpy as np

    biggest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_SCALE / biggest)).astype(np.int8).tobytes()


def unpack_vector(numbers: Sequence[float]) -> "np.ndarray[Any, Any]":
    """Return the vector that was received as numbers."""
    import numpy as np

    return np.array(numbers, dtype=np.float32)


class VectorTable:
    """Owned by the engine."""

    def __init__(self) -> None:
        """Create an empty table; the first vector sets the length of all."""
        self._n_dimensions = 0
        self._ids: list[int] = []
        self._places: dict[int, int] = {}
        self._full: Any = None
        self._rough: Any = None

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def chunks(self) -> Sequence[int]:
        """All that have a vector."""
        return self._ids

    def add(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Take in the vectors of chunks, as `pack_vector` made them; one of another length is left out."""
        left = iter(vectors)
        while some := list(islice(left, PUT_TOGETHER)):
            if self._n_dimensions == 0:
                self._n_dimensions = len(some[0][1])
            self._add([each for each in some if len(each[1]) == self._n_dimensions])

    def _add(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        import numpy as np

        if not vectors:
            return
        places = []
        for chunk, _ in vectors:
            place = self._places.setdefault(chunk, len(self._ids))
            if place == len(self._ids):
                self._ids.append(chunk)
            places.append(place)
        self._make_room(len(self._ids) - 1)
        data = b"".join([each for _, each in vectors])
        full = np.frombuffer(data, dtype=np.int8).reshape(len(vectors), self._n_dimensions)
        rough = full[:, :ROUGH].astype(np.float32)
        lengths = np.linalg.norm(rough, axis=1, keepdims=True)
        self._full[places] = full
        self._rough[places] = rough / np.where(lengths == 0, 1, lengths)

    def _make_room(self, place: int) -> None:
        import numpy as np

        if self._full is not None and place < len(self._full):
            return
        n_rows = max(1024, place * 3 // 2)
        full = np.zeros((n_rows, self._n_dimensions), dtype=np.int8)
        rough = np.zeros((n_rows, min(ROUGH, self._n_dimensions)), dtype=np.float32)
        if self._full is not None:
            n_before = len(self._full)
            full[:n_before], rough[:n_before] = self._full, self._rough
        self._full, self._rough = full, rough

    def drop(self, chunks: Iterable[int]) -> None:
        """Forget chunks; the last one takes the place of each."""
        for chunk in chunks:
            place = self._places.pop(chunk, None)
            if place is None:
                continue
            last = self._ids.pop()
            if last != chunk:
                self._ids[place] = last
                self._places[last] = place
                self._full[place] = self._full[len(self._ids)]
                self._rough[place] = self._rough[len(self._ids)]

    def nearest(
        self, vector: "np.ndarray[Any, Any]", limit: int, only: Iterable[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the chunks nearest to `vector`, each with its cosine.

        Consider only the chunks in `only` if given. Of equally near chunks the one added first
        comes first, as long as no chunk was removed.
        """
        import numpy as np

        if len(vector) != self._n_dimensions or not self._ids:
            return []
        n_used = len(self._ids)
        places = None
        if only is not None:
            known = (self._places.get(chunk) for chunk in only)
            places = np.array([each for each in known if each is not None], dtype=np.int64)
        if (n_used if places is None else len(places)) > N_ROUGH:
            rough = self._rough[:n_used] @ vector[:ROUGH].astype(np.float32)
            rough = rough if places is None else rough[places]
            best = _largest(rough, N_ROUGH)
            places = best if places is None else places[best]
        elif places is None:
            places = np.arange(n_used)
        found = self._cosines(places, vector)
        order = np.argsort(-found, kind="stable")[:limit]
        return [(self._ids[int(places[at])], float(found[at])) for at in order]

    def cosines(self, chunks: Sequence[int], vector: "np.ndarray[Any, Any]") -> dict[int, float]:
        """Return how near chunks are to `vector`; those without a vector are left out."""
        import numpy as np

        known = [chunk for chunk in chunks if chunk in self._places]
        if not known or len(vector) != self._n_dimensions:
            return {}
        places = np.array([self._places[chunk] for chunk in known])
        return dict(zip(known, map(float, self._cosines(places, vector)), strict=True))

    def spread(self, vector: "np.ndarray[Any, Any]") -> float:
        """Return how far apart the cosines of the chunks to `vector` are, from 0 to 2.

        The nearest chunk is compared with the chunk that only a twentieth are farther than, in an
        even sample; 0 if there are no chunks or `vector` has another length.
        """
        import numpy as np

        if len(vector) != self._n_dimensions or not self._ids:
            return 0.0
        places = np.arange(0, len(self._ids), 1 + len(self._ids) // N_ROUGH)
        cosines = np.sort(self._cosines(places, vector))
        return float(cosines[-1] - cosines[len(cosines) // 20])

    def _cosines(self, places: Any, vector: "np.ndarray[Any, Any]") -> Any:
        import numpy as np

        full = self._full[places].astype(np.float32)
        lengths = np.linalg.norm(full, axis=1) * (np.linalg.norm(vector) or 1.0)
        return (full @ vector.astype(np.float32)) / np.maximum(lengths, 1e-9)


def _largest(values: "np.ndarray[Any, Any]", n: int) -> "np.ndarray[Any, Any]":
    """Return the indexes of the `n` largest values, in ascending order. There must be more than `n`
    values.

    Nearly all values are too small, as a sample tells: those are not sorted at all.
    """
    import numpy as np

    sample = values[::_SAMPLED]
    rank = 2 * n // _SAMPLED
    if rank < len(sample):
        # Twice as many as wanted are expected above this; where there are too few, all are looked at.
        places = np.flatnonzero(values >= np.partition(sample, -rank)[-rank])
        if len(places) >= n:
            return np.sort(places[np.argpartition(values[places], -n)[-n:]])
    return np.sort(np.argpartition(values, -n)[-n:])
