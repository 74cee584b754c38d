"""An edit of the text that a model was shown, merged with what the user has typed there since."""

from collections.abc import Iterator

from stet.text.change import Bias, map_position
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines
from stet.text.match_result import EditAlreadyApplied
from stet.text.merge import merge
from stet.text.normalized_text import ShownText
from stet.text.position import Position


def rebase_text_edit(edit: TextEdit, shown_text: ShownText, current: str) -> TextEdit | None:
    """Return `edit`, which was made for the text shown, as an edit of `current`.

    The lines it touches, with one more on either side, are followed to where they are now, and
    merged by `stet.text.merge`.

    Args:
        edit: For `seen.text`; with at least one replacement.
        shown_text: What was shown, and what was changed since.
        current: The text as it is now.

    Returns:
        None if the two conflict.

    Raises:
        EditAlreadyApplied: The user has made the same change.
    """
    then, now = TextDocument("", shown_text.text), TextDocument("", current)
    first, end = _lines_of(edit, then)
    old_start, old_end = _start_of(then, first), _start_of(then, end)
    start, stop = _map_lines(shown_text, Position(first, 0), end, then, now)
    base, ours = shown_text.text[old_start:old_end], current[start:stop]
    theirs = TextEdit(tuple(_shifted(edit, old_start))).apply(base)
    merged = merge(base, ours, theirs)
    if merged is None:
        return None
    if merged == ours:
        raise EditAlreadyApplied(now.position_at(start).line + 1)
    made = line_edit(start, ours, merged)
    n_lines = len(now.lines) + len(split_lines(merged)) - len(split_lines(ours))
    if "\r" in current and len(split_lines(made.apply(current))) != n_lines:
        return None  # a `\r` has come to stand before a `\n` of another line
    return made


def line_edit(start: int, old: str, new: str) -> TextEdit:
    """Return the edit of the lines that differ between `old`, at the offset `start`, and `new`."""
    old_lines = split_lines(old)
    starts = [start]
    for line in old_lines:
        starts.append(starts[-1] + len(line))
    return TextEdit(
        tuple(
            Replacement(
                starts[hunk.old_start],
                starts[hunk.old_start + len(hunk.old)],
                "".join(hunk.new),
            )
            for hunk in diff_lines(old_lines, split_lines(new))
        )
    )


def _lines_of(edit: TextEdit, document: TextDocument) -> tuple[int, int]:
    """Return the lines that `edit` touches and one line on either side, half-open."""
    start = document.position_at(edit.replacements[0].start)
    end = document.position_at(max(replacement.end for replacement in edit.replacements))
    stop = end.line + 2 if end.character else end.line + 1
    return max(0, start.line - 1), min(stop, len(document.lines))


def _start_of(document: TextDocument, line: int) -> int:
    """Return the offset at which a line begins; after the last line, the end of the text."""
    if line < len(document.lines):
        return document.offset_at(Position(line, 0))
    return len(document.text)


def _map_lines(
    shown_text: ShownText, start: Position, end_line: int, then: TextDocument, now: TextDocument
) -> tuple[int, int]:
    """Where whole lines are now, without lines that were put at their edges."""
    end = then.position_at(_start_of(then, end_line))
    for change in shown_text.changes:
        start = map_position(start, change, Bias.RIGHT)
        end = map_position(end, change, Bias.LEFT)
    first = _start_of(now, start.line)
    last = _start_of(now, end.line + 1 if end.character else end.line)
    return first, max(first, last)


def _shifted(edit: TextEdit, start: int) -> Iterator[Replacement]:
    """Yield the replacements, with offsets relative to `start`."""
    for replacement in edit.replacements:
        yield Replacement(replacement.start - start, replacement.end - start, replacement.text)
