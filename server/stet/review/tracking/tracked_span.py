"""A range of whole lines that moves with every change of its document.

A change does not show to whom the lines belong that are inserted at the edge of an empty range, or
of a range in conflict. So a range records the changes that removed lines from it or from beside it:
the inverse of the last change, which the editor's undo sends, moves the range back.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from stet.text.edit import LineChange
from stet.text.lines import strip_ends, without_end
from stet.text.position import Position, Range

MIN_ALPHANUMERIC = 6
"""The letters and digits that make lines distinctive; closing lines of code have fewer."""
MANY_RECORDS, FEW_RECORDS = 64, 8
"""The most change records of a place: of a pending or recently decided hunk, and later."""
_MAX_CANDIDATES = 16
"""The most possible places of a span until its lines are read."""


class LineSpan(NamedTuple):
    """A range of whole lines, and whether it is only where the place was lost."""

    first: int
    end: int
    is_lost: bool

    def shifted(self, n_lines: int) -> "LineSpan":
        """Return the span moved down by `n_lines` lines, up if negative."""
        return LineSpan(self.first + n_lines, self.end + n_lines, self.is_lost)

    def clamped(self, n_lines: int) -> "LineSpan":
        """Return the span clamped to a text of `n_lines` lines."""
        return LineSpan(min(self.first, n_lines), min(self.end, n_lines), self.is_lost)


class ChangeRecord(NamedTuple):
    """A change in a place or at its edge, whose inverse restores the place.

    Attributes:
        span_before: The place before the change, in lines from the start of the change.
        current: The hash of the place's text as last read before the change.
        removed: The number of lines that the change removed.
        added: The number of lines that the change added.
        offset_after: The first line of the place after the change, relative to the change.
        around: The hashes of the line before and of the line after the place, without line
            ends, if these show whether the inverse has arrived.
        as_sent: `offset_after` and `span_before` for the edit that Stet sent, if the editor
            reported the edit at another of several lines that read alike.
        redo_records: The changes that had been undone before this change, which may be redone.
    """

    span_before: LineSpan
    current: int
    removed: int
    added: int
    offset_after: int
    around: tuple[int, int] | None
    as_sent: tuple[int, LineSpan] | None = None
    redo_records: "tuple[ChangeRecord, ...]" = ()

    def shifted(self, n_lines: int) -> "ChangeRecord":
        """Return the record for a place that was `n_lines` lines lower after the change."""
        other = self.as_sent
        sent = None if other is None else (other[0] + n_lines, other[1])
        return self._replace(offset_after=self.offset_after + n_lines, as_sent=sent)

    def is_inverted_by(self, change: LineChange, first: int) -> bool:
        """Return whether a change may be the inverse, for a place that begins at line `first`."""
        back = first - change.first
        is_as_long = change.removed == self.added and change.added == self.removed
        return is_as_long and (
            back == self.offset_after or (self.as_sent is not None and back == self.as_sent[0])
        )

    def is_undone_at(self, lines: Sequence[str], first: int, end: int) -> bool:
        """Return whether the lines around the place are the lines before the change."""
        if self.around is None:
            return True
        was, now = self.around, edge_hashes(lines_around(lines, first, end))
        is_before_removed = 0 < self.span_before.first <= self.removed
        is_after_removed = 0 <= self.span_before.end < self.removed
        return not (is_before_removed and now[0] != was[0]) and not (
            is_after_removed and now[1] != was[1]
        )


def edge_hashes(around: tuple[str, str]) -> tuple[int, int]:
    """Return the hashes of the lines around a place, without line ends, which may change."""
    return hash(without_end(around[0])), hash(without_end(around[1]))


def push_redo(
    redo_records: tuple[ChangeRecord, ...], record: ChangeRecord, most: int
) -> tuple[ChangeRecord, ...]:
    """Return the changes that can be redone after `record` has been undone too.

    Args:
        redo_records: The changes that were undone before.
        record: The change that was undone last.
        most: The maximum number of records, nested ones included; the oldest are dropped first.
    """
    room, alone = most - _n_records((record,)), record._replace(redo_records=())
    if room < 0:
        return (alone,)
    remaining = [one for one in redo_records if one._replace(redo_records=()) != alone]
    while _n_records(remaining) > room:
        del remaining[0]
    return (*remaining, record)


def _n_records(records: Sequence[ChangeRecord]) -> int:
    return sum(1 + _n_records(record.redo_records) for record in records)


def redo_sequence(redo_records: tuple[ChangeRecord, ...]) -> tuple[ChangeRecord, ...]:
    """Return the undone changes in order, the last undone change last."""
    done: list[ChangeRecord] = []
    while redo_records:
        done.append(redo_records[-1])
        redo_records = redo_records[-1].redo_records
    return tuple(reversed(done))


def range_of(lines: Sequence[str], first: int, end: int) -> Range:
    """Return whole lines as a range in code points; past the last line, the end of the text."""
    return Range(_start_of(lines, first), _start_of(lines, end))


def _start_of(lines: Sequence[str], line: int) -> Position:
    if line < len(lines):
        return Position(line, 0)
    return Position(len(lines) - 1, len(lines[-1]))


def last_gap(lines: Sequence[str]) -> int:
    """Return the line of an insertion at the end of the text, before an empty last line."""
    return len(lines) if lines[-1] else len(lines) - 1


def lines_around(lines: Sequence[str], first: int, end: int) -> tuple[str, str]:
    """Return the lines before and after a place; `""` at the ends of the text."""
    return lines[first - 1] if first else "", lines[end] if end < len(lines) else ""


def without_ends(around: tuple[str, str]) -> tuple[str, str]:
    """Return the lines around a place without line ends, which may change."""
    return without_end(around[0]), without_end(around[1])


def with_one_end(lines: Iterable[str]) -> list[str]:
    """Return lines that all end with LF, for comparisons."""
    return [f"{line}\n" for line in strip_ends(lines)]


def is_distinctive(lines: Iterable[str]) -> bool:
    """Return whether lines have enough letters and digits to be recognised."""
    totals = accumulate(sum(map(str.isalnum, line)) for line in lines)
    return any(total >= MIN_ALPHANUMERIC for total in totals)


@dataclass(slots=True, eq=False)
class TrackedSpan:
    """The lines of a hunk in its document: the base of `Anchor` that follows changes.

    Attributes:
        first: The first line, 0-based.
        end: The line after the last line; equal to `first` if the range is empty.
        current: The text of the lines as last read.
        merged: The text to write, merged with the user's changes; None if there is a conflict.
        undo_records: The records of changes in the span or at its edge; the last one can be undone.
        redo_records: The records of undone changes, which may be redone.
        max_records: The number of undo records that remain when a change adds one.
        is_in_flight: Whether an edit of the hunk was sent and is not confirmed. The span then
            includes lines inserted at its edges, and its lines are not read.
    """

    first: int
    end: int
    current: str
    _neighbours: tuple[str, str]
    _is_lost: bool
    """Whether the span is only where an insertion's place was lost."""
    merged: str | None = None
    undo_records: tuple[ChangeRecord, ...] = ()
    redo_records: tuple[ChangeRecord, ...] = ()
    max_records: int = MANY_RECORDS
    is_in_flight: bool = False
    _gap_neighbours: tuple[str, str] | None = None
    _edges: tuple[int, int] = (0, 0)
    _candidates: "tuple[TrackedSpan, ...]" = ()
    _undone: ChangeRecord | None = None
    _has_new_neighbour: bool = False
    _is_due: bool = False
    _is_touched: bool = False
    _was_filled: bool = False

    @property
    def is_insertion(self) -> bool:
        """Whether the span was made as an insertion between two lines."""
        return self._gap_neighbours is not None

    def apply_change(
        self, change: LineChange, min_first: int = 0, *, is_others: bool = False
    ) -> bool:
        """Move with a change; return whether the span or its text may have changed.

        Args:
            change: In lines of the text before the change.
            min_first: The least first line of the span, in lines of the text after the change: the
                end of the anchor above.
            is_others: Whether another anchor claims the changed lines. The span then includes no
                lines at its edges.
        """
        # Other lines may be inserted where lines were removed. Only the text shows this, so there
        # are candidates until the lines are read.
        others, is_full = self._candidates, len(self._candidates) + 1 >= _MAX_CANDIDATES
        is_due, ways = self._advance(change, min_first, grows=not is_others, is_full=is_full)
        for other in others:
            more = other._advance(change, min_first, grows=not is_others, is_full=is_full)[1]  # noqa: SLF001
            ways = (*ways, other, *more)
        self._candidates = ways
        return is_due

    def _advance(
        self, change: LineChange, min_first: int, *, grows: bool, is_full: bool
    ) -> "tuple[bool, tuple[TrackedSpan, ...]]":
        """Move to the likeliest place after a change; return also the other candidates."""
        if change.first > self.end:
            return False, ()
        records = () if self.is_in_flight or is_full else self._undo_candidates(change)
        if not records:
            return self._move(change, min_first, grows=grows), ()
        self._candidates = ()
        moved = copy(self)
        _ = moved._move(change, min_first, grows=grows)  # noqa: SLF001 - its own kind
        made = moved.undo_records[-1:] if moved.undo_records is not self.undo_records else ()
        ways = [copy(self) for _ in records[1:]]
        for way, record in zip((self, *ways), records, strict=True):
            way._undo_change(change, record, made)  # noqa: SLF001 - its own kind
        return True, (*ways, moved)

    def _undo_candidates(self, change: LineChange) -> tuple[ChangeRecord, ...]:
        """Return those of the last record and the undone records that a change may invert."""
        lasts = (*self.undo_records[-1:], *self._as_sent(), *reversed(self.redo_records))
        return tuple(record for record in lasts if self._is_inverse(change, record))

    def _as_sent(self) -> tuple[ChangeRecord, ...]:
        """Return the last record in the form of the sent edit, if known."""
        return tuple(
            record._replace(offset_after=record.as_sent[0], span_before=record.as_sent[1])
            for record in self.undo_records[-1:]
            if record.as_sent is not None
        )

    def _undo_change(
        self, change: LineChange, record: ChangeRecord, made: tuple[ChangeRecord, ...]
    ) -> None:
        """Restore the place before the change in `record`; the lines must confirm this later."""
        self._undone = record
        self.first = change.first + record.span_before.first
        self.end = change.first + record.span_before.end
        self._is_lost = record.span_before.is_lost
        # This change can be undone or redone too; it may have been no undo.
        back = record.span_before.first
        others = tuple(one for one in self.redo_records if one is not record)
        made = tuple(one._replace(offset_after=back, redo_records=others) for one in made)
        is_redo = len(others) < len(self.redo_records)
        self.redo_records = record.redo_records
        if is_redo:
            self.undo_records += made
        else:
            self.undo_records = self.undo_records[:-1]
            for one in made:
                self.redo_records = push_redo(record.redo_records, one, self.max_records)
        self._is_due = self._is_touched = True

    def _move(self, change: LineChange, min_first: int, *, grows: bool) -> bool:
        first, removed, added = change
        stop, delta = first + removed, added - removed
        if self._touches(first, stop, grows=grows):
            self._absorb(change, min_first)
            return True
        moves = stop <= self.first and (first != self.end or removed > 0)
        is_adjacent = self._note_edge_change(change)
        before = self._relative_span(change) if is_adjacent and delta else None
        if moves:
            self.first += delta
            self.end += delta
        if before is not None and self._is_open:
            self._record(change, before, self._neighbours)
        return is_adjacent or (moves and delta != 0)

    @property
    def _is_open(self) -> bool:
        """Whether lines inserted at the edge may belong to the span; only the records show it."""
        return self.first == self.end or self.merged is None

    def _note_edge_change(self, change: LineChange) -> bool:
        """Record a change outside of the place; return whether the change is at its edge."""
        first, removed, added = change
        if first + removed < self.first:
            return False
        if self._is_open:
            self._has_new_neighbour = True
            if removed and added and not self.is_insertion:
                return True
            self._was_filled |= first == self.first and added > 0
        elif removed:
            return False
        else:
            # Later changes of the same message may complete the proposed text.
            n_before, n_after = self._edges
            is_before = first == self.first
            self._edges = (n_before + added * is_before, n_after + added * (not is_before))
        self._is_due = True
        return True

    def may_regain_line(self, line: int) -> bool:  # noqa: ARG002 - used in blocks
        """Return whether a change at `line`, below the place, may restore one of its lines."""
        return False

    def has_record_inverted_by(self, change: LineChange) -> bool:
        """Return whether a change may be the undo or redo of a recorded change.

        True if and only if `_undo_candidates` returns a record. This is called for every place
        below each change, so no object is created.
        """
        if self.undo_records and self.undo_records[-1].is_inverted_by(change, self.first):
            return True
        for record in self.redo_records:  # noqa: SIM110 - `any` would create a generator
            if record.is_inverted_by(change, self.first):
                return True
        return False

    def _is_inverse(self, change: LineChange, record: ChangeRecord) -> bool:
        return change == (self.first - record.offset_after, record.added, record.removed)

    def _touches(self, first: int, stop: int, *, grows: bool) -> bool:
        """Return whether a change of these lines is inside of the place."""
        if self.is_in_flight:
            return stop >= self.first and (grows or first < self.end)
        if first == stop and grows and (self.merged is None or self._is_touched):
            return first >= self.first  # removed lines may be restored
        if self.first == self.end:
            return first < self.first < stop
        if first == stop:
            return self.first < first < self.end
        return first < self.end and stop > self.first

    def _absorb(self, change: LineChange, min_first: int) -> None:
        first, removed, added = change
        stop, delta = first + removed, added - removed
        self._is_due = self._is_touched = True
        if not delta:
            return
        before = self._relative_span(change)
        around = self._neighbours if self.first == self.end else None
        self._is_lost |= self._gap_neighbours is not None and self.first == self.end and removed > 0
        self.first = max(min(self.first, first), min_first)
        self.end = max(max(self.end, stop) + delta, self.first)
        self._record(change, before, around)

    def _relative_span(self, change: LineChange) -> LineSpan:
        """Return the span in lines from the start of a change."""
        return self.span.shifted(-change.first)

    def _record(self, change: LineChange, before: LineSpan, around: tuple[str, str] | None) -> None:
        """Record a change, so that its undo is recognised."""
        first, removed, added = change
        back, again = self.first - first, self.redo_records
        hashes = None if around is None else edge_hashes(around)
        record = ChangeRecord(
            before, hash(self.current), removed, added, back, hashes, redo_records=again
        )
        self.undo_records = (*self.undo_records[-self.max_records :], record)
        self.redo_records = ()

    def _see_neighbours(self, lines: Sequence[str]) -> None:
        self._has_new_neighbour = False
        self._neighbours = lines_around(lines, self.first, self.end)

    def _shift_records(self, n_lines: int) -> None:
        """Shift the records after the span was found `n_lines` lines below its computed place."""
        if n_lines:
            last = self.undo_records[-1:]
            self.undo_records = (*self.undo_records[:-1], *(one.shifted(n_lines) for one in last))
            self.redo_records = tuple(one.shifted(n_lines) for one in self.redo_records)

    def _choose_candidate(self, lines: Sequence[str]) -> None:
        """Choose the first candidate whose lines are the lines before the undone change."""
        way = next(way for way in (self, *self._candidates) if way._is_confirmed_by(lines))  # noqa: SLF001
        self.first, self.end, self._is_lost = way.span
        self.undo_records, self.redo_records = way.undo_records, way.redo_records
        self._edges, self._was_filled = way._edges, way._was_filled  # noqa: SLF001 - the same
        self._candidates, self._undone = (), None

    def _is_confirmed_by(self, lines: Sequence[str]) -> bool:
        record = self._undone
        return record is None or (
            # Fewer lines may have been restored than removed.
            self.first >= 0
            and self.end <= len(lines)
            and record.is_undone_at(lines, self.first, self.end)
            and hash(self._text_in(lines)) == record.current
        )

    def _text_in(self, lines: Sequence[str]) -> str:
        return "".join(lines[self.first : self.end])

    def text_now(self, lines: Sequence[str]) -> str:
        """Return the text of the span in `lines`; during an edit in flight `current` is older."""
        return self._text_in(lines) if self.is_in_flight else self.current

    def record_sent_edge(self, records: tuple[ChangeRecord, ...], sent: ChangeRecord) -> None:
        """Mark the changes after `records` as one edit of Stet, which was sent as `sent`."""
        made = self.undo_records[len(records) :]
        if not made:
            self.undo_records = (*records, sent)
        elif (made[-1].offset_after, made[-1].span_before) != (sent.offset_after, sent.span_before):
            last = made[-1]._replace(as_sent=(sent.offset_after, sent.span_before))
            self.undo_records = (*self.undo_records[:-1], last)

    def trim_records(self) -> None:
        """Limit the records to the last few changes from now on."""
        self.max_records = FEW_RECORDS
        self.undo_records, self.redo_records = self.undo_records[-FEW_RECORDS:], ()

    @property
    def previous_lines(self) -> tuple[int, int]:
        """The lines of the span before the last recorded change.

        They show the order of two spans that share lines now.
        """
        if not self.undo_records:
            return self.first, self.end
        record = self.undo_records[-1]
        shift = self.first - record.offset_after
        return shift + record.span_before.first, shift + record.span_before.end

    def shift(self, n_lines: int) -> None:
        """Move the span down by `n_lines` lines, up if negative."""
        self.first += n_lines
        self.end += n_lines
        if self._candidates:
            for other in self._candidates:
                other.shift(n_lines)

    @property
    def span(self) -> LineSpan:
        """The span as a value, for `restore_span`."""
        return LineSpan(self.first, self.end, self._is_lost)

    def range_in(self, lines: Sequence[str]) -> Range:
        """Return the span as a range in code points of `lines`."""
        return range_of(lines, self.first, self.end)
