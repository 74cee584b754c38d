r"""Functions and classes of Python, found by their heads and indents, without a tree.

A parser's tree alone takes longer than cutting a file, and gives the same result for code as people
write it. If the two differ (a line in brackets that is indented less than its function), a
definition ends early and nothing is lost. Takes time linear in the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from stet.outline.definition import MAX_SIGNATURE, Definition
from stet.text.masking import blank

MAX_DEPTH = 8
"""The deepest nesting of definitions; deeper definitions are part of the innermost."""
MAX_HEAD = 4_000
"""The most characters of a head that are read."""

_HEAD = re.compile(
    r"\n(?P<indent>[ \t]*+)(?:@[ \t]*+\w|"
    r"(?P<told>(?:async[ \t]++)?(?P<kind>def|class)[ \t]++(?P<name>\w++)[ \t]*+[(:\[\\]))"
)
_TOKEN = re.compile(
    r"#[^\n]*+"
    r'|"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\[\s\S])*+"?+'
    r"|'(?:[^'\\\n]|\\[\s\S])*+'?+"
)
_MARK = re.compile(_TOKEN.pattern + r"|[()\[\]{}:]")


def python_definitions(text: str, lines: Sequence[str]) -> Iterator[Definition]:
    r"""Yield the definitions of a module in order of position.

    Args:
        text: The text, with `\n` as its only line end.
        lines: The text split at each `\n`.
    """
    # With a line end in front, the line end before each line has the offset of the line.
    code = "\n" + _TOKEN.sub(_without_inner_lines, text)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    open_: list[tuple[int, Definition]] = []
    decorator: tuple[str, int] | None = None
    floor = 0
    for match in _HEAD.finditer(code):
        place, indent = match.start(), match["indent"]
        while open_ and open_[-1][0] <= place:
            floor = open_.pop()[1].end
        if len(open_) == MAX_DEPTH:
            continue
        if match["told"] is None:
            decorator = decorator or (indent, place)
            continue
        if open_:
            floor = max(floor, open_[-1][1].head + 1)
        head = bisect_left(starts, place)
        is_decorated = decorator is not None and decorator[0] == indent
        first = bisect_left(starts, decorator[1]) if decorator and is_decorated else head
        decorator = None
        while first > floor and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        limit = open_[-1][0] if open_ else len(code)
        below = _outside(len(indent)).search(code, match.end(), limit)
        stop = limit if below is None else below.start()
        end = _without_comments(lines, bisect_left(starts, stop), head, len(indent))
        signature = _signature(code, match.start("told"))
        each = Definition(first, head, end, match["name"], signature, match["kind"] == "class")
        open_.append((stop, each))
        yield each


def _without_inner_lines(token: re.Match[str]) -> str:
    """Blank the lines of a comment or a string after the first. The length stays."""
    first, line_end, rest = token[0].partition("\n")
    return f"{first}\n{blank(rest[:-1])}\\" if rest else first + line_end


@lru_cache(maxsize=256)
def _outside(indent: int) -> re.Pattern[str]:
    """Return a pattern for a line with code at `indent` characters or less, except closing brackets
    and the end of a string.
    """
    return re.compile(rf"\n[ \t]{{0,{indent}}}+(?=[^ \t\n#)\]}}\\])")


def _without_comments(lines: Sequence[str], end: int, head: int, indent: int) -> int:
    """Return `end` without the blank lines and the outer comments before it."""
    while end > head + 1:
        line = lines[end - 1]
        rest = line.lstrip()
        if rest and not (rest[0] == "#" and len(line) - len(rest) <= indent):
            break
        end -= 1
    return end


def _signature(text: str, start: int) -> str:
    """Return the head of a definition up to its colon, without comments. Return the first line if
    the head has no end.
    """
    end = text.find("\n", start)
    line = (text[start:] if end < 0 else text[start:end]).rstrip()
    if len(line) < MAX_HEAD and line[-1] == ":" and line.count("(") == line.count(")"):
        return " ".join(line[:-1].split())[:MAX_SIGNATURE].rstrip()
    pieces: list[str] = []
    depth = 0
    for mark in _MARK.finditer(text, start, start + MAX_HEAD):
        if mark[0] == ":" and not depth:
            line = "".join((*pieces, text[start : mark.start()]))
            break
        depth += (mark[0] in "([{") - (mark[0] in ")]}")
        if mark[0][0] == "#":
            pieces.append(text[start : mark.start()])
            start = mark.end()
    return " ".join(line[:MAX_HEAD].split())[:MAX_SIGNATURE].rstrip()
