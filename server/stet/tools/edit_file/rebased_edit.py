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
    line_hunks, hunks, replacements = [], [], []
    for old, hunk in zip(prepared.authorized.hunks, prepared.hunks, strict=True):
        first = shift_first_line((old.old_start, old.old_end), changes)
        if first is None:
            return None
        new = replace(old, old_start=first, new_start=old.new_start + first - old.old_start)
        at = range_of(now.lines, new.old_start, new.old_end)
        line_hunks.append(new)
        hunks.append(replace(hunk, range=at))
        replacements.append(Replacement(now.offset_at(at.start), now.offset_at(at.end), hunk.new))
    edit = TextEdit(tuple(replacements))
    return replace(
        prepared,
        draft=replace(draft, document=now, edit=edit, notes=()),
        authorized=replace(prepared.authorized, hunks=tuple(line_hunks)),
        hunks=tuple(hunks),
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
