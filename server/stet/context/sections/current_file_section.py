"""`<current_file>`: the file the user is in, whole, or what they see of it where it is large."""

from stet.context.context_tags import element, single_line
from stet.context.context_values import ContextSection
from stet.context.current_document import CurrentDocument
from stet.context.excerpt import Excerpt, excerpt_around
from stet.settings.values import Settings
from stet.text.position import Position

MAX_LINE_CONTENT = 500
"""How much of the cursor's line is repeated, in code points."""


def current_file_section(current: CurrentDocument, settings: Settings) -> ContextSection:
    """Path, cursor line (1-based) with its content, and the numbered text."""
    cursor = current.cursor
    excerpt = _window(current, settings.context.current_file_lines)
    head = [f"Path: {single_line(current.name)}"]
    if cursor is not None:
        head += [f"Line: {cursor.line + 1}", f"Line Content: `{_line_content(current, cursor)}`"]
    rest = "" if excerpt.is_whole else "; `read_file` shows the others"
    head.append(f"Lines: {excerpt.lines} of {excerpt.total}{rest}")
    return ContextSection("current_file", element("current_file", "\n".join((*head, excerpt.text))))


def _window(current: CurrentDocument, max_lines: int) -> Excerpt:
    """What the user sees and the cursor's line in the middle; what they see where both are too far apart.

    Where nobody said what the user sees, it is the cursor's line.
    """
    document, visible = current.document, current.visible
    line = None if current.cursor is None else current.cursor.line
    if visible is None:
        return excerpt_around(document, line or 0, max_lines)
    first, last = visible.start.line, visible.last_line
    if line is not None and max(last, line) - min(first, line) < max_lines:
        first, last = min(first, line), max(last, line)
    excerpt = excerpt_around(document, (first + last + 1) // 2, max_lines)
    # Lines may be so long that few of them are shown.
    is_cut = line is not None and first <= line <= last and not excerpt.holds(line)
    return excerpt_around(document, line or 0, max_lines) if is_cut else excerpt


def _line_content(current: CurrentDocument, cursor: Position) -> str:
    """The cursor's line, or the stretch of it around the cursor where it is long."""
    line = current.document.lines[cursor.line].rstrip("\r\n")
    start = max(0, min(cursor.character - MAX_LINE_CONTENT // 2, len(line) - MAX_LINE_CONTENT))
    excerpt = line[start : start + MAX_LINE_CONTENT]
    before = "(cut)" if start else ""
    after = "(cut)" if start + len(excerpt) < len(line) else ""
    return f"{before}{single_line(excerpt)}{after}"
