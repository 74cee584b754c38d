"""Values as YAML, written so that readers of YAML 1.1 and of 1.2 take them alike."""

import json
import re
from collections.abc import Mapping, Sequence

_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_PLAIN = re.compile(r"[^\W_][^\r\n\t]*|[/_(.][^\r\n\t]*[^\W\d][^\r\n\t]*")
_NOT_PLAIN = re.compile(r": |:\Z| #|[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\s\Z|\A---|\A\.\.\.")
_IN_FLOW = re.compile(r"[,\[\]{}]")
_WORD = re.compile(r"(?:y|yes|n|no|true|false|on|off|null|~|[-+]?\.?(?:inf|nan))\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[-+.]*[0-9][0-9a-fA-FxXoO_.,:+-]*\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def format_scalar(value: object, style: str | None = None, *, in_flow: bool = False) -> str:
    """Return a text, number, boolean or null on one line. A text is quoted where necessary.

    Args:
        value: What to write.
        style: The quote that stood around the value before, `'` or `"`; a text keeps it.
        in_flow: Whether it stands in brackets.
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
    """Return a property as whole lines. Lists and properties in it are written as blocks, deeper
    ones as flow.

    Args:
        name: Of the property.
        value: What it says.
        indent: What stands before the name.
        end: The line end.
    """
    head = f"{indent}{format_scalar(name)}:"
    if isinstance(value, Mapping) and value:
        return f"{head}{end}{format_block(value, f'{indent}  ', end)}"
    if isinstance(value, Sequence) and value and not isinstance(value, str):
        return f"{head}{end}{format_block(value, f'{indent}  ', end)}"
    return (
        f"{head} {format_flow(value) if not isinstance(value, str) else format_scalar(value)}{end}"
    )


def format_block(value: Mapping[str, object] | Sequence[object], indent: str, end: str) -> str:
    """Return a list or properties as whole lines."""
    if isinstance(value, Mapping):
        lines = (
            f"{indent}{format_scalar(name)}: {_inline(each)}{end}" for name, each in value.items()
        )
    else:
        lines = (f"{indent}- {_inline(each)}{end}" for each in value)
    return "".join(lines)


def _inline(value: object) -> str:
    return format_scalar(value) if isinstance(value, str) else format_flow(value)


def _is_plain(value: str, *, in_flow: bool) -> bool:
    """Whether a text can stand without quotes and stays a text, or the date it looks like."""
    if _PLAIN.fullmatch(value) is None or _NOT_PLAIN.search(value) is not None:
        return False
    if in_flow and _IN_FLOW.search(value) is not None:
        return False
    return _DATE.match(value) is not None or not (_WORD.match(value) or _NUMBER.match(value))
