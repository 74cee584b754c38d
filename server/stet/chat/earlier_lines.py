"""The lines of a text before its latest changes, without a copy of the text.

The text before a change differs from the text after it in a few lines. So it is kept as pieces: ranges
of the current lines, and the lines that were there before. The cost depends on the number of changes,
not on the length of the text. Line numbers are 0-based.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class ChangedLines(NamedTuple):
    """A range of lines that differ from those of an earlier text.

    Attributes:
        first: The first line, in the current text.
        end: The line after the last one, in the current text.
        earlier_first: The first line, in the earlier text.
        earlier_end: The line after the last one, in the earlier text.
    """

    first: int
    end: int
    earlier_first: int
    earlier_end: int


class EarlierLines:
    """The lines of a text from which changes are taken back, the latest change first.

    The text must not change while this is in use.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Start with the current text.

        Args:
            lines: Its lines. They are not copied.
        """
        self._lines = lines
        self._pieces: list[tuple[Sequence[str], int, int]] = [(lines, 0, len(lines))]

    def replace(self, first: int, end: int, lines: Sequence[str]) -> None:
        """Replace the lines from `first` to before `end` with `lines`, which are not copied."""
        start, stop = self._split(first), self._split(end)
        self._pieces[start:stop] = [(lines, 0, len(lines))]

    def between(self, first: int, end: int) -> list[str]:
        """Return the lines from `first` to before `end`."""
        start, stop = self._split(first), self._split(end)
        return [line for lines, low, high in self._pieces[start:stop] for line in lines[low:high]]

    def around(self, first: int, end: int, size: int) -> tuple[str, str]:
        """Return the text before line `first` and the text from line `end` on.

        Args:
            first: The line after the first text.
            end: The first line of the second text.
            size: The most characters (code points) of each; fewer are returned only where the text
                begins or ends.
        """
        start, stop = self._split(first), self._split(end)
        above = (
            lines[line]
            for lines, low, high in reversed(self._pieces[:start])
            for line in range(high - 1, low - 1, -1)
        )
        below = (
            lines[line] for lines, low, high in self._pieces[stop:] for line in range(low, high)
        )
        head = "".join(reversed(_take(size, above)))
        return head[max(len(head) - size, 0) :], "".join(_take(size, below))[:size]

    def changed(self, max_gap: int) -> Sequence[ChangedLines]:
        """Return the ranges of lines that were replaced, in order.

        Args:
            max_gap: The most unchanged lines between two changes that become one range.
        """
        first = earlier_first = earlier = 0
        ranges: list[ChangedLines] = []
        for lines, low, high in self._pieces:
            if lines is self._lines:
                is_after_change = (low, earlier) != (first, earlier_first)
                is_gap = high - low > max_gap
                if is_after_change and is_gap:
                    ranges.append(ChangedLines(first, low, earlier_first, earlier))
                if not is_after_change or is_gap:
                    first, earlier_first = high, earlier + high - low
            earlier += high - low
        if (len(self._lines), earlier) != (first, earlier_first):
            ranges.append(ChangedLines(first, len(self._lines), earlier_first, earlier))
        return ranges

    def _split(self, line: int) -> int:
        """Make a piece begin at `line`, and return its index; the number of pieces at the end."""
        for index, (lines, low, high) in enumerate(self._pieces):
            if line <= 0:
                return index
            if line < high - low:
                middle = low + line
                self._pieces[index : index + 1] = [(lines, low, middle), (lines, middle, high)]
                return index + 1
            line -= high - low
        return len(self._pieces)


def _take(size: int, lines: Iterable[str]) -> list[str]:
    """Return the first lines of `lines` that have at least `size` characters together, or all."""
    taken: list[str] = []
    for line in lines:
        if size <= 0:
            break
        taken.append(line)
        size -= len(line)
    return taken
