"""Which hunks are one thing to a reader: those of one proposal in one function or section."""

from functools import lru_cache

from stet.outline.definitions import defined_name
from stet.outline.indent_outline import Outline, Style, Symbol
from stet.text.document import TextDocument
from stet.text.lines import split_lines
from stet.text.position import Range
from stet.text.reindent import indent_of

_PLAIN = frozenset(
    {"", "txt", "text", "log", "csv", "tsv", "json", "jsonl", "xml", "html", "svg", "lock", "diff"}
)
_PLAIN_LANGUAGES = frozenset({"plaintext", "text", "json", "csv", "xml", "html", "diff"})


def section_key(document: TextDocument, place: Range, new: str = "") -> str:
    """Return a key for what encloses a hunk, shared by all hunks in one function or section.
    Appended to the id of their proposal, the key is their group.

    `:Shape.area` names what encloses the hunk, `@2:Shape.area` the second of that name; nothing says
    that nothing encloses it, or more than one thing: it is alone.

    Args:
        document: The text as it is.
        place: The whole lines that the hunk replaces; empty where it only adds.
        new: What it writes; its indent tells where an addition belongs.
    """
    sections = _sections(document)
    symbol = _enclosing(sections.outline, place, new)
    if symbol is None:
        return ""
    separator = " > " if sections.outline.style is Style.MARKDOWN else "."
    nth = sections.number(symbol)
    return f"{f'@{nth}' if nth > 1 else ''}:{separator.join(symbol.path)}"


def group_label(group: str) -> str | None:
    """Return what the hunks of a group are in, as a name for people; None if there is no name."""
    return group.partition(":")[2] or None


def style_of(document: TextDocument) -> Style:
    """How a document is laid out, by the editor's name for its language, else by its file's name."""
    if document.is_markdown:
        return Style.MARKDOWN
    language = document.language_id.lower()
    name = document.uri.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if language in _PLAIN_LANGUAGES or (not language and suffix in _PLAIN):
        return Style.PLAIN
    return Style.CODE


class _OutlineSections:
    """What there is in one text to be in."""

    def __init__(self, document: TextDocument) -> None:
        self.outline = Outline(document.lines, style_of(document))
        self._numbers: dict[Symbol, int] = {}

    def number(self, symbol: Symbol) -> int:
        """Which one of that name it is, from 1: overloads, a property's two functions, headings.

        Counted, as its line changes with every line that is typed above it.
        """
        if symbol not in self._numbers:
            above = sum(self._is_namesake(line, symbol) for line in range(symbol.line))
            self._numbers[symbol] = 1 + above
        return self._numbers[symbol]

    def _is_namesake(self, line: int, symbol: Symbol) -> bool:
        """Whether something else of a symbol's name begins at a line."""
        lines, name = self.outline.lines, symbol.path[-1]
        if name.partition(" ")[0] not in lines[line]:  # most lines, at little cost
            return False
        is_code = self.outline.style is Style.CODE
        if is_code and defined_name(lines[line], lines[line + 1]) != name:
            return False
        other = self.outline.enclosing(line)
        return other is not None and (other.line, other.path) == (line, symbol.path)


@lru_cache(maxsize=2)  # the hunks of one edit come together; a long page is read once for them
def _sections(document: TextDocument) -> _OutlineSections:
    return _OutlineSections(document)


def _enclosing(outline: Outline, place: Range, new: str) -> Symbol | None:
    first = place.start.line
    if place.is_empty:
        line = next((line for line in split_lines(new) if line.strip()), "")
        return outline.enclosing(first, indent_of(line))
    symbol = outline.enclosing(first)
    if symbol is None or place.last_line == first:
        return symbol
    return symbol if outline.enclosing(place.last_line) == symbol else None
