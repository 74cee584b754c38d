"""A stretch of whole lines that moves with every change of its document.

Where lines are put at the edge of an empty stretch, or of one in conflict, the change itself does not
tell whether they are its own. So a stretch remembers the changes that took something away from it or
from beside it: the inverse of the last one, as the editor's undo sends it, puts it back where it was.
"""

from collections.abc import Sequence
from copy import copy

from stet.review.tracking.line_span import (
    ChangeRecord,
    LineSpan,
    edge_hashes,
    lines_around,
    push_redo,
    range_of,
    text_hash,
)
from stet.text.change import LineChange
from stet.text.position import Range

MANY_RECORDS, FEW_RECORDS = 64, 8
"""How many changes a place remembers: where its hunk waits or was decided lately, and long behind that."""
_MAX_WAYS = 16
"""How many ways a place goes at once, while the lines that would tell them apart are not known."""


class TrackedSpan:
    """Where a hunk stands: which of a document's lines are its own.

    It is the half of an `Anchor` that knows lines; the other half knows what they are to become.

    Attributes:
        first: Its first line, 0-based.
        end: The line behind its last; equal to `first` where nothing stands there.
        current: What stands there, as it was last looked at.
        merged: What is to stand there, the user's changes within it kept; None: it is a conflict.
    """

    __slots__ = (
        "_around",
        "_candidates",
        "_edges",
        "_growing",
        "_has_new_neighbour",
        "_is_due",
        "_is_lost",
        "_is_touched",
        "_max_records",
        "_neighbours",
        "_redo_records",
        "_undo_records",
        "_undone",
        "_was_filled",
        "current",
        "end",
        "first",
        "merged",
    )

    def __init__(self, lines: Sequence[str], first: int, end: int, *, is_lost: bool) -> None:
        """Create a span in `lines`.

        Args:
            lines: The text.
            first: Its first line there.
            end: The line behind its last.
            is_lost: Whether it is only where an insertion's place was lost.
        """
        self.first, self.end = first, end
        self.current = "".join(lines[first:end])
        self.merged: str | None = None
        self._around: tuple[str, str] | None = None
        self._neighbours = lines_around(lines, first, end)
        self._edges = (0, 0)
        self._undo_records: tuple[ChangeRecord, ...] = ()
        self._redo_records: tuple[ChangeRecord, ...] = ()
        self._candidates: tuple[TrackedSpan, ...] = ()
        self._undone: ChangeRecord | None = None
        self._growing = False
        self._has_new_neighbour = False
        self._is_due = False
        self._is_lost = is_lost
        self._is_touched = False
        self._max_records = MANY_RECORDS
        self._was_filled = False

    @property
    def is_gap(self) -> bool:
        """Whether it was made as an insertion between two lines."""
        return self._around is not None

    def apply_change(self, change: LineChange, floor: int = 0, *, is_others: bool = False) -> bool:
        """Move with a change; tells whether anything about it may be another now.

        Args:
            change: In lines of the text before it.
            floor: In lines of the text behind it, where the anchor before this one ends.
            is_others: Whether the change is known to be one of another anchor's lines.
        """
        # Other lines, as many, may come to where some were taken away: it is seen when it is looked
        # at, so it goes all ways until then.
        others, is_full = self._candidates, len(self._candidates) + 1 >= _MAX_WAYS
        is_due, ways = self._advance(change, floor, grows=not is_others, is_full=is_full)
        for other in others:
            more = other._advance(change, floor, grows=not is_others, is_full=is_full)[1]  # noqa: SLF001
            ways = (*ways, other, *more)
        self._candidates = ways
        return is_due

    def _advance(
        self, change: LineChange, floor: int, *, grows: bool, is_full: bool
    ) -> "tuple[bool, tuple[TrackedSpan, ...]]":
        """Move with a change, the likeliest way; and the other ways it may have gone."""
        if change.first > self.end:
            return False, ()
        records = () if self._growing or is_full else self._undo_candidates(change)
        if not records:
            return self._move(change, floor, grows=grows), ()
        self._candidates = ()
        moved = copy(self)
        _ = moved._move(change, floor, grows=grows)  # noqa: SLF001 - its own kind
        made = moved._undo_records[-1:] if moved._undo_records is not self._undo_records else ()  # noqa: SLF001
        ways = [copy(self) for _ in records[1:]]
        for way, record in zip((self, *ways), records, strict=True):
            way._undo_change(change, record, made)  # noqa: SLF001 - its own kind
        return True, (*ways, moved)

    def _undo_candidates(self, change: LineChange) -> tuple[ChangeRecord, ...]:
        """Of the last change that is remembered, and of those that were taken back here, those whose
        inverse this change looks like.
        """
        lasts = (*self._undo_records[-1:], *self._as_sent(), *reversed(self._redo_records))
        return tuple(record for record in lasts if self._is_inverse(change, record))

    def _as_sent(self) -> tuple[ChangeRecord, ...]:
        """Return the last change as the sent edit would have been reported, if known."""
        return tuple(
            record._replace(offset_after=record.as_sent[0], before=record.as_sent[1])
            for record in self._undo_records[-1:]
            if record.as_sent is not None
        )

    def _undo_change(
        self, change: LineChange, record: ChangeRecord, made: tuple[ChangeRecord, ...]
    ) -> None:
        """Stand as before the change in `record`, if the lines will say so."""
        self._undone = record
        self.first = change.first + record.before.first
        self.end = change.first + record.before.end
        self._is_lost = record.before.is_lost
        # What takes a change back is taken back by that change, which may have been no undo at all.
        made = tuple(one._replace(offset_after=record.before.first) for one in made)
        others = tuple(one for one in self._redo_records if one is not record)
        made = tuple(one._replace(redo_records=others) for one in made)
        if len(others) < len(self._redo_records):
            self._undo_records, self._redo_records = (
                (*self._undo_records, *made),
                record.redo_records,
            )
        else:
            self._undo_records, self._redo_records = self._undo_records[:-1], record.redo_records
            for one in made:
                self._redo_records = push_redo(record.redo_records, one, self._max_records)
        self._is_due = self._is_touched = True

    def _move(self, change: LineChange, floor: int, *, grows: bool) -> bool:
        first, removed, added = change
        after, delta = first + removed, added - removed
        if self._touches(first, after, grows=grows):
            self._absorb(change, floor)
            return True
        moves = after <= self.first and (first != self.end or removed > 0)
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
        """Whether lines put at its edge may be its own that come back, or were written by hand. Or they
        stood beside it: only what is remembered tells.
        """
        return self.first == self.end or self.merged is None

    def _note_edge_change(self, change: LineChange) -> bool:
        """Note what a change that does not reach into the place means for it."""
        first, removed, added = change
        if first + removed < self.first:
            return False
        if self._is_open:
            self._has_new_neighbour = True
            if removed and added and not self.is_gap:
                return True
            self._was_filled |= first == self.first and added > 0
        elif removed:
            return False
        else:
            # The same message may go on inside, and leave what was to stand there.
            n_before, n_after = self._edges
            is_before = first == self.first
            self._edges = (n_before + added * is_before, n_after + added * (not is_before))
        self._is_due = True
        return True

    def may_regain_line(self, line: int) -> bool:  # noqa: ARG002 - a block's is
        """Whether a change that begins at `line`, below the place, may be one of its lines: never, for
        what goes by lines alone.
        """
        return False

    def is_inverse_of_last(self, change: LineChange) -> bool:
        """Whether a change looks like the inverse of the last one that is remembered.

        As `_undo_candidates` has it; asked of every place behind each change, so nothing is made.
        """
        first, removed, added = change
        back = self.first - first
        for last in self._undo_records[-1:]:
            backs = (
                last.offset_after,
                last.offset_after if last.as_sent is None else last.as_sent[0],
            )
            if (last.added, last.removed) == (removed, added) and back in backs:
                return True
        return bool(self._redo_records) and any(
            (redo_record.offset_after, redo_record.added, redo_record.removed)
            == (back, removed, added)
            for redo_record in self._redo_records
        )

    def _is_inverse(self, change: LineChange, record: ChangeRecord) -> bool:
        return change == (self.first - record.offset_after, record.added, record.removed)

    def _touches(self, first: int, after: int, *, grows: bool) -> bool:
        """Whether a change of these lines is one of the inside."""
        if self._growing:
            return after >= self.first and (grows or first < self.end)
        if first == after and grows and (self.merged is None or self._is_touched):
            return first >= self.first  # perhaps what was taken away comes back
        if self.first == self.end:
            return first < self.first < after
        if first == after:
            return self.first < first < self.end
        return first < self.end and after > self.first

    def _absorb(self, change: LineChange, floor: int) -> None:
        first, removed, added = change
        after, delta = first + removed, added - removed
        self._is_due = self._is_touched = True
        if not delta:
            return
        before = self._relative_span(change)
        around = self._neighbours if self.first == self.end else None
        self._is_lost |= self._around is not None and self.first == self.end and removed > 0
        self.first = max(min(self.first, first), floor)
        self.end = max(max(self.end, after) + delta, self.first)
        self._record(change, before, around)

    def _relative_span(self, change: LineChange) -> LineSpan:
        """Where it stands, in lines from where a change begins."""
        return LineSpan(self.first - change.first, self.end - change.first, self._is_lost)

    def _record(self, change: LineChange, before: LineSpan, around: tuple[str, str] | None) -> None:
        """Note a change that the place has moved with, so that it can be told when it is undone."""
        first, removed, added = change
        back, again = self.first - first, self._redo_records
        hashes = None if around is None else edge_hashes(around)
        record = ChangeRecord(
            before, text_hash(self.current), removed, added, back, hashes, redo_records=again
        )
        self._undo_records, self._redo_records = (
            (*self._undo_records[-self._max_records :], record),
            (),
        )

    def _see_neighbours(self, lines: Sequence[str]) -> None:
        self._has_new_neighbour = False
        self._neighbours = lines_around(lines, self.first, self.end)

    def _shift_records(self, n_lines: int) -> None:
        """Shift the records after the span was found `n_lines` lines below where the changes led."""
        if n_lines:
            self._undo_records = _shift_last_record(self._undo_records, n_lines)
            self._redo_records = tuple(
                redo_record.shifted(n_lines) for redo_record in self._redo_records
            )

    def _choose_candidate(self, lines: Sequence[str]) -> None:
        """Take the first way on which the lines that came back are those that were taken away."""
        way = next(way for way in (self, *self._candidates) if way._is_confirmed_by(lines))  # noqa: SLF001
        self.first, self.end, self._is_lost = way.span
        self._undo_records, self._redo_records = way._undo_records, way._redo_records  # noqa: SLF001 - its own kind
        self._edges, self._was_filled = way._edges, way._was_filled  # noqa: SLF001 - the same
        self._candidates, self._undone = (), None

    def _is_confirmed_by(self, lines: Sequence[str]) -> bool:
        record = self._undone
        return record is None or (
            # What came back may be less than the whole message that led away.
            self.first >= 0
            and self.end <= len(lines)
            and record.is_undone_at(lines, self.first, self.end)
            and text_hash(self._text_in(lines)) == record.current
        )

    def _text_in(self, lines: Sequence[str]) -> str:
        return "".join(lines[self.first : self.end])

    def text_now(self, lines: Sequence[str]) -> str:
        """Return the text on its lines; `current` is older while an edit of them is on its way.

        Args:
            lines: The text as it is now.
        """
        return self._text_in(lines) if self._growing else self.current

    def absorb_edges(self) -> None:
        """From now on lines at the edges belong to it, until `rest`."""
        self._growing = True

    def record_sent_edge(self, records: tuple[ChangeRecord, ...], sent: ChangeRecord) -> None:
        """Mark the records since `records` as the change of an edit, which Stet itself wrote as
        `sent`.
        """
        made = self._undo_records[len(records) :]
        if not made:
            self._undo_records = (*records, sent)
        elif (made[-1].offset_after, made[-1].before) != (sent.offset_after, sent.before):
            last = made[-1]._replace(as_sent=(sent.offset_after, sent.before))
            self._undo_records = (*self._undo_records[:-1], last)

    def clear_redo(self) -> None:
        """Clear the redo records, because something else is in flight."""
        self._redo_records = ()

    def keep_few_records(self) -> None:
        """Forget all changes but the last ones, and go on so."""
        self._max_records = FEW_RECORDS
        self._undo_records, self._redo_records = self._undo_records[-FEW_RECORDS:], ()

    def keep_many_records(self) -> None:
        """From now on more changes are remembered again."""
        self._max_records = MANY_RECORDS

    def move_to(self, first: int, end: int) -> None:
        """Move the span to these lines."""
        self.first, self.end = first, end

    @property
    def undo_records(self) -> tuple[ChangeRecord, ...]:
        """The changes that reached into it, to be put back with its standing."""
        return self._undo_records

    @property
    def previous_lines(self) -> tuple[int, int]:
        """Where it stood before the last change that reached into it: tells which of two that share
        their lines since came first.
        """
        if not self._undo_records:
            return self.first, self.end
        record = self._undo_records[-1]
        shift = self.first - record.offset_after
        return shift + record.before.first, shift + record.before.end

    def clamp_to(self, line: int) -> None:
        """Clamp the span to the beginning of `line`, where there is no text of the span."""
        self.first, self.end = min(self.first, line), min(self.end, line)

    def shift(self, n_lines: int) -> None:
        """Lines were put in, or taken out, before it."""
        self.first += n_lines
        self.end += n_lines
        if self._candidates:
            for other in self._candidates:
                other.shift(n_lines)

    @property
    def span(self) -> LineSpan:
        """Where it stands, to be put back there."""
        return LineSpan(self.first, self.end, self._is_lost)

    def range_in(self, lines: Sequence[str]) -> Range:
        """Its place in code points of the current text."""
        return range_of(lines, self.first, self.end)


def _shift_last_record(records: tuple[ChangeRecord, ...], n_lines: int) -> tuple[ChangeRecord, ...]:
    """Return `records`, with the last record corrected: the change left the place `n_lines` lower."""
    return (*records[:-1], *(record.shifted(n_lines) for record in records[-1:]))
