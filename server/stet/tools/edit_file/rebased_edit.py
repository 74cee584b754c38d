"""An edit of a very long text, rebased onto changes that the user has typed elsewhere meanwhile.

Another search takes a second, and the next keystroke comes sooner.
"""

from collections.abc import Sequence
from dataclasses import replace

from stet.review.proposal import EditDraft
from stet.review.resolve.prepared_edit import PreparedEdit
from stet.review.tracking.tracked_span import range_of
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextChange, TextEdit
from stet.text.lines import n_breaks
from stet.text.position import Range


def rebase_prepared(
    prepared: PreparedEdit, changes: Sequence[TextChange], now: TextDocument
) -> PreparedEdit | None:
    """Return an authorized edit, rebased onto the current text.

    Args:
        prepared: The edit, for the text before `changes`.
        changes: The changes since, in order.
        now: The text after them.

    Returns:
        The edit; None if a change is in its lines or beside them, or it is not an edit.
    """
    draft = prepared.draft
    if not isinstance(draft, EditDraft):
        return None
    firsts = [
        shift_first_line((hunk.old_start, hunk.old_start + len(hunk.old)), changes)
        for hunk in prepared.authorized.hunks
    ]
    places = [first for first in firsts if first is not None]
    if len(places) < len(firsts):
        return None
    line_hunks = tuple(
        replace(hunk, old_start=first, new_start=hunk.new_start + first - hunk.old_start)
        for hunk, first in zip(prepared.authorized.hunks, places, strict=True)
    )
    ranges = [range_of(now.lines, one.old_start, one.old_end) for one in line_hunks]
    edit = TextEdit(
        tuple(
            Replacement(now.offset_at(at.start), now.offset_at(at.end), hunk.new)
            for at, hunk in zip(ranges, prepared.hunks, strict=True)
        )
    )
    return replace(
        prepared,
        draft=replace(draft, document=now, edit=edit, notes=()),
        authorized=replace(prepared.authorized, hunks=line_hunks),
        hunks=tuple(replace(one, range=at) for one, at in zip(prepared.hunks, ranges, strict=True)),
    )


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
