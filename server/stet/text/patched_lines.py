"""Lines of a very long text of which some are replaced by others, without a copy of the rest."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import overload

_AT_ONCE = 10_000
"""Lines that are read together."""


class PatchedLines(Sequence[str]):
    """`lines` with some of them replaced; it never changes, as `lines` must not."""

    def __init__(
        self, lines: Sequence[str], replaced: Sequence[tuple[int, int, Sequence[str]]]
    ) -> None:
        """Hold lines and what stands in the place of some of them.

        Args:
            lines: All of them.
            replaced: The first line (0-based) of each replaced stretch, the one after its last, and what
                stands there instead; in order of place, not overlapping.
        """
        self._starts: list[int] = []
        self._pieces: list[tuple[Sequence[str], int]] = []
        """From each start on, the lines of a sequence from a number on."""
        self._n = 0
        done = 0
        for first, end, others in replaced:
            self._add(lines, done, first)
            self._add(others, 0, len(others))
            done = end
        self._add(lines, done, len(lines))

    def _add(self, source: Sequence[str], first: int, end: int) -> None:
        if first < end:
            self._starts.append(self._n)
            self._pieces.append((source, first))
            self._n += end - first

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
        nth = bisect_right(self._starts, first) - 1
        while first < end:
            at, (source, start) = self._starts[nth], self._pieces[nth]
            stop = min(end, self._starts[nth + 1] if nth + 1 < len(self._starts) else self._n)
            found += source[start + first - at : start + stop - at]
            first, nth = stop, nth + 1
        return tuple(found)
