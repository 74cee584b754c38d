"""An edit of a very long text, rebased onto changes that the user has typed elsewhere meanwhile.

Another search takes a second, and the next keystroke comes sooner.
"""

from collections.abc import Sequence

from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import PreparedDraft
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.lines import n_breaks
from stet.text.position import Range


def rebase_prepared(
    prepared: PreparedDraft, changes: Sequence[TextChange], now: TextDocument
) -> PreparedDraft | None:
    """Return an authorized edit, rebased onto the current text.

    Args:
        prepared: The edit, for the text before `changes`.
        changes: The changes since, in order.
        now: The text after them.

    Returns:
        The edit; None if a change is in its lines or beside them, or it is not an edit.
    """
    if not isinstance(prepared.draft, EditDraft):
        return None
    firsts = []
    for hunk in prepared.authorized.hunks:
        first = shift_first_line((hunk.old_start, hunk.old_end), changes)
        if first is None:
            return None
        firsts.append(first)
    return prepared.moved_to(now, firsts)


def shift_range(line_range: Range, changes: Sequence[TextChange]) -> Range | None:
    """Return whole lines after `changes`; None if a change is in them or beside them."""
    first = shift_first_line((line_range.start.line, line_range.end.line), changes)
    if first is None:
        return None
    return line_range.shifted(first - line_range.start.line)


def shift_first_line(lines: tuple[int, int], changes: Sequence[TextChange]) -> int | None:
    """Return the first of some lines (0-based, half-open) after `changes`; None as in
    `shift_range`.
    """
    first, end = lines
    for change in changes:
        begin, last = change.range.start.line, change.range.end.line
        if begin > end:
            continue
        if last >= first - 1:
            return None
        n = n_breaks(change.text) - (last - begin)
        first, end = first + n, end + n
    return first
