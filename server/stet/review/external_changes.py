"""What was changed in a text beside the accepted hunks that stand in it."""

from collections.abc import Iterable, Sequence

from stet.review.proposal import Hunk
from stet.text.diff import LineHunk, diff_lines
from stet.text.document import TextDocument
from stet.text.lines import whole_lines


def external_changes(
    before: TextDocument, now: TextDocument, accepted: Sequence[Hunk]
) -> tuple[LineHunk, ...]:
    """What leads from `before` to `now`, but for accepted hunks that stand in `now` as they were written.

    Those are taken out of `now` before the two are compared, where the two differ at their places.
    New lines are counted in `now`, from 0.
    """
    changes = diff_lines(before.lines, now.lines)
    hunks = sorted(
        (hunk for hunk in accepted if _is_part_of(hunk, now, changes)),
        key=lambda hunk: hunk.range.start,
    )
    if not hunks:
        return changes
    lines, done = [], 0
    for hunk in hunks:
        start, end = _lines_of(hunk)
        if start < done:
            continue
        lines += [*now.lines[done:start], *whole_lines(hunk.old)]
        done = end
    lines += now.lines[done:]
    return tuple(
        LineHunk(one.old_start, one.old, _line_with(one.new_start, hunks), one.new)
        for one in diff_lines(before.lines, lines)
        # Where a hunk is at the end, the empty rest behind the last line end may be one too many.
        if "".join(one.old) != "".join(one.new)
    )


def _is_part_of(hunk: Hunk, now: TextDocument, changes: Sequence[LineHunk]) -> bool:
    """Whether an accepted hunk stands in `now` as it was written, and is among the changes."""
    if now.text_in(hunk.range) != hunk.new:
        return False
    start, end = _lines_of(hunk)
    if start == end:
        return any(
            one.new_start <= start <= one.new_start + len(one.new) and hunk.old in "".join(one.old)
            for one in changes
        )
    return any(
        change.new_start < end and start < change.new_start + len(change.new) for change in changes
    )


def _lines_of(hunk: Hunk) -> tuple[int, int]:
    """The lines of an accepted hunk in the text as it is, from 0, half-open."""
    start = hunk.range.start.line
    return start, start + len(whole_lines(hunk.new))


def _line_with(line: int, hunks: Iterable[Hunk]) -> int:
    """A line of the text without accepted hunks, in the text with them."""
    for hunk in hunks:
        n_old = len(whole_lines(hunk.old))
        if line >= hunk.range.start.line + n_old:
            line += len(whole_lines(hunk.new)) - n_old
    return line
