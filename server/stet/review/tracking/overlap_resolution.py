"""The live anchors of a document, in order of place, never have a line in common."""

from collections.abc import Sequence

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.line_span import last_gap


def is_crowded(anchors: Sequence[Anchor], anchor: Anchor) -> bool:
    """Whether one of the live anchors stands on lines of the one before or behind it."""
    at = anchors.index(anchor)
    return (at > 0 and anchors[at - 1].end > anchor.first) or (
        at + 1 < len(anchors) and anchor.end > anchors[at + 1].first
    )


def resolve_overlaps(anchors: Sequence[Anchor], lines: Sequence[str]) -> None:
    """Where changes have led two to the same lines, the first one keeps them.

    Args:
        anchors: In order of place.
        lines: The text as it is now.
    """
    floor, last = 0, last_gap(lines)
    for nth, anchor in enumerate(anchors):
        if anchor.first < floor and not (anchor.is_gap and anchor.first == last):
            anchor.start_no_earlier(floor, lines)
        if anchor.first < floor:
            # An insertion comes before a last line that holds nothing: that is nobody's then.
            for one in anchors[:nth]:
                one.clamp_to(last)
        floor = anchor.end
