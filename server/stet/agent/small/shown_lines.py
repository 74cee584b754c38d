"""Lines of a file as a small model is shown them: in a fenced block, below the name of the file.

All lines are 0-based and half-open.
"""

from stet.agent.small.edit_target import Lines
from stet.text.document import TextDocument, ending_of
from stet.text.lines import without_end
from stet.text.render import fence_for

MAX_LINES = 250
"""The most lines of one file, around the place that the question is about."""


def file_text(name: str, document: TextDocument, lines: Lines) -> str:
    """Return lines of a file (0-based, half-open) as they are shown."""
    is_whole = lines == (0, document.n_lines)
    where = "" if is_whole else f", lines {lines[0] + 1} to {lines[1]}"
    return f"The file {name}{where}:\n\n{fenced_lines(document, *lines)}"


def fenced_lines(document: TextDocument, first: int, end: int) -> str:
    """Return lines of a file (0-based, half-open) as a fenced block."""
    lines = "".join(f"{without_end(line)}\n" for line in document.lines[first:end])
    fence = fence_for(lines)
    return f"{fence}{ending_of(document.uri).removeprefix('.')}\n{lines}{fence}"


def lines_around(document: TextDocument, line: int, limit: int) -> Lines:
    """Return the lines to show (0-based, half-open), around a line.

    `limit` is the most characters of them.
    """
    if document.n_lines <= MAX_LINES and not document.is_large and len(document.text) <= limit:
        return 0, document.n_lines
    line = min(line, document.n_lines - 1)
    first, end, size = line, line, 0
    while end - first < MAX_LINES:
        candidate = (
            end if end - line <= 2 * (line - first) and end < document.n_lines else first - 1
        )
        if candidate < 0:
            candidate = end
        if candidate >= document.n_lines:
            break
        size += len(document.lines[candidate])
        if size > limit:
            break
        first, end = min(first, candidate), max(end, candidate + 1)
    return first, end
