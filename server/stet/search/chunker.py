r"""A file cut into the passages that are searched, by what the ending of its name says it is.

No grammar is asked here: its parser can take more than a minute for 20,000 characters that were made
for it, and nothing can stop it. `outliner.py` asks, and what it was told is taken. All else that is
done here takes time in proportion to the text, whatever the text is.

Functions and classes of Python are found by their heads and indents: no tree is built. A parser's tree alone takes longer than all of this, which tells the same of code as people write
it. Where the two differ (a line in brackets, or of a string behind a backslash, that stands
left of its function), a passage ends early and nothing is lost.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from stet.notes.front_matter import find_front_matter
from stet.notes.note_content import headings_in
from stet.outline.definition import MAX_SIGNATURE, Definition, with_plain_ends
from stet.outline.line_definitions import definitions_by_look, is_code
from stet.search.chunk import Chunk
from stet.search.chunk_splitter import MAX_DEPTH, split_evenly, split_passages
from stet.text.document import NOTES, ending_of


def note_passages(text: str, lines: Sequence[str]) -> Iterator[Chunk]:
    r"""Yield the passages of a note in order of position. A note that is too large to be parsed has
    no headings.

    Args:
        text: With `\n` at its line ends and no others.
        lines: The text cut at each `\n`.
    """
    front = find_front_matter(text)
    below = 0 if front is None else text.count("\n", 0, front.end) + 1
    yield from _plain(lines, 0, below)
    open_: list[tuple[int, str]] = []
    at, name, scope = below, "", ""
    for heading in headings_in(text):
        line = heading.line - 1
        if line < at:
            continue
        yield from _section(lines, at, line, (name, scope))
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        at, name = line, heading.title
        scope = " > ".join(title for _, title in open_)
        open_.append((heading.level, heading.title))
    yield from _section(lines, at, len(lines), (name, scope))


def _section(
    lines: Sequence[str], first: int, end: int, titles: tuple[str, str]
) -> Iterator[Chunk]:
    for start, stop in split_evenly(lines, first, end):
        yield Chunk(start, stop, *titles)


def _plain(lines: Sequence[str], first: int, end: int) -> Iterator[Chunk]:
    for start, stop in split_evenly(lines, first, end):
        yield Chunk(start, stop)


MAX_HEAD = 4_000
"""Characters of a head that are looked at."""

_HEAD = re.compile(
    r"\n(?P<indent>[ \t]*+)(?:@[ \t]*+\w|"
    r"(?P<told>(?:async[ \t]++)?(?P<kind>def|class)[ \t]++(?P<name>\w++)[ \t]*+[(:\[\\]))"
)
_TRIPLE = re.compile(r"\"\"\"|'''")
_TOKEN = re.compile(
    r"\"\"\"|'''|#[^\n]*+|\"(?:[^\"\\\n]|\\[\s\S])*+\"?+|'(?:[^'\\\n]|\\[\s\S])*+'?+"
)
_MARK = re.compile(_TOKEN.pattern + r"|[()\[\]{}:]")


def python_definitions(text: str, lines: Sequence[str]) -> Iterator[Definition]:
    r"""Return the definitions of a module in order of position. Definitions inside short functions
    are left out.

    Args:
        text: With `\n` at its line ends and no others.
        lines: The text cut at each `\n`.
    """
    return _PythonScanner(text, lines).definitions()


class _PythonScanner:
    """One text, with the places of its lines and of its strings of more than one line."""

    def __init__(self, text: str, lines: Sequence[str]) -> None:
        # With one line end in front, the one before each line stands at the line's own offset.
        self._text = f"\n{text}"
        self._lines = lines
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self._strings = [*_triple_quoted(self._text)]
        self._string_starts = [start for start, _ in self._strings]

    def definitions(self) -> Iterator[Definition]:
        """See `python_definitions`."""
        open_: list[tuple[int, Definition]] = []
        decorator: tuple[str, int] | None = None
        floor = 0
        for match in _HEAD.finditer(self._text):
            place = match.start()
            while open_ and open_[-1][0] <= place:
                floor = open_.pop()[1].end
            if open_ and (len(open_) == MAX_DEPTH or not open_[-1][1].is_container):
                continue
            if self._string_end(place) is not None:
                continue
            if match["told"] is None:
                decorator = decorator or (match["indent"], place)
                continue
            if open_:
                floor = max(floor, open_[-1][1].head + 1)
            start = decorator[1] if decorator and decorator[0] == match["indent"] else place
            decorator = None
            stop = self._end(match, open_[-1][0] if open_ else len(self._text))
            each = self._definition(match, start, stop, floor)
            open_.append((stop, each))
            yield each

    def _definition(self, match: re.Match[str], start: int, stop: int, floor: int) -> Definition:
        head = bisect_left(self._starts, match.start())
        first = bisect_left(self._starts, start)
        while first > floor and self._lines[first - 1].lstrip().startswith("#"):
            first -= 1
        end = self._without_comments(bisect_left(self._starts, stop), head, len(match["indent"]))
        signature = _signature(self._text, match.start("told"))
        return Definition(first, head, end, match["name"], signature, match["kind"] == "class")

    def _end(self, match: re.Match[str], limit: int) -> int:
        """Where the line end before the first line behind a definition stands."""
        outside = _outside(len(match["indent"]))
        place = match.end()
        while (outer_line := outside.search(self._text, place, limit)) is not None:
            string_end = self._string_end(outer_line.start())
            if string_end is None:
                return outer_line.start()
            place = string_end
        return limit

    def _without_comments(self, end: int, head: int, indent: int) -> int:
        """`end` without the blank lines before it, and the comments that stand outside."""
        while end > head + 1:
            line = self._lines[end - 1]
            rest = line.lstrip()
            if rest and not (rest[0] == "#" and len(line) - len(rest) <= indent):
                break
            end -= 1
        return end

    def _string_end(self, place: int) -> int | None:
        """Where the string ends that `place` is in; None if it is in none."""
        nth = bisect_right(self._string_starts, place) - 1
        return self._strings[nth][1] if nth >= 0 and place < self._strings[nth][1] else None


@lru_cache(maxsize=256)
def _outside(indent: int) -> re.Pattern[str]:
    """Return a pattern for a line with code at `indent` characters or less, except closing
    brackets.
    """
    return re.compile(rf"\n[ \t]{{0,{indent}}}+(?=[^ \t\n#)\]}}])")


def _triple_quoted(text: str) -> Iterator[tuple[int, int]]:
    """Where the strings in triple quotes stand.

    Only a line with something else in front that might be a string or a comment is taken apart.
    """
    place = 0
    while (match := _TRIPLE.search(text, place)) is not None:
        start = match.start()
        line = max(place, text.rfind("\n", place, start) + 1)
        before = text[line:start]
        if "#" in before or '"' in before or "'" in before:
            token = next(each for each in _TOKEN.finditer(text, line) if each.end() > start)
            if token.start() < start:
                place = token.end()
                continue
        place = _closing(text, match[0], start + 3)
        yield start, place


def _closing(text: str, quotes: str, place: int) -> int:
    """Return the offset after the next `quotes` that no backslash precedes."""
    while (end := text.find(quotes, place)) >= 0:
        n_backslashes = end - len(text[place:end].rstrip("\\")) - place
        if n_backslashes % 2 == 0:
            return end + 3
        place = end + 1
    return len(text)


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


_PYTHON = frozenset({".py", ".pyi", ".pyw"})


def chunk_file(
    text: str, name: str, outline: Sequence[Definition] | None = None
) -> tuple[Chunk, ...]:
    """Return the passages of `text`, a file called `name`, in order of place.

    Every line that is not blank (`str.strip`) lies in one of them, and none overlaps another. Lines
    are those of `stet.text.lines`. Notes are cut at their headings, code at what it defines, all
    else where lines are blank; what is long is cut further.

    Args:
        text: With line ends of any kind.
        name: Of the file.
        outline: What it defines, if a grammar has told; else that is found by its look.
    """
    text = with_plain_ends(text)
    lines = text.split("\n")
    if outline is not None:
        return tuple(split_passages(lines, outline))
    return tuple(_passages(text, lines, ending_of(name)))


def _passages(text: str, lines: list[str], ending: str) -> Iterator[Chunk]:
    if ending in NOTES:
        return note_passages(text, lines)
    if ending in _PYTHON:
        return split_passages(lines, python_definitions(text, lines))
    if is_code(ending):
        return split_passages(lines, definitions_by_look(text, lines, ending))
    return split_passages(lines, ())
