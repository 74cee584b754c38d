"""Which characters a rewrite is about, and what of the text around them a model is shown."""

from bisect import bisect_left, bisect_right

from stet.agent.rewriting.rewrite_passage import RewritePassage
from stet.agent.turn_errors import TurnFailed
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.redactor import Redactor

MAX_LINES = 30
"""Lines that are shown before a selection, and after it."""
MAX_CHARACTERS = 3000
"""Characters that are shown before a selection, and after it."""
_MARGIN = 1000
"""Characters beyond what is shown in which a secret is looked for that the cut would split."""


def passage_at(
    document: TextDocument, name: str, selected: Range, prompt: str, redactor: Redactor | None
) -> RewritePassage:
    """Make a passage of exactly the selected characters.

    It looks for secrets, which takes long in a long selection: call it in a worker thread.

    Args:
        document: The text as the model may see it.
        name: What the model calls the file.
        selected: Positions of `document` in code points.
        prompt: What the user wants.
        redactor: Knows the secrets of `document`; None where they are not kept from the model.

    Raises:
        TurnFailed: If a part of a secret would have to be shown.
    """
    start, end = document.offset_at(selected.start), document.offset_at(selected.end)
    first, last = _window(document, selected)
    if redactor is not None:
        margin = max(0, first - _MARGIN)
        found = redactor.secret_spans(document.text[margin : last + _MARGIN])
        secrets = [(margin + begins, margin + ends) for begins, ends in found]
        _check_secrets(document.text, (start, end), secrets, redactor)
        first, last = _outside(secrets, first, last)
    passage = RewritePassage.of(document, name, selected, prompt)
    return passage.with_surroundings(document.text[first:start], document.text[end:last])


def _window(document: TextDocument, selected: Range) -> tuple[int, int]:
    """Return the offsets between which the text is shown."""
    start, end = document.offset_at(selected.start), document.offset_at(selected.end)
    top = document.offset_at(Position(max(0, selected.start.line - MAX_LINES), 0))
    bottom = document.offset_at(Position(selected.last_line + 1 + MAX_LINES, 0))
    if start - top > MAX_CHARACTERS:
        top = _next_line(document, start - MAX_CHARACTERS, start)
    if bottom - end > MAX_CHARACTERS:
        bottom = _previous_line(document, end + MAX_CHARACTERS, end)
    return top, max(bottom, end)


def _next_line(document: TextDocument, offset: int, most: int) -> int:
    """Return where the first line after `offset` starts, or `offset` if that is after `most`."""
    starts = document.line_starts
    at = bisect_left(starts, offset)
    return starts[at] if at < len(starts) and starts[at] <= most else offset


def _previous_line(document: TextDocument, offset: int, least: int) -> int:
    """Return where the line of `offset` starts, or `offset` if that is before `least`."""
    starts = document.line_starts
    at = starts[bisect_right(starts, offset) - 1]
    return at if at > least else offset


def _check_secrets(
    text: str, selected: tuple[int, int], secrets: list[tuple[int, int]], redactor: Redactor
) -> None:
    """Refuse a selection that would show a secret, or part of one, that its surroundings give away.

    Raises:
        TurnFailed: If it does.
    """
    start, end = selected
    if any(begins < edge < ends for begins, ends in secrets for edge in selected):
        raise TurnFailed(
            "The selection begins or ends within a secret, and part of it would be sent. Select all "
            "of the secret or none of it."
        )
    inside = [text[one[0] : one[1]] for one in secrets if start <= one[0] and one[1] <= end]
    message = redactor.redact(text[start:end]).text if inside else ""
    if any(secret in message for secret in inside):
        raise TurnFailed(
            "The selection holds a secret that can't be told from other words without what is around "
            "it. Select whole lines, or none of the secret."
        )


def _outside(secrets: list[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    """Return the window with its edges moved inwards, out of secrets."""
    for begins, ends in secrets:
        first = ends if begins < first < ends else first
        last = begins if begins < last < ends else last
    return first, last
