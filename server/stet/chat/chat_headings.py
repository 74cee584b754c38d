"""The headings of a chat document, which move with the lines above them.

A change of the number of lines moves all headings below it. They are not renumbered one by one: all from
one heading on (the gap) have a common shift, which moves to where lines are added or removed. So what is
typed in one place costs the same with few headings and with many. Line numbers are 0-based.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

from stet.text.lines import without_end

_HEADING = re.compile(r"## (?:You|Stet \((?P<turn>[A-Za-z0-9]+)\))[ \t]*")


class ChatHeading(NamedTuple):
    """A heading of Stet's.

    Attributes:
        line: Its line.
        turn: Whose answer it is; empty for the user's words.
    """

    line: int
    turn: str


class ChatHeadings(Sequence[ChatHeading]):
    """The headings of one document, in order."""

    def __init__(self, headings: Iterable[ChatHeading]) -> None:
        """Start with `headings`, in order."""
        self._headings = list(headings)
        self._gap = len(self._headings)
        self._shift = 0
        """What is added to the lines of the headings from `_gap` on."""

    def __len__(self) -> int:
        return len(self._headings)

    @overload
    def __getitem__(self, index: int) -> ChatHeading: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ChatHeading, ...]: ...
    def __getitem__(self, index: int | slice) -> ChatHeading | tuple[ChatHeading, ...]:
        if isinstance(index, slice):
            return tuple(self[nth] for nth in range(*index.indices(len(self))))
        heading = self._headings[index]
        is_shifted = (index if index >= 0 else index + len(self)) >= self._gap
        return ChatHeading(heading.line + self._shift, heading.turn) if is_shifted else heading

    def __iter__(self) -> Iterator[ChatHeading]:
        return (self[nth] for nth in range(len(self)))

    def index_of_last(self, turn: str) -> int | None:
        """Return the index of the last heading of a turn; None if there is none."""
        for nth in range(len(self._headings) - 1, -1, -1):
            if self._headings[nth].turn == turn:
                return nth
        return None

    def replace_lines(self, first: int, before: Sequence[str], after: Sequence[str]) -> None:
        """Follow a change of the text.

        Args:
            first: The first line that was replaced.
            before: The replaced lines.
            after: The lines in their place.
        """
        found = list(find_headings(after, first))
        start, end = self._index_from(first), self._index_from(first + len(before))
        n_moved = len(after) - len(before)
        if not n_moved and not found and start == end:
            return
        self._move_gap(end)
        self._headings[start:end] = found
        self._gap = start + len(found)
        self._shift += n_moved

    def _index_from(self, line: int) -> int:
        """Return the index of the first heading at or after a line."""
        return bisect_left(range(len(self)), line, key=lambda nth: self[nth].line)

    def _move_gap(self, index: int) -> None:
        """Make the common shift begin at the heading `index`; no line changes."""
        low, high = sorted((index, self._gap))
        shift = self._shift if index > self._gap else -self._shift
        if shift:
            self._headings[low:high] = [
                ChatHeading(line + shift, turn) for line, turn in self._headings[low:high]
            ]
        self._gap = index


def find_headings(lines: Iterable[str], first: int = 0) -> Iterator[ChatHeading]:
    """Find the headings in lines, of which the first has the number `first`."""
    for number, line in enumerate(lines, first):
        if line.startswith("## ") and (match := _HEADING.fullmatch(without_end(line))):
            yield ChatHeading(number, match["turn"] or "")
