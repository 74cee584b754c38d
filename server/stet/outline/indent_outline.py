r"""The function, class or section that a line of a text belongs to, without a grammar.

Notes are read by their headings, Python by its heads and indents (`python_definitions`), all other
code by the look of its lines (`line_definitions`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from stet.outline.definition import Definition, with_plain_ends
from stet.outline.headings import headings_in
from stet.outline.line_definitions import MAX_NAME, definitions_by_look, has_mask, indent_width
from stet.outline.python_definitions import python_definitions
from stet.text.document import TextDocument, ending_of

_PYTHON = frozenset({".py", ".pyi", ".pyw"})


def is_code(ending: str) -> bool:
    """Return whether files with this ending (`.go`) are known to be code."""
    return ending in _PYTHON or has_mask(ending)


def definitions_in(text: str, lines: Sequence[str], ending: str) -> Iterator[Definition]:
    r"""Yield the definitions of a file in order of position. Nested definitions come after the
    definition that contains them.

    Args:
        text: The text, with `\n` as its only line end.
        lines: The text split at each `\n`.
        ending: The ending of the file's name; it may be unknown.
    """
    if ending in _PYTHON:
        return python_definitions(text, lines)
    return definitions_by_look(text, lines, ending)


class Style(Enum):
    """The kind of outline that a text has."""

    CODE = "code"
    MARKDOWN = "markdown"
    PLAIN = "plain"
    """A text without symbols."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named part of a text that encloses lines.

    Attributes:
        path: The names from the outermost symbol to this one; never empty.
        line: The line with the name (0-based).
    """

    path: tuple[str, ...]
    line: int


class _Section(NamedTuple):
    """The lines of a symbol (0-based, half-open), and its indent in columns; -1 for a heading."""

    first: int
    end: int
    indent: int
    symbol: Symbol


class Outline:
    """The outline of one text.

    Attributes:
        style: The kind of outline.
    """

    def __init__(self, document: TextDocument, style: Style) -> None:
        """Read the text. A text that is too large has no symbols."""
        self.style = style
        self._lines = document.lines
        self._sections: list[_Section] = []
        if style is Style.MARKDOWN and not document.is_large:
            self._sections += _sections_of_note(document)
        elif style is Style.CODE and not document.is_large:
            self._sections += _sections_of_code(document)

    def enclosing(self, line: int, indent: str | None = None) -> Symbol | None:
        """Return the symbol that encloses a line (0-based).

        A line that begins a symbol belongs to that symbol, and a blank line of code to the symbol
        of the line below.

        Args:
            line: The line; a line that does not exist has no enclosing symbol.
            indent: The leading white space of new text that will be inserted *above* `line`, which
                determines its level; None for the line itself.
        """
        step = 1
        if indent is not None:
            line, step = line - 1, -1
        if self.style is Style.CODE:
            while 0 <= line < len(self._lines) and not self._lines[line].strip():
                line += step
        for section in reversed(self._sections):
            is_deep_enough = indent is None or section.indent < indent_width(indent)
            if section.first <= line < section.end and is_deep_enough:
                return section.symbol
        return None

    def number(self, symbol: Symbol) -> int:
        """Return the number (1-based) of a symbol among those with its path, such as overloads.

        Unlike its line, the number does not change when lines are typed above the symbol.
        """
        symbols = (section.symbol for section in self._sections)
        return 1 + sum(each.path == symbol.path and each.line < symbol.line for each in symbols)


def nested_definitions(
    document: TextDocument, ending: str
) -> Iterator[tuple[Definition, str, tuple[str, ...]]]:
    """Yield each definition of a file with its head line and its path: the names of the enclosing
    definitions, from the outermost, and its own name.
    """
    text = with_plain_ends(document.text)
    lines = text.split("\n")
    above: list[tuple[int, str]] = []
    for each in definitions_in(text, lines, ending):
        while above and above[-1][0] <= each.head:
            above.pop()
        above.append((each.end, each.name))
        yield each, lines[each.head], tuple(name for _, name in above)


def _sections_of_code(document: TextDocument) -> Iterator[_Section]:
    for each, head, path in nested_definitions(document, ending_of(document.uri)):
        yield _Section(each.first, each.end, indent_width(head), Symbol(path, each.head))


def _sections_of_note(document: TextDocument) -> Iterator[_Section]:
    above: list[tuple[int, str]] = []
    for heading in headings_in(document.text):
        above = [each for each in above if each[0] < heading.level]
        above.append((heading.level, heading.title[:MAX_NAME] or "(untitled)"))
        symbol = Symbol(tuple(title for _, title in above), heading.line - 1)
        yield _Section(symbol.line, document.n_lines + 1, -1, symbol)
