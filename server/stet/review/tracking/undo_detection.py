"""Which decided hunks the user has turned round in the editor, by undo or redo, and where they stand.

What was accepted at once is undone at once. Of hunks that touch, the editor then reports one change
that reaches into all of them: only together do their places read as what stood there before.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from stet.review.tracking.anchor import Anchor
from stet.text.lines import whole_lines
from stet.text.merge import Merger


class UndoneHunk(NamedTuple):
    """A decided hunk that stands the other way round now.

    Attributes:
        anchor: Where it was followed until now.
        place: The lines on which its text stands: the first, and the one behind the last.
        other: What turning it once more would write there, what the user has typed since kept.
    """

    anchor: Anchor
    place: tuple[int, int]
    other: str


def detect_editor_undo(anchors: Iterable[Anchor], lines: Sequence[str]) -> Iterator[UndoneHunk]:
    """Those in whose place the text that they would write stands already.

    Where that is the text that stood there before, too, nothing can tell.

    Args:
        anchors: Of decided hunks that a change has touched.
        lines: The text as it is now.
    """
    for run in _touching(sorted(anchors, key=lambda anchor: anchor.previous_lines)):
        first, end = run[0].first, max(anchor.end for anchor in run)
        proposed = "".join(anchor.proposed for anchor in run)
        if len(run) > 1 and _were_disjoint(run) and "".join(lines[first:end]) == proposed:
            for anchor in run:
                end_line = first + len(whole_lines(anchor.proposed))
                yield UndoneHunk(anchor, (first, end_line), anchor.base)
                first = end_line
            continue
        for anchor in run:
            if not anchor.is_done or anchor.base in (anchor.current, anchor.proposed):
                continue
            other = Merger(anchor.proposed, anchor.base).merge(anchor.current)
            if other is not None:
                yield UndoneHunk(anchor, (anchor.first, anchor.end), other)


def _were_disjoint(run: Sequence[Anchor]) -> bool:
    """Whether each had lines of its own before the last change: else one was accepted within another."""
    places = [anchor.previous_lines for anchor in run]
    return all(one[1] <= later[0] for one, later in pairwise(places))


def _touching(anchors: Sequence[Anchor]) -> Iterator[list[Anchor]]:
    """Anchors in order of place, those together that share lines or touch."""
    run: list[Anchor] = []
    end = 0
    for anchor in anchors:
        if run and anchor.first > end:
            yield run
            run = []
        end = max(end, anchor.end) if run else anchor.end
        run.append(anchor)
    if run:
        yield run
