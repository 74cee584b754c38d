"""Changes of a text, replayed in steps, and applied to many anchors at once.

The effect of a change on a place depends on the lines at that moment. The text after the last
change of a message does not determine the text after an earlier change: a macro, or an undo key
held down, may change one line many times and back. If unchanged lines separate the changes, the
last text is enough. The changes of one difference have no texts between them. If the text at the
end is the text at the beginning, nothing has changed, even if lines that read alike were added and
removed.

A formatter, a branch switch or an accepted turn sends thousands of changes in one message. If the
changes are applied from the bottom up, a change does not move the places above it: so only the
changes near a place are applied to it, and the sum of the others shifts it. Changes from the top
down are first converted to this order.

A keystroke shifts all places below it: so attributes are read and written in a loop, because a
method call for each place costs several times as much.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.tracked_span import TrackedSpan
from stet.text.edit import LineChange, Splice, TextChange

_Place = TypeVar("_Place", bound=TrackedSpan)


class ChangeStep(NamedTuple):
    """Changes that are applied at once.

    Attributes:
        effects: The changes of lines, in order, each in lines of the text after the earlier ones.
        lines: The text after the changes; valid until the next step.
        changes: The changes themselves.
    """

    effects: Sequence[LineChange]
    lines: Sequence[str]
    changes: Sequence[TextChange]


def replay_changes(changes: Sequence[TextChange], lines: Sequence[str]) -> Iterator[ChangeStep]:
    """Yield the steps of a message.

    Args:
        changes: The changes, in order.
        lines: The text after all of them.
    """
    effects = [effect for change in changes for effect in change.effects]
    splices = [change.splice for change in changes if change.splice is not None]
    if len(changes) < 2 or len(splices) < len(changes):
        yield ChangeStep(effects, lines, changes)
        return
    may_be_nothing = _may_cancel_out(splices)
    if not may_be_nothing and _are_disjoint(effects):
        yield ChangeStep(effects, lines, changes)
        return
    text = _unspliced(splices, lines)
    if may_be_nothing and text == list(lines):
        yield ChangeStep((), lines, ())
        return
    for change, splice in zip(changes[:-1], splices, strict=False):
        _splice(text, splice.first, splice.before, splice.after)
        yield ChangeStep(change.effects, text, (change,))
    yield ChangeStep(changes[-1].effects, lines, changes[-1:])


def lines_before(changes: Sequence[TextChange], lines: Sequence[str]) -> list[str] | None:
    """Return the lines of a text before `changes`; None if they are not known.

    Args:
        changes: The changes, in order.
        lines: The text after the changes.
    """
    splices = [change.splice for change in changes if change.splice is not None]
    return _unspliced(splices, lines) if len(splices) == len(changes) else None


def _unspliced(splices: Sequence[Splice], lines: Sequence[str]) -> list[str]:
    """Return the lines before `splices`, which are in order; `lines` are the lines after."""
    text = list(lines)
    for splice in reversed(splices):
        _splice(text, splice.first, splice.after, splice.before)
    return text


def _may_cancel_out(splices: Sequence[Splice]) -> bool:
    """Return whether the added lines are the removed lines, in any order."""
    added = Counter(line for splice in splices for line in splice.after)
    return added == Counter(line for splice in splices for line in splice.before)


def _splice(text: list[str], first: int, old: Sequence[str], new: Sequence[str]) -> None:
    text[first : first + len(old)] = new


def _are_disjoint(effects: Sequence[LineChange]) -> bool:
    """Return whether changes are in order of place, with unchanged lines between them."""
    pairs = tuple(pairwise(effects))
    return all(later.first + later.removed < one.first for one, later in pairs) or all(
        later.first > one.first + one.added for one, later in pairs
    )


def fingerprint_of(lines: Sequence[str]) -> int:
    """Return a hash of a text, valid in this process only."""
    return hash(tuple(lines))


def shift_all(places: Iterable[TrackedSpan], n_lines: int) -> bool:
    """Shift places down by `n_lines`, up if negative; return whether there are places."""
    any_shifted = False
    for one in places:
        any_shifted = True
        one.first += n_lines
        one.end += n_lines
        if one._candidates:  # noqa: SLF001 - read in a loop, as the module says
            for other in one._candidates:  # noqa: SLF001 - the same
                other.shift(n_lines)
    return any_shifted


def shift_below(places: Sequence[_Place], change: LineChange) -> list[_Place]:
    """Shift the places below a change, except if the change may be the inverse of a record.

    Args:
        places: In any order.
        change: The change, in lines of the text before the change.

    Returns:
        The other places, in the same order.
    """
    first, removed, added = change
    stop, below, others = first + removed, [], []
    for one in places:
        if one.first <= stop or (
            (one.undo_records or one.redo_records) and one.has_record_inverted_by(change)
        ):
            others.append(one)
        else:
            below.append(one)
    _ = shift_all(below, added - removed)
    return others


def sorted_descending(changes: Sequence[LineChange]) -> Sequence[LineChange] | None:
    """Return equivalent changes, each above all earlier ones; None if there is no such order."""
    if all(later.first + later.removed <= one.first for one, later in pairwise(changes)):
        return changes
    if any(later.first <= one.first + one.added for one, later in pairwise(changes)):
        return None
    deltas = accumulate((change.added - change.removed for change in changes), initial=0)
    return [
        LineChange(change.first - before, change.removed, change.added)
        for change, before in zip(changes, deltas, strict=False)
    ][::-1]


class BatchShift:
    """Changes of lines from the bottom up, prepared for many anchors."""

    def __init__(self, changes: Sequence[LineChange]) -> None:
        """Prepare `changes`, which are sequential, each above all earlier ones."""
        self._changes = changes[::-1]  # top down; line numbers are of the text before
        self._firsts = [change.first for change in self._changes]
        self._ends = [change.first + change.removed for change in self._changes]
        deltas = (change.added - change.removed for change in self._changes)
        self._shifts = list(accumulate(deltas, initial=0))

    def apply_to(self, anchors: Sequence[Anchor]) -> tuple[list[Anchor], bool]:
        """Move anchors; return the touched anchors, and whether any anchor moved."""
        touched, moved = [], False
        for anchor in anchors:
            upper = bisect_left(self._ends, anchor.first)
            lower = bisect_right(self._firsts, anchor.end)
            near = [anchor.apply_change(change) for change in reversed(self._changes[upper:lower])]
            if any(near):
                touched.append(anchor)
            if shift := self._shifts[upper]:
                anchor.shift(shift)
                moved = True
        return touched, moved


def apply_to_settled(anchors: Sequence[Anchor], effect: LineChange) -> list[Anchor]:
    """Move settled anchors, which may be nested; return the touched anchors."""
    first, removed, added = effect
    stop = first + removed
    near = (
        [anchor for anchor in anchors if anchor.first <= stop]
        if removed == added
        else shift_below(anchors, effect)
    )
    return [anchor for anchor in near if anchor.end >= first and anchor.apply_change(effect)]


class ReplacedLines(NamedTuple):
    """Whole lines that a step has removed, and the lines added in their place.

    Attributes:
        first_before: The first removed line in the text before the step, 0-based.
        first_after: The first added line in the text after the step.
        removed: The removed lines.
        added: The added lines.
    """

    first_before: int
    first_after: int
    removed: Sequence[str]
    added: Sequence[str]


def is_typing(changes: Sequence[TextChange]) -> bool:
    """Return whether a message only changes one line."""
    effects = [effect for change in changes for effect in change.effects]
    return all(effect.removed == effect.added == 1 for effect in effects) and len(effects) < 2


def replaced_lines(changes: Sequence[TextChange]) -> tuple[ReplacedLines, ...]:
    """Return the replaced lines of the changes of one step."""
    parts = [part for change in changes for part in _parts(change)]
    deltas = [len(added) - len(removed) for _, removed, added in parts]
    done, total = 0, sum(deltas)
    is_bottom_up = all(one[0] >= later[0] for one, later in pairwise(parts))
    blocks = []
    for (first, removed, added), delta in zip(parts, deltas, strict=True):
        above = (0, total - done - delta) if is_bottom_up else (-done, 0)
        blocks.append(ReplacedLines(first + above[0], first + above[1], removed, added))
        done += delta
    return tuple(blocks)


def _parts(change: TextChange) -> Iterator[tuple[int, Sequence[str], Sequence[str]]]:
    """Yield the first line of each effect of a change, the lines removed and the lines added."""
    if change.splice is None:
        return
    top, before, after = change.splice
    below = sum(effect.added - effect.removed for effect in change.effects)
    for first, removed, added in change.effects:
        below -= added - removed
        at = first - top
        yield first, before[at : at + removed], after[at + below : at + below + added]
