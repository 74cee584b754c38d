"""What the user wants a hunk to write instead, as its document would have it."""

from stet.review.proposal import Hunk
from stet.review.tracking.tracked_document import TrackedDocument
from stet.text.lines import dominant_line_end, line_end, line_ends
from stet.text.reindent import adopt_known_line_ends


def normalize_line_ends(new: str, hunk: Hunk, track: TrackedDocument) -> str:
    r"""Return `new` with the document's line ends, whichever the user's page or client writes.

    A line that the hunk has already keeps the line end it has there, any other takes the one that the
    document uses most, as a line of `edit_file` does.

    Args:
        new: What is wanted.
        hunk: The hunk as it is now.
        track: Its document.
    """
    if new == hunk.new:
        return new
    anchor = track.anchor(hunk.id)
    assert anchor is not None, "a pending hunk of lines has an anchor"
    lines, first = track.lines, anchor.first
    end = first if anchor.is_gap else anchor.end
    text = track.text
    default = dominant_line_end(text if line_ends(text) else hunk.new)
    above = line_end(lines[first - 1]) if first else ""
    new = adopt_known_line_ends(new, (hunk.new, hunk.old), default, above)
    # Nothing says otherwise: there is no line above, or none that has an end.
    is_alone = end == 0 or (anchor.is_gap and end == len(lines) and bool(lines[-1]))
    if new and is_alone and not line_end(new):
        return new + default
    if new.endswith("\r") and end < len(lines) and lines[end].startswith("\n"):
        return new + "\n"  # or the line below would be none any more
    return new
