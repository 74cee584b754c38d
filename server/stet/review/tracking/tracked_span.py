"""A range of whole lines that moves with every change of its document.

A change does not say who owns the lines that are inserted at the edge of an empty range, or of a
range in conflict. So a range remembers the changes that removed lines from it or from beside it:
the inverse of the last change, as the editor's undo sends it, moves the range back.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from stet.text.edit import LineChange
from stet.text.lines import without_end
from stet.text.position import Position, Range

MIN_ALPHANUMERIC = 6
"""Letters and digits that distinguish lines from others; the last lines of a program's blocks have fewer."""
MANY_RECORDS, FEW_RECORDS = 64, 8
"""How many changes a place remembers while its hunk is pending or was decided lately, and later."""
_MAX_CANDIDATES = 16
"""The most places, of which one is right, that a span may be at until its lines are read."""


class LineSpan(NamedTuple):
    """A range of whole lines, and whether it only tells where the place was lost."""

    first: int
    end: int
    is_lost: bool

    def shifted(self, n_lines: int) -> "LineSpan":
        """Return the span `n_lines` lines further down, further up if negative."""
        return LineSpan(self.first + n_lines, self.end + n_lines, self.is_lost)

    def clamped(self, n_lines: int) -> "LineSpan":
        """Return the span clamped to a text of `n_lines` lines."""
        return LineSpan(min(self.first, n_lines), min(self.end, n_lines), self.is_lost)


class ChangeRecord(NamedTuple):
    """A change that reached into a place, or met its edge; its inverse restores the place.

    Attributes:
        span_before: The place before the change, in lines from the start of the change.
        current: The hash of the place's text as last read before the change.
        removed: The number of lines that the change removed.
        added: The number of lines that the change added.
        offset_after: The first line of the place after the change, less the change's first line.
        around: The hashes of the line before and of the line after the place, without line
            ends, if these show whether the inverse has arrived.
        as_sent: `offset_after` and `span_before` by the edit that Stet sent, if the editor reported the
            edit at another of several lines that read alike.
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
        """Return whether a change looks like the inverse, to a place that begins at line `first`."""
        back = first - change.first
        is_as_long = change.removed == self.added and change.added == self.removed
        return is_as_long and (
            back == self.offset_after or (self.as_sent is not None and back == self.as_sent[0])
        )

    def is_undone_at(self, lines: Sequence[str], first: int, end: int) -> bool:
        """Return whether the lines around the place are those that were removed from there."""
        if self.around is None:
            return True
        was, now = self.around, edge_hashes(lines_around(lines, first, end))
        took_before = 0 < self.span_before.first <= self.removed
        took_after = 0 <= self.span_before.end < self.removed
        return not (took_before and now[0] != was[0]) and not (took_after and now[1] != was[1])


def edge_hashes(around: tuple[str, str]) -> tuple[int, int]:
    """Return the hashes of the lines around a place, without line ends, which may come and go."""
    return hash(without_end(around[0])), hash(without_end(around[1]))


def push_redo(
    redo_records: tuple[ChangeRecord, ...], record: ChangeRecord, most: int
) -> tuple[ChangeRecord, ...]:
    """Return the changes that can be redone in a place after `record` has been undone too.

    Args:
        redo_records: The changes that were undone there before.
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
    """Return the changes that were undone one after the other, the last undone change last."""
    done: list[ChangeRecord] = []
    while redo_records:
        done.append(redo_records[-1])
        redo_records = redo_records[-1].redo_records
    return tuple(reversed(done))


def range_of(lines: Sequence[str], first: int, end: int) -> Range:
    """Return whole lines as a range in code points; the end of the text follows the last line."""
    bottom = Position(len(lines) - 1, len(lines[-1]))
    start, stop = (Position(at, 0) if at < len(lines) else bottom for at in (first, end))
    return Range(start, stop)


def last_gap(lines: Sequence[str]) -> int:
    """Return the line of an insertion at the end: before a last line that is empty."""
    return len(lines) if lines[-1] else len(lines) - 1


def lines_around(lines: Sequence[str], first: int, end: int) -> tuple[str, str]:
    """Return the lines before and after a place; `""` at the ends of the text."""
    return lines[first - 1] if first else "", lines[end] if end < len(lines) else ""


def without_ends(around: tuple[str, str]) -> tuple[str, str]:
    """Return the lines around a place without line ends, which may come and go."""
    return without_end(around[0]), without_end(around[1])


def with_one_end(lines: Iterable[str]) -> list[str]:
    """Return lines with one kind of line end, also where a last line has none, to be compared."""
    return [f"{without_end(line)}\n" for line in lines]


def is_distinctive(lines: Iterable[str]) -> bool:
    """Return whether lines have enough letters and digits to be distinguished from others."""
    return sum(sum(map(str.isalnum, line)) for line in lines) >= MIN_ALPHANUMERIC


@dataclass(slots=True, eq=False)
class TrackedSpan:
    """The lines of a document that are a hunk's own: the half of an `Anchor` that knows lines.

    Attributes:
        first: Its first line, 0-based.
        end: The line after its last; equal to `first` if the range is empty.
        current: The text of the lines when they were last read.
        merged: The text to write there, with the user's changes kept; None if there is a conflict.
        undo_records: The changes that reached into the span, restored together with it.
        redo_records: The changes that were undone there and may be redone.
        max_records: How many undo records it has before a change adds one.
        is_in_flight: Whether an edit of the hunk was sent and is not confirmed. The span then takes in
            lines put at its edges, and its lines are not read.
    """

    first: int
    end: int
    current: str
    _neighbours: tuple[str, str]
    _is_lost: bool
    """Whether it only tells where an insertion's place was lost."""
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
        """Move with a change. Return whether the span or its text may have changed.

        Args:
            change: In lines of the text before the change.
            min_first: The first line that the span may begin at, in lines of the text after the change:
                there the anchor before this one ends.
            is_others: Whether another anchor claims the changed lines. The span then takes in no lines
                at its edges.
        """
        # As many other lines may come to where lines were removed: only the text tells, so there are
        # candidates until the lines are read.
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
        """Move with a change, the likeliest way. Return also the other candidates."""
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
        """Return the records whose inverse a change looks like, of the last one and the undone ones."""
        lasts = (*self.undo_records[-1:], *self._as_sent(), *reversed(self.redo_records))
        return tuple(record for record in lasts if self._is_inverse(change, record))

    def _as_sent(self) -> tuple[ChangeRecord, ...]:
        """Return the last change as the sent edit would have been reported, if known."""
        return tuple(
            record._replace(offset_after=record.as_sent[0], span_before=record.as_sent[1])
            for record in self.undo_records[-1:]
            if record.as_sent is not None
        )

    def _undo_change(
        self, change: LineChange, record: ChangeRecord, made: tuple[ChangeRecord, ...]
    ) -> None:
        """Return to the place before the change in `record`, if the lines confirm that later."""
        self._undone = record
        self.first = change.first + record.span_before.first
        self.end = change.first + record.span_before.end
        self._is_lost = record.span_before.is_lost
        # The undo of a change is itself undone by that change, which may have been no undo at all.
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
        """Whether lines put at its edge may be its own; only the records tell."""
        return self.first == self.end or self.merged is None

    def _note_edge_change(self, change: LineChange) -> bool:
        """Note a change outside of the place. Return whether the change is at its edge."""
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
            # The same message may go on inside, and leave the proposed text.
            n_before, n_after = self._edges
            is_before = first == self.first
            self._edges = (n_before + added * is_before, n_after + added * (not is_before))
        self._is_due = True
        return True

    def may_regain_line(self, line: int) -> bool:  # noqa: ARG002 - a block's is
        """Return whether a change that begins at `line`, below the place, may be one of its lines."""
        return False

    def has_record_inverted_by(self, change: LineChange) -> bool:
        """Return whether a change looks like the undo or the redo of a change that the span remembers.

        True if and only if `_undo_candidates` finds a record. Called for every place below each change, so
        nothing is created.
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
            return first >= self.first  # perhaps removed lines come back
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
        """Record a change that the place has moved with, so that its undo is recognised."""
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
        """Shift the records; the span was found `n_lines` lines below where the changes led."""
        if n_lines:
            last = self.undo_records[-1:]
            self.undo_records = (*self.undo_records[:-1], *(one.shifted(n_lines) for one in last))
            self.redo_records = tuple(one.shifted(n_lines) for one in self.redo_records)

    def _choose_candidate(self, lines: Sequence[str]) -> None:
        """Take the first candidate whose restored lines are those that were removed."""
        way = next(way for way in (self, *self._candidates) if way._is_confirmed_by(lines))  # noqa: SLF001
        self.first, self.end, self._is_lost = way.span
        self.undo_records, self.redo_records = way.undo_records, way.redo_records
        self._edges, self._was_filled = way._edges, way._was_filled  # noqa: SLF001 - the same
        self._candidates, self._undone = (), None

    def _is_confirmed_by(self, lines: Sequence[str]) -> bool:
        record = self._undone
        return record is None or (
            # Fewer lines may have come back than the message had removed.
            self.first >= 0
            and self.end <= len(lines)
            and record.is_undone_at(lines, self.first, self.end)
            and hash(self._text_in(lines)) == record.current
        )

    def _text_in(self, lines: Sequence[str]) -> str:
        return "".join(lines[self.first : self.end])

    def text_now(self, lines: Sequence[str]) -> str:
        """Return the text of the span in `lines`; `current` is older while an edit is in flight."""
        return self._text_in(lines) if self.is_in_flight else self.current

    def record_sent_edge(self, records: tuple[ChangeRecord, ...], sent: ChangeRecord) -> None:
        """Mark the records since `records` as one edit, which Stet itself wrote as `sent`."""
        made = self.undo_records[len(records) :]
        if not made:
            self.undo_records = (*records, sent)
        elif (made[-1].offset_after, made[-1].span_before) != (sent.offset_after, sent.span_before):
            last = made[-1]._replace(as_sent=(sent.offset_after, sent.span_before))
            self.undo_records = (*self.undo_records[:-1], last)

    def trim_records(self) -> None:
        """Remember only the last few changes from now on."""
        self.max_records = FEW_RECORDS
        self.undo_records, self.redo_records = self.undo_records[-FEW_RECORDS:], ()

    @property
    def previous_lines(self) -> tuple[int, int]:
        """The lines before the last change that reached into them.

        These lines show the order of two spans that share their lines now.
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
        """The span as a value, to be restored later."""
        return LineSpan(self.first, self.end, self._is_lost)

    def range_in(self, lines: Sequence[str]) -> Range:
        """Return the span as a range in code points of `lines`."""
        return range_of(lines, self.first, self.end)
