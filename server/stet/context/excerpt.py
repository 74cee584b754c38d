"""Parts of a document, as the model sees them."""

from dataclasses import dataclass

from stet.context.context_tags import escape_tags
from stet.text.document import TextDocument
from stet.text.lines import without_end
from stet.text.render import number_lines

CHARACTERS_PER_LINE = 200
"""What a limit in lines allows in characters, per line: minified code has few lines and no end."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a document.

    Attributes:
        text: Numbered as `read_file` numbers them, and made harmless.
        first: Of the lines shown, 1-based; 0 where there are none.
        last: Included; 0 where there are none.
        total: Lines of the document.
    """

    text: str
    first: int
    last: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether every line of the document is in it."""
        return self.last - max(self.first, 1) + 1 == self.total

    def holds(self, line: int) -> bool:
        """Whether a line (0-based) of the document is in it."""
        return self.first <= line + 1 <= self.last

    @property
    def lines(self) -> str:
        """`1-20`; `0-0` for none."""
        return f"{self.first}-{self.last}"


def head_excerpt(document: TextDocument, max_lines: int) -> Excerpt:
    """Return the first lines of a document."""
    return excerpt_around(document, 0, max_lines)


def excerpt_around(document: TextDocument, line: int, max_lines: int) -> Excerpt:
    """At most `max_lines` lines of a document, with `line` (0-based) in their middle."""
    total = document.n_lines
    n_lines = min(max_lines, total)
    if n_lines == 0:
        return Excerpt("", 0, 0, total)
    line = max(0, min(line, total - 1))
    first = max(0, min(line - n_lines // 2, total - n_lines))
    limit = max_lines * CHARACTERS_PER_LINE
    first, last = _limit_lines(document, line, (first, first + n_lines), limit)
    return Excerpt(escape_tags(_render(document, first, last, limit)), first + 1, last, total)


def _render(document: TextDocument, first: int, last: int, limit: int) -> str:
    """Numbered lines; where a single one is left that is too long, its start."""
    lines = document.lines[first:last]
    n_cut = len(without_end(lines[0])) - limit if len(lines) == 1 else 0
    if n_cut <= 0:
        return number_lines(lines, first=first + 1)
    text = number_lines([lines[0][:limit]], first=first + 1)
    return f"{text}(cut: {n_cut} more characters in this line)\n"


def _limit_lines(
    document: TextDocument, line: int, lines: tuple[int, int], limit: int
) -> tuple[int, int]:
    """`lines` (half-open), made fewer from the far end until they hold at most `limit` characters."""
    first, last = lines
    size = sum(map(len, document.lines[first:last]))
    while size > limit and last - first > 1:
        if line - first > last - 1 - line:
            size -= len(document.lines[first])
            first += 1
        else:
            last -= 1
            size -= len(document.lines[last])
    return first, last
