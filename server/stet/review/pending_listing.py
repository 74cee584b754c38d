"""A file's lines as its agent sees them: numbered, with its own pending hunks between them."""

from stet.review.pending_view import PendingView
from stet.review.proposal import Hunk
from stet.text.lines import whole_lines
from stet.text.render import mark_lines, number_lines

MAX_CHARACTERS = 20_000
"""How much pending text is shown with the lines of a file."""


def render_listing(view: PendingView, first: int, end: int) -> str:
    """Lines `first` to `end` (0-based, half-open), numbered, with the pending hunks between them.

    The numbers are those of the text as it is. A pending line has the id of its hunk and a `+` for
    its number, and stands behind the lines it is to take the place of; a legend at the end says
    which these are.
    """
    lines = view.live.lines
    shown: list[str] = []
    legend: list[str] = []
    done, room = first, MAX_CHARACTERS
    for hunk in view.hunks:
        start, stop_line = hunk.range.start.line, hunk.range.line_after
        if not (start < end and stop_line > first) and not (
            start == stop_line and first <= start <= end
        ):
            continue
        stop = max(done, min(stop_line, end))
        shown.append(number_lines(lines[done:stop], first=done + 1))
        room -= len(hunk.new)
        shown.append(mark_lines(whole_lines(hunk.new), hunk.id) if room >= 0 else "")
        legend.append(_describe_hunk(hunk, start, stop_line) + ("" if room >= 0 else " (cut)"))
        done = stop
    shown.append(number_lines(lines[done:end], first=done + 1))
    if legend:
        shown.append(
            "(Your pending proposals, not in the file and without line numbers: "
            f"{'; '.join(legend)}.)\n"
        )
    return "".join(shown)


def _describe_hunk(hunk: Hunk, start: int, stop_line: int) -> str:
    """What a hunk does, in a few words; lines are counted from 1."""
    if start == stop_line:
        return f"{hunk.id} adds its lines before line {start + 1}"
    lines = f"line {stop_line}" if stop_line == start + 1 else f"lines {start + 1}-{stop_line}"
    return f"{hunk.id} replaces {lines}" if hunk.new else f"{hunk.id} takes out {lines}"
