"""Where the quoted texts of a YAML front matter stand, and how a name is written in one.

Read without a YAML parser: a scan asks thousands of notes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stet.notes.yaml_lists import line_start, next_line

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n]+)|(?P<comment>#[^\r\n]*)"
    r'|(?P<quoted>"(?:[^"\\]|\\[\s\S])*+"|\'(?:[^\']|\'\')*+\')|(?P<unclosed>["\'])'
    r"|(?P<open>[\[{])|(?P<block>[|>][^\r\n]*)|(?P<mark>[-?:](?=\s|\Z)|[!&*][^\s,\[\]{}]*)"
)
_PLAIN = re.compile(r"(?:[^\s:#]|:(?!\s|\Z)|(?<!\s)#|[ \t]++(?![#\r\n]|\Z))+")
_IN_FLOW = re.compile(
    r"[\]},]|(?:[^\s:#,\[\]{}]|:(?![\s,\[\]{}]|\Z)|[ \t]++(?![#,:\[\]{}\r\n]|\Z))+"
)
_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<text>[^\r\n]*)")
_NO_ITEM = re.compile(r"[,{}]|:(?=\s|\Z)|\s#|\A[-?:](?=\s|\Z)|\A[\"'&*!%@`|>#]")
_ESCAPED = re.compile(r"\\([\"\\/])")
_TO_ESCAPE = re.compile(r"[\"\\]")


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A text in quotes: where it begins and ends, its quotes included, and which they are."""

    start: int
    end: int
    quote: str


def find_quoted(yaml: str) -> Iterator[QuotedText]:
    """Yield the quoted texts of `yaml`, in order. Yield nothing from a quote on that is never
    closed.
    """
    place = n_open = 0
    while place < len(yaml):
        token = _TOKEN.match(yaml, place)
        kind = token.lastgroup if token is not None else None
        if kind == "unclosed":
            return
        if token is None or (kind == "block" and n_open):
            token = (_IN_FLOW if n_open else _PLAIN).match(yaml, place)
            n_open -= token is not None and n_open > 0 and token[0] in ("]", "}")
        elif kind == "quoted":
            yield QuotedText(place, token.end(), yaml[place])
        n_open += kind == "open"
        if kind == "block" and not n_open:
            place = _end_of_block(yaml, place)
        else:
            place = place + 1 if token is None else token.end()


def _end_of_block(yaml: str, place: int) -> int:
    """Where the lines of the block text whose `|` or `>` stands at `place` end."""
    above = _LINE.match(yaml, line_start(yaml, place))
    least = len(above["indent"]) + 1 if above is not None else 1
    is_first = True
    while (place := next_line(yaml, place)) < len(yaml):
        line = _LINE.match(yaml, place)
        if line is not None and line["text"]:
            indent = len(line["indent"])
            if indent < least:
                break
            least, is_first = (indent if is_first else least), False
    return place


def unquote_name(name: str, quote: str) -> str:
    """Return the text of a name that is written between `quote` marks. Without a quote the name is
    returned unchanged.
    """
    if quote == "'":
        return name.replace("''", "'")
    return _ESCAPED.sub(r"\1", name) if quote == '"' else name


def quote_name(name: str, quote: str) -> str:
    """How a name is written between such quotes; none: as it is."""
    if quote == "'":
        return name.replace("'", "''")
    return _TO_ESCAPE.sub(r"\\\g<0>", name) if quote == '"' else name


def is_item(name: str) -> bool:
    """Whether YAML reads the whole name where it stands in brackets without quotes."""
    return _NO_ITEM.search(name) is None
