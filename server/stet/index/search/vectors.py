"""The vectors of all chunks, in memory, and the nearest to one of them.

Exact search over all: a product with the first 64 dimensions, which hold most of the meaning (the
embedding is trained to be cut, see Kusupati et al., "Matryoshka Representation Learning", 2022),
chooses a few thousand, and those are compared in full. Vectors have unit length; in full they are
kept as bytes.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

ROUGH = 64
"""Dimensions of the first product."""
N_ROUGH = 1000
"""How many are compared in full."""
_SCALE = 127.0


def packed(vector: "np.ndarray[Any, Any]") -> bytes:
    """A vector of any length other than 0 as it is kept: a byte for each dimension."""
    import numpy as np

    biggest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (_SCALE / biggest)).astype(np.int8).tobytes()


def unpacked(numbers: Sequence[float]) -> "np.ndarray[Any, Any]":
    """A vector that came as numbers."""
    import numpy as np

    return np.array(numbers, dtype=np.float32)


class Vectors:
    """Owned by the engine."""

    def __init__(self) -> None:
        """There are none yet; their length is that of the first one."""
        self._n_dimensions = 0
        self._ids: list[int] = []
        self._places: dict[int, int] = {}
        self._full: Any = None
        self._rough: Any = None

    def __len__(self) -> int:
        return len(self._ids)

    def put(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Take in the vectors of chunks, as `packed` made them; one of another length is left out."""
        import numpy as np

        for chunk, data in vectors:
            full = np.frombuffer(data, dtype=np.int8)
            if self._n_dimensions == 0:
                self._n_dimensions = len(full)
            if len(full) != self._n_dimensions:
                continue
            place = self._places.get(chunk)
            if place is None:
                place = self._places[chunk] = len(self._ids)
                self._ids.append(chunk)
                self._make_room(place)
            self._full[place] = full
            rough = full[:ROUGH].astype(np.float32)
            self._rough[place] = rough / (np.linalg.norm(rough) or 1.0)

    def _make_room(self, place: int) -> None:
        import numpy as np

        if self._full is not None and place < len(self._full):
            return
        n_rows = max(1024, place * 3 // 2)
        full = np.zeros((n_rows, self._n_dimensions), dtype=np.int8)
        rough = np.zeros((n_rows, min(ROUGH, self._n_dimensions)), dtype=np.float32)
        if self._full is not None:
            full[:place], rough[:place] = self._full[:place], self._rough[:place]
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
        """The chunks nearest to `vector`, each with its cosine; of `only` where that is given."""
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
            best = np.argpartition(rough, -N_ROUGH)[-N_ROUGH:]
            places = best if places is None else places[best]
        elif places is None:
            places = np.arange(n_used)
        found = self._cosines(places, vector)
        order = np.argsort(-found, kind="stable")[:limit]
        return [(self._ids[int(places[at])], float(found[at])) for at in order]

    def cosines(self, chunks: Sequence[int], vector: "np.ndarray[Any, Any]") -> dict[int, float]:
        """How near chunks are to `vector`; those without a vector are left out."""
        import numpy as np

        known = [chunk for chunk in chunks if chunk in self._places]
        if not known or len(vector) != self._n_dimensions:
            return {}
        places = np.array([self._places[chunk] for chunk in known])
        return dict(zip(known, map(float, self._cosines(places, vector)), strict=True))

    def _cosines(self, places: Any, vector: "np.ndarray[Any, Any]") -> Any:
        import numpy as np

        full = self._full[places].astype(np.float32)
        lengths = np.linalg.norm(full, axis=1) * (np.linalg.norm(vector) or 1.0)
        return (full @ vector.astype(np.float32)) / np.maximum(lengths, 1e-9)
