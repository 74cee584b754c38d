"""The forgiving steps of block matching: whole lines, equal but for what a model gets wrong.

A step compares the *keys* of lines. Every next step also forgives what the one before did.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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


_STEPS: tuple[tuple[MatchKind, Callable[[str], str]], ...] = (
    (MatchKind.TRAILING_SPACE, lambda line: line.rstrip(BLANK)),
    (MatchKind.INDENT, lambda line: line.strip(BLANK)),
    (MatchKind.PUNCTUATION, lambda line: canonical(line).strip(BLANK)),
)


def find_lines(lines: Sequence[str], wanted: Sequence[str]) -> tuple[Block, ...]:
    """The places where the first step that finds any finds `wanted`, at most `_MAX_PLACES`.

    Both are lines without line ends. A block without a visible character is not looked for.
    """
    if not any(line.strip(SPACES) for line in wanted):
        return ()
    for kind, key in _STEPS:
        found = tuple(islice(_blocks(lines, wanted, kind, key), _MAX_PLACES))
        if found:
            return found
    return ()


def _blocks(
    lines: Sequence[str], wanted: Sequence[str], kind: MatchKind, key: Callable[[str], str]
) -> Iterator[Block]:
    """The places where the keys are equal and the indents differ by one rule."""
    keys, wanted_keys = list(map(key, lines)), list(map(key, wanted))
    theirs = list(map(visible_indent, wanted))
    counts = Counter(keys)
    rarest = min(range(len(wanted)), key=lambda i: counts[wanted_keys[i]])
    for at, line_key in enumerate(keys):
        first = at - rarest
        if line_key != wanted_keys[rarest] or first < 0:
            continue
        end = first + len(wanted)
        if keys[first:end] == wanted_keys:
            ours = list(map(visible_indent, lines[first:end]))
            indent = find_indent(theirs, ours)
            if indent is not None:
                yield Block(first, len(wanted), indent, kind)
            elif kind is not MatchKind.TRAILING_SPACE and theirs[0] == "":
                indent = find_indent(theirs[1:], ours[1:])
                lost = indent.source_of(ours[0] or "") if indent else None
                if indent is not None and lost is not None:
                    yield Block(first, len(wanted), indent, kind, lost)
