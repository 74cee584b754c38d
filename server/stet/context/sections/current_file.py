"""`<current_file>`: the file the user is in, whole, or around the cursor where it is large."""

from stet.context.current import Current
from stet.context.excerpt import around
from stet.context.tags import element, on_one_line
from stet.context.values import Section
from stet.settings.values import Settings
from stet.text.position import Position

MAX_LINE_CONTENT = 500
"""How much of the cursor's line is repeated, in code points."""


def current_file(current: Current, settings: Settings) -> Section:
    """Path, cursor line (1-based) with its content, and the numbered text."""
    document, cursor = current.document, current.cursor
    excerpt = around(
        document, 0 if cursor is None else cursor.line, settings.context.current_file_lines
    )
    head = [f"Path: {on_one_line(current.name)}"]
    if cursor is not None:
        head += [f"Line: {cursor.line + 1}", f"Line Content: `{_line_content(current, cursor)}`"]
    rest = "" if excerpt.is_whole else "; `read_file` shows the others"
    head.append(f"Lines: {excerpt.lines} of {excerpt.total}{rest}")
    return Section("current_file", element("current_file", "\n".join((*head, excerpt.text))))


def _line_content(current: Current, cursor: Position) -> str:
    """The cursor's line, or the stretch of it around the cursor where it is long."""
    line = current.document.lines[cursor.line].rstrip("\r\n")
    start = max(0, min(cursor.character - MAX_LINE_CONTENT // 2, len(line) - MAX_LINE_CONTENT))
    shown = line[start : start + MAX_LINE_CONTENT]
    before = "(cut)" if start else ""
    after = "(cut)" if start + len(shown) < len(line) else ""
    return f"{before}{on_one_line(shown)}{after}"
