"""The live anchors of a document, in order of place, never have a line in common."""

from collections.abc import Sequence

from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.standing import last_gap


def is_crowded(live: Sequence[Anchor], anchor: Anchor) -> bool:
    """Whether one of the live anchors stands on lines of the one before or behind it."""
    at = live.index(anchor)
    return (at > 0 and live[at - 1].end > anchor.first) or (
        at + 1 < len(live) and anchor.end > live[at + 1].first
    )


def keep_apart(live: Sequence[Anchor], lines: Sequence[str]) -> None:
    """Where changes have led two to the same lines, the first one keeps them.

    Args:
        live: In order of place.
        lines: The text as it is now.
    """
    floor, last = 0, last_gap(lines)
    for nth, anchor in enumerate(live):
        if anchor.first < floor and not (anchor.is_gap and anchor.first == last):
            anchor.keep_behind(floor, lines)
        if anchor.first < floor:
            # An insertion comes before a last line that holds nothing: that is nobody's then.
            for one in live[:nth]:
                one.end_at_most(last)
        floor = anchor.end
