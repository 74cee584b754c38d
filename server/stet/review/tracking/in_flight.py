"""An edit in flight: the detection of its arrival, and the effect on the places of other hunks.

An edit that was given up may still arrive (`TimedOutEdits`). A late edit is recognised by the whole
text: its places are ambiguous if their neighbouring lines read alike, or if the edit arrives
together with the next edit in one difference.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.edit_plan import EditPlan
from stet.review.tracking.tracked_span import ChangeRecord, LineSpan, edge_hashes, lines_around
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import LineChange, Replacement, TextChange, TextEdit
from stet.text.lines import n_breaks, whole_lines
from stet.text.position import Position
from stet.text.sequence import find_line_runs, split_when

_AROUND = 100
"""The lines on each side of the edit that are stored of a very long text."""
_MAX_READINGS = 64
"""The most combinations of arrived and missing hunks that are compared."""
MAX_EDITS = 3
"""The most timed-out edits of a document that are remembered; the oldest is dropped."""


class EditRun(NamedTuple):
    """Hunks of an edit without a line between them.

    Attributes:
        first: The first line of the hunks, in the text that the edit was made for.
        end: The line after their last line.
        hunks: The ids of the hunks, in order of place.
    """

    first: int
    end: int
    hunks: tuple[str, ...]


class InFlightEdit:
    """One edit in flight; owned and changed by its `TrackedDocument` only.

    Attributes:
        plan: The plan of the edit.
        lines: The lines of the text that the edit was made for.
        others: The span and the records of every other anchor when the edit was sent, by hunk.
        present: The hunks whose text was in their place already, so that it proves nothing.
        runs: By hunk, the run that contains it; empty if only the difference of the edit is known.
    """

    def __init__(
        self,
        plan: EditPlan,
        document: TextDocument,
        anchors: Sequence[Anchor],
        others: Sequence[Anchor],
    ) -> None:
        """Create the edit of `plan` for `document`; `anchors` are the anchors of its hunks."""
        self.plan = plan
        self.lines = document.lines
        self.others = {anchor.hunk: (anchor.span, anchor.undo_records) for anchor in others}
        self.present = frozenset(
            anchor.hunk
            for anchor in anchors
            if anchor.find_text(document.lines, plan.texts[anchor.hunk])
        )
        self._expected = ExpectedText(document, plan.edit)
        self._effects = plan.effects[::-1]
        self.runs = {hunk: run for run in _runs(self._effects) for hunk in run.hunks if hunk}
        self._ends = [_end(change) for _, change in self._effects]
        deltas = (change.added - change.removed for _, change in self._effects)
        self._shifts = list(accumulate(deltas, initial=0))

    def arrival(
        self, changes: Sequence[TextChange], lines: Sequence[str]
    ) -> tuple[int, Sequence[str]] | None:
        """Return the number of `changes` after which the edit is complete, and the lines then.

        Return None if the edit is not complete: it is then expected with a later message. `lines`
        are the text after all changes.
        """
        if self._expected.is_expected(lines):
            return len(changes), lines
        for count, change in enumerate(changes, 1):
            if self._expected.completes_with(change):
                return count, self._expected.lines
        return None

    def find_run(self, run: EditRun, lines: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Return the lines that the hunks of a run have written, if `lines` contain the run once.

        Return nothing if they do not, or if the run was in its place before the edit was sent. A
        hunk that writes nothing is left out if the lines that it removes are beside the run.
        """
        texts = [whole_lines(self.plan.texts[hunk]) for hunk in run.hunks]
        wanted = whole_lines("".join(self.plan.texts[hunk] for hunk in run.hunks))
        found = find_line_runs(lines, wanted) if wanted else ()
        if len(found) != 1 or find_line_runs(self.lines[run.first : run.end], wanted):
            return {}
        at = accumulate(map(len, texts), initial=found[0])
        places = dict(zip(run.hunks, pairwise(at), strict=True))
        adjacent = (*lines[: found[0]], *lines[found[0] + len(wanted) :])
        taken = self._replaced_lines()
        return {
            hunk: place
            for hunk, place in places.items()
            if self.plan.texts[hunk] or not (taken[hunk] and find_line_runs(adjacent, taken[hunk]))
        }

    def match_run(
        self, run: EditRun, lines: Sequence[str]
    ) -> Mapping[str, tuple[int, int] | None] | None:
        """Return the place of each hunk of a run in `lines`; None for a hunk that did not arrive.

        Return None if `lines` are no such combination, or more than one.
        """
        taken, there = self._replaced_lines(), list(lines)
        ways: list[tuple[int, tuple[tuple[int, int] | None, ...]]] = [(0, ())]
        for hunk in run.hunks:
            parts = (taken[hunk], False), (whole_lines(self.plan.texts[hunk]), True)
            ways = [
                (end, (*places, (at, end) if has_come else None))
                for at, places in ways
                for part, has_come in parts
                if there[at : (end := at + len(part))] == list(part)
            ]
            if len(ways) > _MAX_READINGS:
                return None
        whole = [places for at, places in ways if at == len(there)]
        return dict(zip(run.hunks, whole[0], strict=True)) if len(whole) == 1 else None

    def _replaced_lines(self) -> Mapping[str, Sequence[str]]:
        """Return the lines that each hunk replaces."""
        return {
            hunk: self.lines[one.first : one.first + one.removed] for hunk, one in self._effects
        }

    def span_after(self, anchor: Anchor, earlier: Set[str]) -> LineSpan | None:
        """Return the span to which the edit itself moves another anchor.

        Editors report the smallest difference, which may differ from the sent change.

        Args:
            anchor: The anchor, whose span when the edit was sent is used.
            earlier: The hunks that come first if they are at the same point.

        Returns:
            The span; None if the edit changes the place, or if only its difference is known.
        """
        span, _ = self.others[anchor.hunk]
        if self.plan.steps:
            return _span_after_steps(span, self.plan.steps)
        first, end, _ = span
        at = bisect_left(self._ends, first)
        shift = self._shifts[at]
        for hunk, (start, removed, added) in self._effects[at:]:
            stop = start + removed
            if not hunk or (stop > first and start < end):
                return None
            if stop > first:
                break
            if removed or first < end or hunk in earlier:
                shift += added - removed
        # An empty last line no longer exists if it has got text without a line end.
        return span.shifted(shift).clamped(self._expected.n_lines)

    def edge_record(self, anchor: Anchor, span: LineSpan) -> ChangeRecord | None:
        """Return the record of the edit's change at the edge of another anchor.

        Return None if there is not exactly one such change.

        Args:
            anchor: The anchor, whose span when the edit was sent is used.
            span: The span to which the edit has moved the anchor.
        """
        span_before, _ = self.others[anchor.hunk]
        at = bisect_left(self._ends, span_before.first)
        near = zip(self._shifts[at:], self._effects[at : at + 2], strict=False)
        adjacent = [
            (shift, change)
            for shift, (_, change) in near
            if change.first <= span_before.end and change.added != change.removed
        ]
        if len(adjacent) != 1:
            return None
        [(shift, (first, removed, added))] = adjacent
        back = span.first - first - shift
        around = edge_hashes(lines_around(self.lines, span_before.first, span_before.end))
        return ChangeRecord(
            span_before.shifted(-first), hash(anchor.current), removed, added, back, around
        )


def _span_after_steps(span: LineSpan, steps: Sequence[LineChange]) -> LineSpan | None:
    """Return the span after changes one after the other; None if one changes the place."""
    for change in steps:
        stop = change.first + change.removed
        is_inside = change.first < span.end and stop > span.first
        if is_inside or change.first == stop == span.first == span.end:
            return None
        if stop <= span.first:
            span = span.shifted(change.added - change.removed)
    return span


def _runs(effects: Sequence[tuple[str, LineChange]]) -> Iterator[EditRun]:
    """Yield runs of touching changes; `effects` are in order of place, each with its hunk."""
    for run in split_when(effects, lambda one, later: later[1].first != _end(one[1])):
        yield EditRun(run[0][1].first, _end(run[-1][1]), tuple(hunk for hunk, _ in run))


def _end(change: LineChange) -> int:
    return change.first + change.removed


class ExpectedText:
    """A copy of the text that follows the changes until it is the text with the edit.

    Of a very long text only the lines around the edit are stored. After a change outside of these
    lines the copy never becomes the text with the edit.

    Attributes:
        n_lines: The number of lines of the text after the edit.
    """

    def __init__(self, document: TextDocument, edit: TextEdit) -> None:
        """Create the expected text of `edit`, which was made for `document`."""
        self._lines = document.lines
        n = len(self._lines)
        self._first, self._end = _window(document, edit) if document.is_large else (0, n)
        text = "".join(self._lines[self._first : self._end]) if document.is_large else document.text
        start = document.offset_at(Position(self._first, 0))
        moved = (Replacement(r.start - start, r.end - start, r.text) for r in edit.replacements)
        self._expected = TextEdit(tuple(moved)).apply(text)
        self._buffer: TextBuffer | None = TextBuffer(text)
        self.n_lines = n + n_breaks(self._expected) - n_breaks(text)

    def completes_with(self, change: TextChange) -> bool:
        """Apply the next change; return whether the result is the text with the edit."""
        if self._buffer is None:
            return False
        is_to_the_end = self._end == len(self._lines)
        last_line = self._first + len(self._buffer.lines) - 1
        first, last = change.range.start.line, change.range.end.line
        if first < self._first or (last >= last_line and not is_to_the_end):
            self._buffer = None
            return False
        _ = self._buffer.apply(TextChange(change.range.shifted(-self._first), change.text))
        return self._buffer.text == self._expected

    def is_expected(self, lines: Sequence[str]) -> bool:
        """Return whether `lines` are the text with the edit."""
        n_after = len(self._lines) - self._end
        if not self._first and not n_after:
            return "".join(lines) == self._expected
        end = len(lines) - n_after
        return (
            len(lines) == self.n_lines
            and "".join(lines[self._first : end]) == self._expected
            and tuple(lines[: self._first]) == tuple(self._lines[: self._first])
            and tuple(lines[end:]) == tuple(self._lines[self._end :])
        )

    @property
    def lines(self) -> Sequence[str]:
        """All lines of the current text."""
        assert self._buffer is not None, "read only when the text is that with the edit"
        window = self._buffer.lines
        if not self._first and self._end == len(self._lines):
            return window
        window = window if self._end == len(self._lines) else window[:-1]
        return (*self._lines[: self._first], *window, *self._lines[self._end :])


def _window(document: TextDocument, edit: TextEdit) -> tuple[int, int]:
    """Return the lines around the replaced ranges: the first line, and the line after the last."""
    if not edit.replacements:
        return 0, len(document.lines)
    first = document.position_at(edit.replacements[0].start).line
    last = document.position_at(edit.replacements[-1].end).line
    return max(0, first - _AROUND), min(len(document.lines), last + 1 + _AROUND)


@dataclass(frozen=True, slots=True)
class TimedOutEdits:
    """The edits of a document that may still arrive, until its text changes.

    Attributes:
        document: The text without any of the edits.
        edits: The hunks of each edit, in the order in which the edits were sent.
    """

    document: TextDocument
    edits: tuple[tuple[str, ...], ...]

    def combinations_with(self, sent: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield the hunks of each combination of edits, with the edit `sent`, that may arrive."""
        every = (*self.edits, *([tuple(sent)] if sent else []))
        for n_edits in range(1, len(every) + 1):
            for some in combinations(every, n_edits):
                yield tuple(hunk for edit in some for hunk in edit)

    def without(self, sent: Collection[str]) -> "TimedOutEdits | None":
        """Return the remaining edits when an edit of the hunks `sent` is sent again."""
        left = tuple(edit for edit in self.edits if not set(edit) & set(sent))
        return TimedOutEdits(self.document, left) if left else None

    def texts_after(self, changes: Sequence[TextChange]) -> Iterator[str]:
        """Yield the text after each of the next `changes`."""
        buffer = TextBuffer(self.document.text)
        for change in changes:
            _ = buffer.apply(change)
            yield buffer.text


def add_timed_out(
    timed_out: TimedOutEdits | None, document: TextDocument, hunks: Collection[str]
) -> TimedOutEdits | None:
    """Return the edits that may still arrive after `hunks` have timed out too.

    `document` is the current text, without `hunks`.
    """
    earlier = () if timed_out is None else timed_out.edits
    edits = (*earlier, tuple(hunks)) if hunks else earlier
    return TimedOutEdits(document, edits[-MAX_EDITS:]) if edits else None
