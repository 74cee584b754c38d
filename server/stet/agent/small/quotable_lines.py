"""What a small model may quote of a file as `old_text`: lines that are there, each so that it is unique."""

import re
from dataclasses import dataclass

from stet.outline.definitions import defined_name
from stet.text.document import TextDocument
from stet.text.lines import without_end

MAX_LINES = 60
"""Lines of one file that are shown."""
MAX_CHARACTERS = 2400
"""Of these lines: about 800 tokens of a context of 4096, of which the example takes a third."""
MAX_QUOTE = 160
"""Characters of a line that so small a model can copy."""
MAX_LINES_ABOVE = 4
"""How far up a quote may reach to be unique."""
LINES_BEFORE = 3
"""Lines shown above the place that is asked about."""


@dataclass(frozen=True, slots=True)
class LineWindow:
    r"""The lines of a file that are shown.

    Attributes:
        document: The file.
        first: 0-based.
        end: Behind the last one.
    """

    document: TextDocument
    first: int
    end: int

    @property
    def is_whole(self) -> bool:
        """Whether these are all."""
        return self.first == 0 and self.end == self.document.n_lines


@dataclass(frozen=True, slots=True)
class QuotableLine:
    r"""A line that may be changed.

    Attributes:
        above: Lines above it that make the quote unique, each with `\n`; mostly none.
        indent: The white space it begins with.
        line: The rest of it, without line end; never empty.
    """

    above: str
    indent: str
    line: str

    @property
    def unchanged_prefix(self) -> str:
        """What stays of the quoted text in front of what changes."""
        return self.above + self.indent

    @property
    def text(self) -> str:
        """All that is quoted."""
        return self.unchanged_prefix + self.line


def window(document: TextDocument, line: int | None, request: str) -> LineWindow:
    """Return the lines to show: all, or as many as fit a small context from a place on.

    The place is `line` (0-based) if the user has selected it, else the first definition that the
    wish names, else the beginning.
    """
    total = document.n_lines
    if total <= MAX_LINES and len(document.text) <= MAX_CHARACTERS:
        return LineWindow(document, 0, total)
    place = _named_line(document, request) if line is None else line
    first = max(0, min(place, total - 1) - LINES_BEFORE)
    end, size = first, 0
    while end < min(total, first + MAX_LINES):
        size += len(document.lines[end])
        if size > MAX_CHARACTERS and end > first:
            break
        end += 1
    return LineWindow(document, first, end)


def find_quotes(window: LineWindow) -> tuple[QuotableLine, ...]:
    """Return a quote for each shown line that is not blank or too long and can be made unique."""
    lines = [without_end(line) for line in window.document.lines]
    text = "\n".join(lines)
    found = (_quote(text, lines, n, window.first) for n in range(window.first, window.end))
    return tuple(quote for quote in found if quote is not None)


def _quote(text: str, lines: list[str], n: int, first: int) -> QuotableLine | None:
    whole = lines[n]
    line = whole.lstrip()
    if not line or len(whole) > MAX_QUOTE:
        return None
    indent = whole[: len(whole) - len(line)]
    for start in range(n, max(first, n - MAX_LINES_ABOVE) - 1, -1):
        above = "".join(f"{each}\n" for each in lines[start:n])
        quoted = above + whole
        if text.find(quoted) == text.rfind(quoted):  # places that overlap count
            return QuotableLine(above, indent, line)
    return None


def _named_line(document: TextDocument, request: str) -> int:
    words = set(re.findall(r"\w+", request))
    return next(
        (n for n, line in enumerate(document.lines) if defined_name(line) in words),
        0,
    )
