"""Code actions on a comment that tells the agent what to do."""

from collections.abc import Mapping, Sequence

from lsprotocol import types as lsp

from stet.lsp.comment_check import CommentLines
from stet.lsp.presentation.command_action import REWRITE, SOURCE, command_action
from stet.text.ai_comments import Marker, marker_on_line
from stet.text.position import Range

MAX_LINES = 200
"""Of a selection, how many lines are looked at."""
_OFFERS = {
    Marker.DO: ("Do what the comment says", REWRITE),
    Marker.ANSWER: ("Answer the comment", SOURCE),
}

CommentCandidates = Mapping[Marker, Sequence[int]]
"""The lines (0-based) that seem to hold a comment with that mark."""


def find_candidates(lines: Sequence[str], place: Range) -> CommentCandidates:
    """Look for what may be instructions on the lines of `place`, without reading the rest of the text."""
    first = place.start.line
    candidates: dict[Marker, list[int]] = {}
    for number, line in enumerate(
        lines[first : min(place.last_line, first + MAX_LINES) + 1], first
    ):
        if (marker := marker_on_line(line.rstrip("\r\n"))) is not None:
            candidates.setdefault(marker, []).append(number)
    return candidates


def comment_actions(
    uri: str, candidates: CommentCandidates, known: CommentLines | None
) -> list[lsp.CodeAction]:
    """Return the actions that comments ask for, at most one of each kind. Each is for the first
    comment that asks for it.

    Args:
        uri: Of the document.
        candidates: What seems to be an instruction.
        known: Where instructions are; None if that can't be told: then what seems to be one counts.
    """
    actions = []
    for marker, (title, kind) in _OFFERS.items():
        lines = candidates.get(marker, ())
        line = next(
            (n for n in lines if known is None or any(n in candidate for candidate in known)), None
        )
        if line is not None:
            actions.append(
                command_action(title, "stet.carryOut", {"uri": uri, "line": line + 1}, kind)
            )
    return actions
