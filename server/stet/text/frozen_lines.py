"""The lines of a text as they were at one moment, without a copy of them.

A very long text has millions of lines: to copy the list alone would hold up the event loop. So the live
list is read, and what is changed in it is noted: a reader is led past the changes to what stood there.
"""

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

_AT_ONCE = 10_000
"""Lines that are read together; whoever changes the text waits as long."""


class FrozenLines(Sequence[str]):
    """The lines that a list had when this was made; any thread may read them.

    Whoever changes the list holds `lock` and tells `before_replace` of it.
    """

    def __init__(self, lines: list[str], lock: threading.Lock) -> None:
        """Freeze `lines`; `lock` guards it and is one for all that is frozen of it."""
        self._live = lines
        self._lock = lock
        self._n = len(lines)
        self._starts = [0]
        self._pieces: list[tuple[int, Sequence[str] | None]] = [(0, None)]
        """What stands from each start on: lines that are no longer in the list, or (None) those of the
        list from the number on."""

    def before_replace(self, start: int, taken: Sequence[str], n_made: int) -> None:
        """Lines of the list are about to be replaced; called with the lock held.

        Args:
            start: The first of them, 0-based.
            taken: They themselves.
            n_made: How many lines come in their place.
        """
        end, shift = start + len(taken), n_made - len(taken)
        starts: list[int] = []
        pieces: list[tuple[int, Sequence[str] | None]] = []

        def put(at: int, piece: tuple[int, Sequence[str] | None]) -> None:
            starts.append(at)
            pieces.append(piece)

        for nth, (at, (first, held)) in enumerate(zip(self._starts, self._pieces, strict=True)):
            after = self._starts[nth + 1] if nth + 1 < len(self._starts) else self._n
            last = first + after - at
            if held is not None or last <= start:
                put(at, (first, held))
            elif first >= end:
                put(at, (first + shift, None))
            else:
                if first < start:
                    put(at, (first, None))
                low, high = max(first, start), min(last, end)
                if low < high:
                    put(at + low - first, (0, tuple(taken[low - start : high - start])))
                if high < last:
                    put(at + max(high, low) - first, (max(high, low) + shift, None))
        self._starts, self._pieces = starts, pieces

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            first, end, step = index.indices(self._n)
            if step != 1:
                return tuple(self[nth] for nth in range(first, end, step))
            return self._between(first, end)
        nth = index + self._n if index < 0 else index
        if not 0 <= nth < self._n:
            raise IndexError(index)
        [line] = self._between(nth, nth + 1)
        return line

    def __iter__(self) -> Iterator[str]:
        for first in range(0, self._n, _AT_ONCE):
            yield from self._between(first, min(first + _AT_ONCE, self._n))

    def _between(self, first: int, end: int) -> tuple[str, ...]:
        found: list[str] = []
        with self._lock:
            nth = bisect_right(self._starts, first) - 1
            while first < end:
                at, (start, held) = self._starts[nth], self._pieces[nth]
                after = self._starts[nth + 1] if nth + 1 < len(self._starts) else self._n
                stop = min(end, after)
                source = self._live if held is None else held
                found += source[start + first - at : start + stop - at]
                first, nth = stop, nth + 1
        return tuple(found)
