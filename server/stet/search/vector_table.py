"""The vectors of all chunks, in memory, and the search for the nearest vectors.

The search compares all vectors: a product with the first 64 dimensions, which have most of the
meaning (the embedding is trained to be truncated, see Kusupati et al., "Matryoshka Representation
Learning", 2022), selects the `N_ROUGH` best, and these are compared in all dimensions. Full vectors
are stored with one byte per dimension.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

ROUGH = 64
"""The number of dimensions of the first product."""
N_ROUGH = 1000
"""The number of vectors that are compared in all dimensions."""
PUT_TOGETHER = 4096
"""The number of vectors that are added at a time."""
_SCALE = 127.0
_SAMPLED = 16
"""A sample of one in this many products gives a lower bound of the largest products."""


def pack_vector(vector: "np.ndarray[Any, Any]") -> bytes:
    """Return a vector, which need not have unit length, with one byte for each dimension."""
    import numpy as np

    biggest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_SCALE / biggest)).astype(np.int8).tobytes()


def unpack_vector(numbers: Sequence[float]) -> "np.ndarray[Any, Any]":
    """Return the vector with these numbers."""
    import numpy as np

    return np.array(numbers, dtype=np.float32)


class VectorTable:
    """The vectors of all chunks; owned by the engine."""

    def __init__(self) -> None:
        """Create an empty table; the first vector determines the number of dimensions."""
        self._n_dimensions = 0
        self._ids: list[int] = []
        self._places: dict[int, int] = {}
        self._full: Any = None
        self._rough: Any = None

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def chunks(self) -> Sequence[int]:
        """The chunks that have a vector."""
        return self._ids

    def add(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Add packed vectors of chunks; vectors with another number of dimensions are left out."""
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
        """Remove chunks; the last chunk moves to the place of a removed one."""
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
        """Return the cosines of chunks to `vector`; chunks without a vector are left out."""
        import numpy as np

        known = [chunk for chunk in chunks if chunk in self._places]
        if not known or len(vector) != self._n_dimensions:
            return {}
        places = np.array([self._places[chunk] for chunk in known])
        return dict(zip(known, map(float, self._cosines(places, vector)), strict=True))

    def spread(self, vector: "np.ndarray[Any, Any]") -> float:
        """Return the spread of the chunks' cosines to `vector`, from 0 to 2.

        This is the difference of the maximum and the 5th percentile in an even sample; 0 if there
        are no chunks or `vector` has another number of dimensions.
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
    """Return the indexes of the `n` largest of more than `n` values, in ascending order.

    A sample gives a lower bound; the values below, which are nearly all, are not partitioned.
    """
    import numpy as np

    sample = values[::_SAMPLED]
    rank = 2 * n // _SAMPLED
    if rank < len(sample):
        # About `2 * n` values are expected above the bound; below `n`, all values are examined.
        places = np.flatnonzero(values >= np.partition(sample, -rank)[-rank])
        if len(places) >= n:
            return np.sort(places[np.argpartition(values[places], -n)[-n:]])
    return np.sort(np.argpartition(values, -n)[-n:])
