"""Places in whole lines, as values: where an anchor stands, and what stands round it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stet.text.lines import without_end
from stet.text.position import Position, Range

MIN_ALPHANUMERIC = 6
"""How many letters and digits tell lines from others: what a program ends a block with has fewer."""


class LineSpan(NamedTuple):
    """A place in lines, and whether it is only where the place was lost."""

    first: int
    end: int
    is_lost: bool

    def clamped(self, n_lines: int) -> "LineSpan":
        """Return the span clamped to a text of `n_lines` lines."""
        if self.end <= n_lines:
            return self
        return self._replace(first=min(self.first, n_lines), end=n_lines)


class ChangeRecord(NamedTuple):
    """A change that reached into the place, or met its edge where that tells nothing by itself, so that
    its inverse brings it back as it was.

    Attributes:
        before: The place before it, in lines from where the change began.
        current: What stood there, by its `text_hash`: a place may hold a whole file, and many of its
            changes are remembered.
        removed: How many lines the change took.
        added: How many it put there.
        offset_after: How far behind the beginning of the change the anchor stood after it.
        around: The lines round the place before it, each by its `text_hash` without its line end,
            where they tell whether its inverse has come.
        as_sent: `offset_after` and `before` by the edit that was sent, where the editor reported the change at
            another of several lines that read alike; Stet itself takes back what it sent.
        redo_records: What had been taken back where its inverse leads to, so that it may be done again there.
    """

    before: LineSpan
    current: int
    removed: int
    added: int
    offset_after: int
    around: tuple[int, int] | None
    as_sent: tuple[int, LineSpan] | None = None
    redo_records: "tuple[ChangeRecord, ...]" = ()

    def shifted(self, n_lines: int) -> "ChangeRecord":
        """Return the record for a place that was found `n_lines` lines lower after the change."""
        other = self.as_sent
        sent = None if other is None else (other[0] + n_lines, other[1])
        return self._replace(offset_after=self.offset_after + n_lines, as_sent=sent)

    def is_undone_at(self, lines: Sequence[str], first: int, end: int) -> bool:
        """Whether the lines that are back round these are those that were taken from there."""
        if self.around is None:
            return True
        was, now = self.around, edge_hashes(lines_around(lines, first, end))
        took_before = 0 < self.before.first <= self.removed
        took_after = 0 <= self.before.end < self.removed
        return not (took_before and now[0] != was[0]) and not (took_after and now[1] != was[1])


def text_hash(text: str) -> int:
    """Return a number that distinguishes a text from all others that could be in its place."""
    return hash(text)


def edge_hashes(around: tuple[str, str]) -> tuple[int, int]:
    """Those of the lines round a place, whose line ends may come and go."""
    before, after = without_ends(around)
    return text_hash(before), text_hash(after)


def push_redo(
    redo_records: tuple[ChangeRecord, ...], record: ChangeRecord, most: int
) -> tuple[ChangeRecord, ...]:
    """Return what can be redone in a place, now that `record` has been undone too.

    Args:
        redo_records: What had been taken back there before.
        record: The last change that was.
        most: How many there may be, with all that can be done again behind them; the oldest go first.
    """
    room = most - _n_records((record,))
    if room < 0:
        return (record._replace(redo_records=()),)
    alone = record._replace(redo_records=())
    remaining = [
        redo_record
        for redo_record in redo_records
        if redo_record._replace(redo_records=()) != alone
    ]
    while remaining and _n_records(remaining) > room:
        del remaining[0]
    return (*remaining, record)


def _n_records(records: Sequence[ChangeRecord]) -> int:
    return sum(1 + _n_records(record.redo_records) for record in records)


def redo_sequence(redo_records: tuple[ChangeRecord, ...]) -> tuple[ChangeRecord, ...]:
    """Return the changes that were undone one after the other, the last undone change last."""
    done: list[ChangeRecord] = []
    while redo_records:
        done.append(redo_records[-1])
        redo_records = redo_records[-1].redo_records
    return tuple(reversed(done))


def range_of(lines: Sequence[str], first: int, end: int) -> Range:
    """Whole lines as a range in code points; behind the last line is the end of the text."""
    return Range(_start_of(lines, first), _start_of(lines, end))


def _start_of(lines: Sequence[str], line: int) -> Position:
    if line < len(lines):
        return Position(line, 0)
    return Position(len(lines) - 1, len(lines[-1]))


def last_gap(lines: Sequence[str]) -> int:
    """Where an insertion that comes last stands: before a last line that holds nothing."""
    return len(lines) if lines[-1] else len(lines) - 1


def lines_around(lines: Sequence[str], first: int, end: int) -> tuple[str, str]:
    """Return the lines before and after a place; `""` at the ends of the text."""
    return lines[first - 1] if first else "", lines[end] if end < len(lines) else ""


def without_ends(around: tuple[str, str]) -> tuple[str, str]:
    """Return the lines around a place without line ends, which may come and go."""
    return without_end(around[0]), without_end(around[1])


def is_distinctive(lines: Iterable[str]) -> bool:
    """Whether lines can be told from others like them, as they hold letters and digits enough."""
    return sum(sum(map(str.isalnum, line)) for line in lines) >= MIN_ALPHANUMERIC


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two places, in lines, can't both be decided alone: they share a line, or are one gap."""
    if one[0] == one[1] and other[0] == other[1]:
        return one == other
    return one[0] < other[1] and other[0] < one[1]
