r"""A text as a model reads and writes it, with a map from its offsets to those of the source text.

- `NormalizedText`: line ends are `\n`, and there is no byte order mark.
- `LineTable` and `find_fuzzy`: a fuzzy search for whole lines. A step compares the *keys* of lines.
  Each step also ignores the differences that the step before it ignored.
- `ShownText`: the text that the model was shown, and the map of its places to the live text.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice

from stet.text.document import TextDocument
from stet.text.edit import Bias, TextChange, map_position
from stet.text.lines import dominant_line_end, split_lines, split_plain
from stet.text.match_result import MatchKind
from stet.text.reindent import IndentRule, find_indent_rule, visible_indent
from stet.text.unicode_normal import BLANK, SPACES, plain_punctuation

_MAX_PLACES = 100
"""The maximum number of returned places; two already make a block ambiguous."""


@dataclass(frozen=True, slots=True)
class MatchedLines:
    """Lines that match.

    Attributes:
        first: The first line (0-based).
        n: The number of lines.
        indent: The conversion of the model's indents to the file's.
        lost: The indent that the model's first line lacks, since answers are trimmed.
        kind: The step that found the lines.
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
"""The steps in order, each with the function that returns the key of a line."""


class LineTable:
    """The lines in which blocks are searched for; keys and their places are computed once.

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
            # Only the given keys: a list for each line of a very long text is slower than a search.
            places: dict[str, list[int]] = {key: [] for key in missing}
            for at, line_key in enumerate(self.keys(kind)):
                if line_key in places:
                    places[line_key].append(at)
            known.update(places)
        return known


def find_fuzzy(table: LineTable, query: Sequence[str]) -> tuple[MatchedLines, ...]:
    """Return the places of `query` that the first successful step finds, at most `_MAX_PLACES`.

    `query` holds lines without line ends. A block without a visible character has no place.
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


BOM = "\ufeff"


def normalize_text(text: str) -> str:
    r"""Return `text` with every line end as `\n`, and without a byte order mark."""
    return text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")


class NormalizedText:
    """A text and its plain form. Lines are 0-based, offsets in code points.

    Attributes:
        source: The text.
        text: The plain form.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.text = normalize_text(source)

    @cached_property
    def source_lines(self) -> list[str]:
        """The lines of the text, with their line ends and without a byte order mark."""
        return split_lines(self.source.removeprefix(BOM))

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their line ends."""
        return split_plain(self.text)

    @cached_property
    def line_table(self) -> LineTable:
        """The lines without the empty string after a final line end, for the fuzzy steps."""
        return LineTable(self.lines[:-1] if self.lines[-1] == "" else self.lines)

    @cached_property
    def document(self) -> TextDocument:
        """The text by line and column, without a name."""
        document = TextDocument("", self.source)
        if not self.source.startswith(BOM):
            document.__dict__["lines"] = self.source_lines  # share the lines: avoid a second split
        return document

    @cached_property
    def line_end(self) -> str:
        """The line end that the text uses most."""
        return dominant_line_end(self.source)

    @cached_property
    def _source_starts(self) -> list[int]:
        first = len(self.source) - len(self.source.removeprefix(BOM))
        return list(accumulate(map(len, self.source_lines), initial=first))

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line) + 1 for line in self.lines[:-1]), initial=0))

    def source_offset(self, offset: int) -> int:
        """Return the offset in the text for an offset in the plain form."""
        line = bisect_right(self._starts, offset) - 1
        return self._source_starts[line] + offset - self._starts[line]

    def source_line_start(self, line: int) -> int:
        """Return the offset of a line in the text; for the line after the last, the text's end."""
        return self._source_starts[line]

    def plain_span(self, block: MatchedLines) -> tuple[int, int]:
        """Return the span of a block in the plain form (half-open), without its last line end."""
        start, lines = self._starts[block.first], self.lines[block.first : block.first + block.n]
        return start, start + sum(map(len, lines)) + block.n - 1

    def source_line(self, offset: int) -> int:
        """Return the line of an offset of the text; a byte order mark belongs to the first line."""
        line = bisect_right(self._source_starts, offset, hi=len(self.lines)) - 1
        return max(0, line)


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class ShownText:
    """The text that the model was shown.

    Attributes:
        text: The text when it was shown.
        changes: The changes since then, in order; together they lead to the live text.
        made: The text and its plain form, if they were computed before.
    """

    text: str
    changes: tuple[TextChange, ...]
    made: NormalizedText | None = field(default=None, compare=False, repr=False)

    @cached_property
    def view(self) -> NormalizedText:
        """The text and its plain form."""
        return self.made or NormalizedText(self.text)

    def map_inside(self, start: int, end: int, now: TextDocument) -> "TextSpan":
        """Return the span in the live text `now` of a stretch of the plain form, without insertions
        at its edges.
        """
        return TextSpan(self._map(start, now, Bias.RIGHT), self._map(end, now, Bias.LEFT))

    def map_around(self, start: int, end: int, now: TextDocument) -> "TextSpan":
        """Return the span in the live text `now` of a stretch of the plain form, with replacements
        and insertions at its edges.
        """
        return TextSpan(self._map(start, now, Bias.LEFT), self._map(end, now, Bias.RIGHT))

    def _map(self, offset: int, now: TextDocument, bias: Bias) -> int:
        place = self.view.document.position_at(self.view.source_offset(offset))
        for change in self.changes:
            place = map_position(place, change, bias)
        return now.offset_at(place)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A stretch of the live text: offsets in code points, half-open."""

    start: int
    end: int

    def contains(self, other: "TextSpan") -> bool:
        """Return whether the other stretch is inside this one."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: "TextSpan") -> bool:
        """Return whether both have text in common."""
        return self.start < other.end and other.start < self.end
