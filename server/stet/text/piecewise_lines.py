"""A sequence of lines that are held in pieces and read in runs."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import overload

_AT_ONCE = 10_000
"""Lines that an iteration reads together; whoever changes a guarded text waits as long."""


class PiecewiseLines(Sequence[str]):
    """Lines whose subclass sets their number, `_n`, and reads a run of them."""

    _n: int

    @abstractmethod
    def _between(self, first: int, end: int) -> tuple[str, ...]:
        """Return the lines from `first` (0-based) to before `end`, both within the sequence."""

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
