"""The forgiving steps of block matching: whole lines, equal but for what a model gets wrong.

A step compares the *keys* of lines. Every next step also forgives what the one before did.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from stet.text.indent import IndentRule, find_indent_rule, visible_indent
from stet.text.match_result import MatchKind
from stet.text.typography import BLANK, SPACES, plain_punctuation

_MAX_PLACES = 100
"""More places are not looked for: two are as bad."""


@dataclass(frozen=True, slots=True)
class MatchedLines:
    """Lines that match.

    Attributes:
        first: The first of them (0-based).
        n: How many.
        indent: How the model's indents become the file's.
        lost: What the model's first line lacks before it, in its own indent: answers are trimmed.
        kind: The step that found them.
    """

    first: int
    n: int
    indent: IndentRule
    kind: MatchKind
    lost: str = ""


_KEYS: Mapping[MatchKind, Callable[[str], str]] = {
    MatchKind.TRAILING_SPACE: lambda line: line.rstrip(BLANK),
    MatchKind.INDENT: lambda line: line.strip(BLANK),
    MatchKind.PUNCTUATION: lambda line: plain_punctuation(line).strip(BLANK),
}
"""The steps in order, and what each makes of a line."""


class LineTable:
    """Lines without line ends in which blocks are looked for: what many searches share is made once.

    Attributes:
        lines: The lines, without line ends.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._keys: dict[MatchKind, list[str]] = {}
        self._places: dict[MatchKind, dict[str, Sequence[int]]] = {}

    def keys(self, kind: MatchKind) -> list[str]:
        """Return the key of every line in a step."""
        if kind not in self._keys:
            self._keys[kind] = list(map(_KEYS[kind], self.lines))
        return self._keys[kind]

    def line_numbers(self, kind: MatchKind, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Map each key of `keys` to the lines (0-based) that have the key in a step, in order."""
        known = self._places.setdefault(kind, {})
        if missing := set(keys) - known.keys():
            # Only what is asked for: a list for each line of a very long text takes longer than a search.
            places: dict[str, list[int]] = {key: [] for key in missing}
            for at, line_key in enumerate(self.keys(kind)):
                if line_key in places:
                    places[line_key].append(at)
            known.update(places)
        return known


def find_fuzzy(table: LineTable, query: Sequence[str]) -> tuple[MatchedLines, ...]:
    """Return the places of `query` that the first successful step finds, at most `_MAX_PLACES`.

    They are lines without line ends. A block without a visible character is not looked for.
    """
    if not any(line.strip(SPACES) for line in query):
        return ()
    for kind in _KEYS:
        found = tuple(islice(_candidates(table, query, kind), _MAX_PLACES))
        if found:
            return found
    return ()


def _candidates(table: LineTable, query: Sequence[str], kind: MatchKind) -> Iterator[MatchedLines]:
    """Yield the places where the keys are equal and the indents differ by one rule."""
    lines, keys = table.lines, table.keys(kind)
    query_keys = list(map(_KEYS[kind], query))
    theirs = list(map(visible_indent, query))
    places = table.line_numbers(kind, query_keys)
    rarest = min(range(len(query)), key=lambda i: len(places[query_keys[i]]))
    for at in places[query_keys[rarest]]:
        first = at - rarest
        end = first + len(query)
        if first >= 0 and keys[first:end] == query_keys:
            ours = list(map(visible_indent, lines[first:end]))
            indent = find_indent_rule(theirs, ours)
            if indent is not None:
                yield MatchedLines(first, len(query), indent, kind)
            elif kind is not MatchKind.TRAILING_SPACE and theirs[0] == "":
                indent = find_indent_rule(theirs[1:], ours[1:])
                lost = indent.to_model(ours[0] or "") if indent else None
                if indent is not None and lost is not None:
                    yield MatchedLines(first, len(query), indent, kind, lost)
