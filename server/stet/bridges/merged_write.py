"""What a session writes, merged with what the user has changed since the session has read it.

The user changes lines of the file, or the text of the session's pending hunks. Where the session
has changed the same lines, there is a conflict: its place has lines of the live text, and the
pending hunks within.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import PendingView
from stet.review.tracking.relocation import find_lines
from stet.review.tracking.tracked_document import overlap
from stet.text.diff import LineHunk, diff_lines, line_edit
from stet.text.edit import TextEdit
from stet.text.lines import line_end, split_lines, whole_lines, without_end
from stet.text.merge import MergeConflict, merge, merge_partly
from stet.text.sequence import find_line_runs

_LineRange = tuple[int, int]
"""Whole lines of a text: the first, 0-based, and the line after the last."""


@dataclass(frozen=True, slots=True)
class WriteConflict:
    """Lines that the session and the user have changed in different ways.

    Attributes:
        place: The lines of the live text (0-based, half-open).
        base: The lines that the session has read.
        new: The lines that it has written.
        hunks: The ids of the pending hunks of the session in the place.
    """

    place: _LineRange
    base: str
    new: str
    hunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedWrite:
    """A change of the view of a session.

    Attributes:
        edit: The edit of the view, with the user's lines where there is a conflict.
        conflicts: The conflicts.
    """

    edit: TextEdit
    conflicts: tuple[WriteConflict, ...] = ()


def merge_write(view: PendingView, before: str, after: str) -> MergedWrite | None:
    """Merge what a session writes with its present view; None if they can't be merged.

    Args:
        view: The present view.
        before: The text that the session has read.
        after: The text that it has written, with the line ends of `before`.
    """
    conflicts: list[WriteConflict] = []
    while True:
        if (merged := merge_partly(before, view.text, after)) is None:
            return None
        found = [(one, view.live_place(one.first, one.end)) for one in merged.conflicts]
        in_hunks = next((one for one, place in found if place is None), None)
        if in_hunks is None:
            break
        if (over_hunks := _HunkConflict(view, before, after).conflict_at(in_hunks)) is None:
            return None
        conflict, after = over_hunks
        conflicts.append(conflict)
    conflicts += [
        WriteConflict(place, one.base, one.theirs) for one, place in found if place is not None
    ]
    conflicts = _at_moved_lines(conflicts, view.live.lines)
    for nth, one in enumerate(conflicts):
        others = [other.place for other in conflicts[:nth]]
        others += [_live_lines(hunk) for hunk in view.hunks if hunk.id not in one.hunks]
        if any(overlap(one.place, other) for other in others):
            return None
    edit = line_edit(split_lines(view.text), split_lines(merged.text))
    return MergedWrite(edit, tuple(conflicts))


class _HunkConflict:
    """The lines around a conflict in the text of pending hunks, in all texts.

    Args:
        view: The present view.
        before: The text that the session has read.
        after: The text that it has written.
    """

    def __init__(self, view: PendingView, before: str, after: str) -> None:
        self._view = view
        self._before, self._after = whole_lines(before), whole_lines(after)
        self._shown = whole_lines(view.text)
        self._by_user = _changes(self._before, self._shown)
        self._by_session = _changes(self._before, self._after)
        self._hunks = list(zip(view.hunks, view.line_spans, strict=True))

    def conflict_at(self, found: MergeConflict) -> tuple[WriteConflict, str] | None:
        """Return the conflict that includes the pending hunks of a place whole.

        Returns:
            The conflict, and the text of the session without its change of these lines; None if
            the place is unknown, or the conflict would end at once.
        """
        if self._view.live.real is not None:
            return None
        base = self._grown(found)
        shown = self._without_added_edges(base, _image(self._by_user, base))
        hunks = self._within(shown)
        place = self._live_place(shown, hunks)
        written = _image(self._by_session, base)
        after = (
            *self._after[: written[0]],
            *self._before[slice(*base)],
            *self._after[written[1] :],
        )
        if place is None or after == self._after:
            return None
        lines, new = self._view.live.lines, "".join(self._after[slice(*written)])
        if new and not line_end(new) and place[1] < len(lines):
            new += line_end(lines[0]) or "\n"
        old = lines[slice(*place)]
        sides = [self._before[slice(*base)]]
        if any(hunk.is_amended for hunk in hunks):
            sides.append(self._shown[slice(*shown)])
        for side in sides:
            is_there = bool(side) and bool(find_line_runs(old, side))
            if side and not is_there and merge("".join(side), "".join(old), new) is None:
                ids = tuple(hunk.id for hunk in hunks)
                return WriteConflict(place, "".join(side), new, ids), "".join(after)
        return None

    def _grown(self, found: MergeConflict) -> _LineRange:
        """Return the lines of the read text that include all changes and hunks that touch them."""
        back = [LineHunk(one.new_start, one.new, one.old_start, one.old) for one in self._by_user]
        base, last = _image(back, (found.first, found.end)), None
        while base != last:
            last = base
            spans = [
                _image(back, span)
                for hunk, span in self._hunks
                if hunk in self._within(_image(self._by_user, base))
            ]
            changes = (*_touching(self._by_user, base), *_touching(self._by_session, base))
            spans += [(one.old_start, one.old_end) for one in changes]
            base = _hull([base, *spans])
        return base

    def _within(self, shown: _LineRange) -> list[Hunk]:
        """Return the pending hunks that share lines of the view with a place.

        A hunk that only removes lines is at the edge if the user has changed it.
        """
        return [
            hunk
            for hunk, (first, end) in self._hunks
            if (first < shown[1] and shown[0] < end)
            or (first == end and shown[0] <= first <= shown[1] and hunk.is_amended)
        ]

    def _without_added_edges(self, base: _LineRange, shown: _LineRange) -> _LineRange:
        """Return a place of the view without lines that the user has only added at its edges."""
        spans = [span for hunk, span in self._hunks if hunk in self._within(shown)]
        first, end = shown
        for one in self._by_user:
            place = one.new_start, one.new_start + len(one.new)
            if one.old or any(overlap(place, span) for span in spans):
                continue
            if one.old_start == base[0]:
                first = place[1]
            elif one.old_start == base[1]:
                end = place[0]
        return first, end

    def _live_place(self, shown: _LineRange, within: Sequence[Hunk]) -> _LineRange | None:
        """Return the lines of the live text for lines of the view that include hunks whole."""
        first, lines = shown[0], list[str]()
        done = shown[0]
        for hunk, (start, end) in self._hunks:
            place = _live_lines(hunk)
            if hunk in within:
                lines += [*self._shown[done:start], *self._view.live.lines[slice(*place)]]
                done = end
            elif end <= shown[0]:
                first -= (end - start) - (place[1] - place[0])
        lines += self._shown[done : shown[1]]
        found = first, first + len(lines)
        is_right = first >= 0 and list(self._view.live.lines[slice(*found)]) == lines
        return found if is_right else None


def _live_lines(hunk: Hunk) -> _LineRange:
    """Return the lines of the live text that a hunk replaces."""
    return hunk.range.start.line, hunk.range.line_after


def _changes(old: Sequence[str], new: Sequence[str]) -> tuple[LineHunk, ...]:
    """Return the changes that lead from `old` to `new`, except those of line ends."""
    return diff_lines([*map(without_end, old)], [*map(without_end, new)])


def _hull(places: Sequence[_LineRange]) -> _LineRange:
    """Return the lines from the first to the last of some places."""
    return min(first for first, _ in places), max(end for _, end in places)


def _touching(changes: Iterable[LineHunk], place: _LineRange) -> list[LineHunk]:
    """Return the changes that share old lines with a place, or adjoin it."""
    return [one for one in changes if one.old_start <= place[1] and place[0] <= one.old_end]


def _image(changes: Sequence[LineHunk], place: _LineRange) -> _LineRange:
    """Return the new lines for old lines that include each change that touches them."""
    spans = [(one.old_start, one.old_end) for one in _touching(changes, place)]
    first, end = place = _hull([place, *spans])
    for one in changes:
        grown = len(one.new) - len(one.old)
        if one.old_end < place[0]:
            first += grown
        if one.old_start <= place[1]:
            end += grown
    return first, end


def _at_moved_lines(
    conflicts: Sequence[WriteConflict], lines: Sequence[str]
) -> list[WriteConflict]:
    """Return the conflicts; those whose lines the user has only moved are at the new place.

    Args:
        conflicts: The conflicts.
        lines: The lines of the live text.
    """
    places = [one.place for one in conflicts]
    moved = [None if one.hunks else find_lines(one.base, lines) for one in conflicts]
    for _ in conflicts:  # one that leaves its place may make room for another
        for at, there in enumerate(moved):
            others = (*places[:at], *places[at + 1 :])
            if there is not None and not any(overlap(there, other) for other in others):
                places[at] = there
    return [replace(one, place=place) for one, place in zip(conflicts, places, strict=True)]
