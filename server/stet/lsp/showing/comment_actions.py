"""Code actions on a comment that tells the agent what to do."""

from collections.abc import Sequence

from lsprotocol import types as lsp

from stet.lsp.showing.action import REWRITE, SOURCE, bare
from stet.text.instruction_glance import marker_on
from stet.text.instruction_marks import Marker
from stet.text.position import Range

MAX_LINES = 200
"""Of a selection, how many lines are looked at."""
_OFFERS = {
    Marker.DO: ("Do what the comment says", REWRITE),
    Marker.ANSWER: ("Answer the comment", SOURCE),
}


def comment_actions(uri: str, lines: Sequence[str], place: Range) -> list[lsp.CodeAction]:
    """What comments on these lines ask for, at a glance; whether they are comments is seen later.

    One of each kind at most, of the first that asks for it.
    """
    first = place.start.line
    seen: dict[Marker, int] = {}
    for number, line in enumerate(
        lines[first : min(place.last_line, first + MAX_LINES) + 1], first
    ):
        if (marker := marker_on(line.rstrip("\r\n"))) is not None:
            seen.setdefault(marker, number)
    return [
        bare(title, "stet.carryOut", {"uri": uri, "line": seen[marker] + 1}, kind)
        for marker, (title, kind) in _OFFERS.items()
        if marker in seen
    ]
