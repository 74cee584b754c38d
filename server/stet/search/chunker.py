r"""Cut a file into the passages that are searched, by the ending of its name.

No grammar is used here: its parser can take more than a minute for 20,000 malicious characters, and
can't be stopped. `outliner.py` uses grammars, and its result is used here. Everything else here
takes time linear in the text, whatever the text is.

Functions and classes of Python are found by their heads and indents, without a tree. A parser's
tree alone takes longer than all of this, and gives the same result for code as people write it. If
the two differ (a line in brackets, or of a string after a backslash, that is indented less than its
function), a passage ends early and nothing is lost. Every line that is not blank is in one passage.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from stet.notes.front_matter import find_front_matter
from stet.notes.note_content import headings_in
from stet.outline.definition import MAX_SIGNATURE, Definition, with_plain_ends
from stet.outline.line_definitions import definitions_by_look, is_code
from stet.search.chunk import Chunk
from stet.text.document import NOTES, ending_of

MAX_LINES = 60
"""A longer passage is cut further."""
MAX_CHARACTERS = 4_000
"""So is one of more characters, but never inside a line."""
MAX_DEPTH = 8
"""What lies in more definitions than these stays in the innermost of them."""
MAX_CLOSING = 3
"""At most so many lines that only close something belong to the passage above."""

_CLOSING = re.compile(r"[^\w]{0,80}(?:end\b[^\w]{0,20})?")


@dataclass(slots=True)
class _OpenDefinition:
    """A definition that is being cut: where it is in the file, and whether its head is still to come."""

    definition: Definition
    end: int
    scope: str
    is_fresh: bool = True

    @property
    def path(self) -> str:
        name = self.definition.name
        return f"{self.scope}.{name}" if self.scope else name


def split_passages(lines: Sequence[str], definitions: Iterable[Definition]) -> Iterator[Chunk]:
    """Yield the passages of a file, in order of place.

    Args:
        lines: Those of the file; whether with line ends makes no difference.
        definitions: In order of their first lines. Where two overlap by half, the second yields.
    """
    last: Chunk | None = None
    for merged_chunk in _merged_chunks(lines, definitions):
        if last is not None and not merged_chunk.name and _closes(lines, merged_chunk):
            last = replace(last, end=merged_chunk.end)
            continue
        if last is not None:
            yield last
        last = merged_chunk
    if last is not None:
        yield last


def _closes(lines: Sequence[str], chunk: Chunk) -> bool:
    """Whether a passage holds only brackets and the like, for which no one searches."""
    return chunk.end - chunk.first <= MAX_CLOSING and all(
        _CLOSING.fullmatch(line.strip()) for line in lines[chunk.first : chunk.end]
    )


def _merged_chunks(lines: Sequence[str], definitions: Iterable[Definition]) -> Iterator[Chunk]:
    """Yield the passages. Passages that only close what others open stay separate."""
    open_: list[_OpenDefinition] = []
    at = 0
    for definition in definitions:
        while open_ and open_[-1].end <= max(definition.first, at):
            yield from _passage(lines, at, open_[-1].end, open_[-1])
            at = open_.pop().end
        owner = open_[-1] if open_ else None
        if owner and (len(open_) == MAX_DEPTH or not owner.definition.is_container):
            continue
        first = max(definition.first, at, owner.definition.head + 1 if owner else 0)
        end = min(definition.end, owner.end) if owner else definition.end
        if definition.head < first or first >= end:
            continue
        yield from _passage(lines, at, first, owner)
        at = first
        open_.append(_OpenDefinition(definition, end, owner.path if owner else ""))
    for owner in reversed(open_):
        yield from _passage(lines, at, owner.end, owner)
        at = owner.end
    yield from _passage(lines, at, len(lines), None)


def _passage(
    lines: Sequence[str], first: int, end: int, owner: _OpenDefinition | None
) -> Iterator[Chunk]:
    """Yield the chunks of lines that belong to `owner` and to no symbol inside `owner`."""
    if owner is None:
        yield from (Chunk(*each) for each in split_evenly(lines, first, end))
        return
    definition, is_head = owner.definition, owner.is_fresh
    owner.is_fresh = False
    for nth, (start, stop) in enumerate(split_evenly(lines, first, end)):
        if is_head and not nth:
            yield Chunk(
                start, stop, definition.name, owner.scope, definition.signature, is_definition=True
            )
        elif is_head or not definition.is_type:
            yield Chunk(start, stop, definition.name, owner.scope)
        else:  # between the methods of a class
            yield Chunk(start, stop, "", owner.path)


def split_evenly(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield pieces of about equal length of a stretch. No piece with more than one line is too
    long.

    A piece ends where lines are blank, if some are near. Those around a piece are left out, so
    what is blank altogether has no pieces.
    """
    first, end = _trimmed(lines, first, end)
    size = sum(map(len, lines[first:end]))
    while end - first > MAX_LINES or (size > MAX_CHARACTERS and end - first > 1):
        n_parts = max(-(-(end - first) // MAX_LINES), -(-size // MAX_CHARACTERS))
        cut = _break_line(lines, first, _limit(lines, first, end), -(-(end - first) // n_parts))
        yield _trimmed(lines, first, cut)
        size -= sum(map(len, lines[first:cut]))
        while not lines[cut].strip():
            size -= len(lines[cut])
            cut += 1
        first = cut
    if first < end:
        yield first, end


def _limit(lines: Sequence[str], first: int, end: int) -> int:
    """Return the line after the longest piece that may begin at `first`. The piece has at least one
    line.
    """
    limit, size = first, 0
    while limit < min(end, first + MAX_LINES):
        size += len(lines[limit])
        if size > MAX_CHARACTERS and limit > first:
            break
        limit += 1
    return limit


def _break_line(lines: Sequence[str], first: int, limit: int, n_lines: int) -> int:
    """Return the line before which to cut: after a blank line, as near to `n_lines` as possible."""
    ideal = min(first + n_lines, limit)
    near = range(first + max(1, (ideal - first) // 2), limit + 1)
    after_blank = [line for line in near if not lines[line - 1].strip()]
    return min(after_blank, key=lambda line: abs(line - ideal), default=ideal)


def _trimmed(lines: Sequence[str], first: int, end: int) -> tuple[int, int]:
    while first < end and not lines[first].strip():
        first += 1
    while end > first and not lines[end - 1].strip():
        end -= 1
    return first, end


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
        # With one line end in front, the one before each line is at the line's own offset.
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
        """Return where the line end before the first line after a definition is."""
        outside = _outside(len(match["indent"]))
        place = match.end()
        while (outer_line := outside.search(self._text, place, limit)) is not None:
            string_end = self._string_end(outer_line.start())
            if string_end is None:
                return outer_line.start()
            place = string_end
        return limit

    def _without_comments(self, end: int, head: int, indent: int) -> int:
        """Return `end` without the blank lines before it, and without the comments outside."""
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
    """Yield the offsets of the strings in triple quotes.

    A line is tokenized only if text before the quotes might be a string or a comment.
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
