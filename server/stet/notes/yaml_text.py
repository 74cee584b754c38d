"""Format values as YAML, and find quoted strings in YAML without a parser.

Values are written so that readers of YAML 1.1 and of 1.2 read the same. Quoted strings of a front
matter are found by a scan, since a search reads thousands of notes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_PLAIN = re.compile(r"[^\W_][^\r\n\t]*|[/_(.][^\r\n\t]*[^\W\d][^\r\n\t]*")
_NOT_PLAIN = re.compile(r": |:\Z| #|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\s\Z|\A---|\A\.\.\.")
_IN_FLOW = re.compile(r"[,\[\]{}]")
_WORD = re.compile(r"(?:y|yes|n|no|true|false|on|off|null|~|[-+]?\.?(?:inf|nan))\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[-+.]*[0-9][0-9a-fA-FxXoO_.,:+-]*\Z")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def format_scalar(value: object, style: str | None = None, *, in_flow: bool = False) -> str:
    """Return a text, number, boolean or null on one line. A text is quoted if necessary.

    Args:
        value: The value to format.
        style: The quote around the previous value, `'` or `"`; a text keeps this quote.
        in_flow: Whether the value is in brackets.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    is_simple = _ODD.search(value) is None and value.isprintable()
    if style == "'" and is_simple:
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and is_simple and _is_plain(value, in_flow=in_flow):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def format_flow(value: object) -> str:
    """Return a value on one line: lists in brackets, properties in braces."""
    if isinstance(value, Mapping):
        inner = (
            f"{format_scalar(name, in_flow=True)}: {format_flow(each)}"
            for name, each in value.items()
        )
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(format_flow(each) for each in value) + "]"
    return format_scalar(value, in_flow=True)


def format_property(name: str, value: object, indent: str, end: str) -> str:
    """Return a property as whole lines. A list or properties in it are a block, deeper ones flow.

    Args:
        name: The name of the property.
        value: The value of the property, as JSON.
        indent: The white space before the name.
        end: The line end.
    """
    head = f"{indent}{format_scalar(name)}:"
    if value and isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        return f"{head}{end}{format_block(value, f'{indent}  ', end)}"
    return f"{head} {format_line(value)}{end}"


def format_block(value: Mapping[str, object] | Sequence[object], indent: str, end: str) -> str:
    """Return a list or properties as whole lines."""
    if isinstance(value, Mapping):
        lines = (
            f"{indent}{format_scalar(name)}: {format_line(each)}{end}"
            for name, each in value.items()
        )
    else:
        lines = (f"{indent}- {format_line(each)}{end}" for each in value)
    return "".join(lines)


def format_line(value: object, style: str | None = None) -> str:
    """Return a value on the line of its name or dash: a text with its quote, or as
    `format_flow`.
    """
    return format_scalar(value, style) if isinstance(value, str) else format_flow(value)


def _is_plain(value: str, *, in_flow: bool) -> bool:
    """Return whether YAML reads a text without quotes as this text, or as the date it spells."""
    if _PLAIN.fullmatch(value) is None or _NOT_PLAIN.search(value) is not None:
        return False
    if in_flow and _IN_FLOW.search(value) is not None:
        return False
    return _DATE.match(value) is not None or not (_WORD.match(value) or _NUMBER.match(value))


def line_start(yaml: str, offset: int) -> int:
    """Return the start of the line with `offset`."""
    return max(yaml.rfind("\n", 0, offset), yaml.rfind("\r", 0, offset)) + 1


def next_line(yaml: str, offset: int) -> int:
    """Return the start of the line after the line with `offset`."""
    found = _LINE_BREAK.search(yaml, offset)
    return found.end() if found else len(yaml)


_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\n]+)|(?P<comment>#[^\r\n]*)"
    r'|(?P<quoted>"(?:[^"\\]|\\[\s\S])*+"|\'(?:[^\']|\'\')*+\')|(?P<unclosed>["\'])'
    r"|(?P<open>[\[{])|(?P<block>[|>][^\r\n]*)|(?P<mark>[-?:](?=\s|\Z)|[!&*][^\s,\[\]{}]*)"
)
_PLAIN_SCALAR = re.compile(r"(?:[^\s:#]|:(?!\s|\Z)|(?<!\s)#|[ \t]++(?![#\r\n]|\Z))+")
_FLOW_SCALAR = re.compile(
    r"[\]},]|(?:[^\s:#,\[\]{}]|:(?![\s,\[\]{}]|\Z)|[ \t]++(?![#,:\[\]{}\r\n]|\Z))+"
)
_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<text>[^\r\n]*)")
_NO_ITEM = re.compile(r"[,{}]|:(?=\s|\Z)|\s#|\A[-?:](?=\s|\Z)|\A[\"'&*!%@`|>#]")
_ESCAPED = re.compile(r"\\([\"\\/])")
_TO_ESCAPE = re.compile(r"[\"\\]")


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A quoted string: its start and its end, quotes included, and its quote character."""

    start: int
    end: int
    quote: str


def find_quoted(yaml: str) -> Iterator[QuotedText]:
    """Yield the quoted strings of `yaml`, in order, up to a quote that is never closed."""
    place = n_open = 0
    while place < len(yaml):
        token = _TOKEN.match(yaml, place)
        kind = token.lastgroup if token is not None else None
        if kind == "unclosed":
            return
        if token is None or (kind == "block" and n_open):
            token = (_FLOW_SCALAR if n_open else _PLAIN_SCALAR).match(yaml, place)
            n_open -= token is not None and n_open > 0 and token[0] in ("]", "}")
        elif kind == "quoted":
            yield QuotedText(place, token.end(), yaml[place])
        n_open += kind == "open"
        if kind == "block" and not n_open:
            place = _end_of_block(yaml, place)
        else:
            place = place + 1 if token is None else token.end()


def _end_of_block(yaml: str, place: int) -> int:
    """Return the end of the lines of the block scalar whose `|` or `>` is at `place`."""
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
    """Return a name escaped for `quote` marks. Without a quote the name is returned unchanged."""
    if quote == "'":
        return name.replace("'", "''")
    return _TO_ESCAPE.sub(r"\\\g<0>", name) if quote == '"' else name


def is_item(name: str) -> bool:
    """Return whether YAML reads a name in brackets without quotes as one item."""
    return _NO_ITEM.search(name) is None
