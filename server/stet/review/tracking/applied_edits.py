"""Edits that have arrived, as a whole: so their undo and redo in the editor are told.

Of hunks that touch, or with lines that read alike between or beside them, the editor's smallest
difference does not tell which lines are whose. The stretch of all lines that it may reach does, as it
reads exactly as before the edit once that is undone. A line on either side goes with it: what meets an
edge is told. For the same reason hunks that wait within it are where they were: the same text, the same
place.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stet.review.tracking.edit_plan import EditPlan
from stet.review.tracking.line_span import LineSpan
from stet.text.change import LineChange

MAX_EDITS = 16
"""How many of a document are followed; the oldest is let go first."""

_MAX_LINES = 1_000


class ToggledHunk(NamedTuple):
    """A hunk of an edit that was undone or redone.

    Attributes:
        hunk: Its id.
        is_undone: Whether the edit is undone; else it was redone.
        place: The lines of the text on which it stands.
        other: What stood there before.
    """

    hunk: str
    is_undone: bool
    place: tuple[int, int]
    other: str


class _HunkLines(NamedTuple):
    """The lines of one hunk, counted from the beginning of the stretch, without the edit and with it."""

    hunk: str
    before: slice
    after: slice


class PendingSpans(NamedTuple):
    """Where a hunk that the edit leaves alone stands without it and with it."""

    before: LineSpan
    after: LineSpan


class AppliedEdit:
    """One edit that has arrived; owned and changed by its `TrackedDocument` only."""

    __slots__ = (
        "_after",
        "_before",
        "_end",
        "_first",
        "_is_bottom",
        "_is_top",
        "_parts",
        "_touched",
        "_waiting",
    )

    def __init__(
        self,
        plan: EditPlan,
        before: Sequence[str],
        after: Sequence[str],
        reach: tuple[int, int],
        waiting: Mapping[str, PendingSpans],
    ) -> None:
        """`plan` has made the text `after` of `before`, in lines, of which the difference may reach
        those of `reach`; `waiting` are the other hunks.
        """
        top, bottom = reach
        self._is_top, self._is_bottom = top == 0, bottom == len(before)
        self._first, end = max(top - 1, 0), min(bottom + 1, len(before))
        self._end = end + len(after) - len(before)
        self._before = tuple(before[self._first : end])
        self._after = tuple(after[self._first : self._end])
        self._parts = tuple(_parts(plan, self._first))
        # What stands at its edge may have lines put before it that are not in it.
        inside = self._first + (not self._is_top), end - (not self._is_bottom)
        self._waiting = {
            hunk: PendingSpans(
                _shift_span(one.before, -self._first), _shift_span(one.after, -self._first)
            )
            for hunk, one in waiting.items()
            if inside[0] <= one.before.first and one.before.end <= inside[1]
        }
        self._touched = False

    def apply_changes(self, effects: Iterable[LineChange]) -> bool:
        """Move with the changes of one message; False if it is lost, as one reaches over its edge."""
        self._touched = False
        return all(self._apply_change(effect) for effect in effects)

    def _apply_change(self, change: LineChange) -> bool:
        first, removed, added = change
        after_change, delta = first + removed, added - removed
        if after_change <= self._first and not self._is_top:
            self._first += delta
            self._end += delta
            return True
        if first >= self._end and not self._is_bottom:
            return True
        self._end += delta
        self._touched = True
        return first >= self._first and after_change <= self._end - delta

    def forget(self, hunks: Container[str]) -> bool:
        """Forget these hunks, whose text is no longer what this edit wrote. Return False if no
        other hunks are left.
        """
        self._parts = tuple(part for part in self._parts if part.hunk not in hunks)
        return bool(self._parts)

    def detect_undo(self, lines: Sequence[str]) -> Iterator[ToggledHunk]:
        """Its hunks, if the last changes have made it read as before the edit, or as behind it.

        Args:
            lines: The text as it is now.
        """
        is_undone = self._is_undone(lines)
        if is_undone is None:
            return
        for hunk, before, after in self._parts:
            now, other = (
                (before, self._after[after]) if is_undone else (after, self._before[before])
            )
            place = (self._first + now.start, self._first + now.stop)
            yield ToggledHunk(hunk, is_undone, place, "".join(other))

    def pending_spans(self, lines: Sequence[str]) -> Iterator[tuple[str, LineSpan]]:
        """In the same case, where each of the hunks stands that waited when it was sent."""
        is_undone = self._is_undone(lines)
        if is_undone is None:
            return
        for hunk, (before, after) in self._waiting.items():
            yield hunk, _shift_span(before if is_undone else after, self._first)

    def _is_undone(self, lines: Sequence[str]) -> bool | None:
        """Whether it reads as before the edit, else as behind it; None if neither has just come to be."""
        sides = (self._before, self._after)
        if not self._touched or self._end - self._first not in map(len, sides):
            return None
        stands = tuple(lines[self._first : self._end])
        return stands == self._before if stands in sides else None


def _shift_span(span: LineSpan, n_lines: int) -> LineSpan:
    return LineSpan(span.first + n_lines, span.end + n_lines, span.is_lost)


def _parts(plan: EditPlan, first: int) -> Iterator[_HunkLines]:
    """Yield the hunks of `plan` in order of place, with lines counted from `first`."""
    shift = -first
    for hunk, (start, removed, added) in reversed(plan.effects):
        before = slice(start - first, start - first + removed)
        yield _HunkLines(hunk, before, slice(start + shift, start + shift + added))
        shift += added - removed


def applied_edit(
    plan: EditPlan, before: Sequence[str], after: Sequence[str], waiting: Mapping[str, PendingSpans]
) -> AppliedEdit | None:
    """Return what to track of an edit that has arrived; None where its hunks suffice by themselves.

    Args:
        plan: The edit.
        before: The lines of the text it was made for.
        after: Those of the text that came.
        waiting: Where the hunks that it leaves alone stand in both.
    """
    if plan.is_undo or plan.settle or not plan.effects:
        return None
    (_, last), (_, first) = plan.effects[0], plan.effects[-1]
    hunks = first.first, last.first + last.removed
    reach = _reach(before, after, *hunks)
    if len(plan.effects) < 2 and reach == hunks:
        return None
    grown = sum(change.added - change.removed for _, change in plan.effects)
    if hunks[1] == len(before) and last.added == 0 and not after[-1]:
        grown += 1  # behind the line end that is the last now stands a line that holds nothing
    if reach[1] - reach[0] > _MAX_LINES or len(after) - len(before) != grown:
        return None
    return AppliedEdit(plan, before, after, reach, waiting)


def _reach(before: Sequence[str], after: Sequence[str], top: int, bottom: int) -> tuple[int, int]:
    """Return the lines of `before` that a smallest difference to `after` may touch.

    All that differs lies between `top` and `bottom`. But where lines beside it read like those that
    come or go, it can as well be said to lie further up or down.
    """
    n_before, n_after = len(before), len(after)
    shorter = min(n_before, n_after)
    alike_above, most = top, min(shorter, bottom + _MAX_LINES)
    while alike_above < most and before[alike_above] == after[alike_above]:
        alike_above += 1
    alike_below, most = n_before - bottom, min(shorter, n_before - top + _MAX_LINES)
    while alike_below < most and before[-1 - alike_below] == after[-1 - alike_below]:
        alike_below += 1
    return (
        min(top, shorter - alike_below),
        max(bottom, n_before - min(alike_below, shorter - alike_above)),
    )
