"""Moving many anchors through many changes at once: each meets only the changes near it.

A formatter, a branch switch or an accepted turn comes as thousands of changes in one message. From
the bottom up, as all that is made of a difference comes, a change leaves what stands above it alone:
so a place meets few of them, and all others shift it by a sum. From the top down they can be counted
as if they had come the other way round.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.many_places import shift_below
from stet.text.change import LineChange


def sorted_descending(changes: Sequence[LineChange]) -> Sequence[LineChange] | None:
    """Return equivalent changes, each above all earlier changes; None where there is no such order."""
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
    """Changes of lines from the bottom up, ready to be met."""

    def __init__(self, changes: Sequence[LineChange]) -> None:
        """Prepare `changes`, which are sequential, each above all earlier ones."""
        self._changes = changes[::-1]  # from the top down; all count in the text before
        self._firsts = [change.first for change in self._changes]
        self._ends = [change.first + change.removed for change in self._changes]
        deltas = (change.added - change.removed for change in self._changes)
        self._shifts = list(accumulate(deltas, initial=0))

    def apply_to(self, anchors: Sequence[Anchor]) -> tuple[list[Anchor], bool]:
        """Move anchors; tells which were touched, and whether any moved."""
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
    """Move settled anchors, which may stand within one another; those that were touched."""
    first, removed, added = effect
    after = first + removed
    near = (
        [anchor for anchor in anchors if anchor.first <= after]
        if removed == added
        else shift_below(anchors, effect)
    )
    return [anchor for anchor in near if anchor.end >= first and anchor.apply_change(effect)]
