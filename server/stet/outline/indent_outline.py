r"""The function, class or section that a line of a text belongs to.

Code is read by its indents and by lines that look like definitions
(`stet.outline.line_definitions`), from the line upwards and only as far as necessary. Markdown is
read once from the top: only this distinguishes a heading from a comment in a fenced block.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from stet.outline.line_definitions import MAX_NAME, defined_name
from stet.text.lines import front_matter_end, without_end
from stet.text.reindent import indent_of

MAX_DISTANCE = 5000
"""Lines looked at between a line and what encloses it."""
MAX_BLANK = 50
"""Empty lines looked over for one that tells the indent."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_CLOSERS = (")", "]", "}", "{", "end")
_ABOVE = ("@", "#[", "///", "/**", "*", "//", "# ")
_TRANSPARENT = re.compile(
    r"#\s*(?:if|ifdef|ifndef|else|elif|endif|define|undef|pragma|include)\b|//|--|/\*|\*|(?!(?:else|try|finally|do|begin)\b)\w+:\s*$"
)
_TAB = 8


class Style(Enum):
    """How a text is laid out."""

    CODE = "code"
    MARKDOWN = "markdown"
    PLAIN = "plain"
    """Nothing in it encloses anything."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something with a name that encloses lines.

    Attributes:
        path: Names from the outermost to its own; never empty.
        line: Where it begins (0-based).
    """

    path: tuple[str, ...]
    line: int


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class Outline:
    """The outline of one text.

    Attributes:
        lines: All of it, with or without line ends.
        style: How it is laid out.
    """

    lines: Sequence[str]
    style: Style

    def enclosing(self, line: int, indent: str | None = None) -> Symbol | None:
        """Return the symbol that encloses a line (0-based).

        A line that begins a symbol belongs to that symbol.

        Args:
            line: The line; a line that does not exist has no enclosing symbol.
            indent: Given for new text that will be inserted *above* `line`: the white space at its
                beginning, which determines its level.
        """
        if self.style is Style.PLAIN or not 0 <= line <= len(self.lines):
            return None
        if self.style is Style.MARKDOWN:
            return self._section(line if indent is None else line - 1)
        if indent is not None:
            return self._symbol(line - 1, _width(indent))
        if line == len(self.lines):
            return None
        return self._at(self._skip_decorators(line))

    # -- code ------------------------------------------------------------------------------------

    def _at(self, line: int) -> Symbol | None:
        """Return the symbol that encloses an existing line of code."""
        n_blank = 0
        while not self.lines[line].strip():
            line, n_blank = line + 1, n_blank + 1
            if line == len(self.lines) or n_blank > MAX_BLANK:
                return None
        text = self.lines[line].strip()
        indent = _width(indent_of(self.lines[line]))
        if text.startswith(_CLOSERS):
            return self._symbol(line - 1, indent + 1)
        if self._name(line):
            return self._symbol(line, indent + 1)
        return self._symbol(line - 1, indent)

    def _symbol(self, line: int, below: int) -> Symbol | None:
        """Return the innermost definition at or above `line` with an indent below `below` columns."""
        found: list[tuple[str, int]] = []
        last = line - MAX_DISTANCE
        while below > 0 and line >= max(last, 0):
            text = self.lines[line]
            stripped = text.strip()
            if stripped and (indent := _width(indent_of(text))) < below:
                at = self._skip_decorators(line)
                if name := self._name(at):
                    found.append((name, at))
                    below, last = indent, line - MAX_DISTANCE
                elif stripped.startswith(_CLOSERS):
                    below = indent + 1
                elif not _TRANSPARENT.match(stripped):
                    below = indent
            line -= 1
        if not found:
            return None
        return Symbol(tuple(name for name, _ in reversed(found)), found[0][1])

    def _name(self, line: int) -> str | None:
        following = self.lines[line + 1] if line + 1 < len(self.lines) else ""
        return defined_name(self.lines[line], following)

    def _skip_decorators(self, line: int) -> int:
        """Return the line of the definition that follows a decorator or comment at `line`, else
        `line`.
        """
        if not self.lines[line].lstrip().startswith(_ABOVE):
            return line
        indent = _width(indent_of(self.lines[line]))
        for at in range(line + 1, min(line + MAX_BLANK, len(self.lines))):
            text = self.lines[at].strip()
            width = _width(indent_of(self.lines[at]))
            if not text or width < indent:
                return line
            if width == indent and not text.startswith((*_ABOVE, *_CLOSERS)):
                return at if self._name(at) else line
        return line

    # -- Markdown --------------------------------------------------------------------------------

    def _section(self, line: int) -> Symbol | None:
        starts = self._headings[0]
        at = bisect_right(starts, line) - 1
        return Symbol(self._headings[1][at], starts[at]) if at >= 0 else None

    @cached_property
    def _headings(self) -> tuple[list[int], list[tuple[str, ...]]]:
        """Where each section begins, and the titles down to its own."""
        starts, paths = [], []
        above: list[tuple[int, str]] = []
        for line, level, title in _headings(self.lines):
            above = [entry for entry in above if entry[0] < level]
            above.append((level, title))
            starts.append(line)
            paths.append(tuple(name for _, name in above))
        return starts, paths


def _headings(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Line, level and title of every heading outside front matter and fenced blocks.

    The rules are CommonMark's (0.31, 4.2, 4.3, 4.5), without containers.
    """
    found: list[tuple[int, int, str]] = []
    fence, before = "", ""
    for number in range(front_matter_end(lines), len(lines)):
        text = without_end(lines[number])
        if marks := _FENCE.match(text):
            fence = _fenced(fence, marks[1], marks[2])
            before = ""
        elif fence:
            continue
        elif heading := _HEADING.match(text):
            found.append((number, len(heading[1]), _title(heading[2] or "")))
            before = ""
        elif before.strip() and (line := _UNDERLINE.match(text)):
            found.append((number - 1, 1 if line[1][0] == "=" else 2, _title(before)))
            before = ""
        else:
            before = "" if text.startswith(("    ", "\t", ">", "-", "*", "|")) else text
    return found


def _fenced(fence: str, marks: str, rest: str) -> str:
    """Return the fence that is open after a line of `marks`, given the fence open before."""
    if not fence:
        return "" if marks[0] == "`" and "`" in rest else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip()
    return "" if closes else fence


def _title(text: str) -> str:
    """Return a heading's text without closing marks, short, on one line."""
    plain = re.sub(r"(?:^|[ \t])#+[ \t]*$", "", text.strip()[:200])
    return " ".join(plain.split())[:MAX_NAME] or "(untitled)"


def _width(indent: str) -> int:
    """Columns of an indent."""
    return len(indent.expandtabs(_TAB)) if "\t" in indent else len(indent)
