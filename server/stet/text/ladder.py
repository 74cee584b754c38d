"""The forgiving steps of block matching: whole lines, equal but for what a model gets wrong.

A step compares the *keys* of lines. Every next step also forgives what the one before did.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from stet.text.indent import Indent, find_indent, visible_indent
from stet.text.match_result import MatchKind
from stet.text.typography import BLANK, SPACES, canonical

_MAX_PLACES = 100
"""More places are not looked for: two are as bad."""


@dataclass(frozen=True, slots=True)
class Block:
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
    indent: Indent
    kind: MatchKind
    lost: str = ""


_KEYS: Mapping[MatchKind, Callable[[str], str]] = {
    MatchKind.TRAILING_SPACE: lambda line: line.rstrip(BLANK),
    MatchKind.INDENT: lambda line: line.strip(BLANK),
    MatchKind.PUNCTUATION: lambda line: canonical(line).strip(BLANK),
}
"""The steps in order, and what each makes of a line."""


class Haystack:
    """Lines without line ends in which blocks are looked for: what many searches share is made once.

    Attributes:
        lines: Those.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._keys: dict[MatchKind, list[str]] = {}
        self._places: dict[MatchKind, dict[str, Sequence[int]]] = {}

    def keys(self, kind: MatchKind) -> list[str]:
        """The key of every line in a step."""
        if kind not in self._keys:
            self._keys[kind] = list(map(_KEYS[kind], self.lines))
        return self._keys[kind]

    def places(self, kind: MatchKind, wanted: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """The lines (0-based) with each of the keys `wanted` in a step, in order."""
        known = self._places.setdefault(kind, {})
        if missing := set(wanted) - known.keys():
            # Only what is asked for: a list for each line of a very long text takes longer than a search.
            places: dict[str, list[int]] = {key: [] for key in missing}
            for at, line_key in enumerate(self.keys(kind)):
                if line_key in places:
                    places[line_key].append(at)
            known.update(places)
        return known


def find_lines(haystack: Haystack, wanted: Sequence[str]) -> tuple[Block, ...]:
    """The places where the first step that finds any finds `wanted`, at most `_MAX_PLACES`.

    They are lines without line ends. A block without a visible character is not looked for.
    """
    if not any(line.strip(SPACES) for line in wanted):
        return ()
    for kind in _KEYS:
        found = tuple(islice(_blocks(haystack, wanted, kind), _MAX_PLACES))
        if found:
            return found
    return ()


def _blocks(haystack: Haystack, wanted: Sequence[str], kind: MatchKind) -> Iterator[Block]:
    """The places where the keys are equal and the indents differ by one rule."""
    lines, keys = haystack.lines, haystack.keys(kind)
    wanted_keys = list(map(_KEYS[kind], wanted))
    theirs = list(map(visible_indent, wanted))
    places = haystack.places(kind, wanted_keys)
    rarest = min(range(len(wanted)), key=lambda i: len(places[wanted_keys[i]]))
    for at in places[wanted_keys[rarest]]:
        first = at - rarest
        end = first + len(wanted)
        if first >= 0 and keys[first:end] == wanted_keys:
            ours = list(map(visible_indent, lines[first:end]))
            indent = find_indent(theirs, ours)
            if indent is not None:
                yield Block(first, len(wanted), indent, kind)
            elif kind is not MatchKind.TRAILING_SPACE and theirs[0] == "":
                indent = find_indent(theirs[1:], ours[1:])
                lost = indent.source_of(ours[0] or "") if indent else None
                if indent is not None and lost is not None:
                    yield Block(first, len(wanted), indent, kind, lost)
