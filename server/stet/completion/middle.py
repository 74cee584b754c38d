"""The part of a model's answer that is offered: it must fit between the text before and after.

Models go on after the text that fits: they repeat the lines after the cursor, close a bracket that
is closed already, or begin another paragraph. The answer ends there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from stet.completion.cursor_context import CursorContext

MAX_LINES = 8
"""The most lines of a completion."""
_CLOSING = frozenset(" \t)]}>\"'`;,:")
"""Characters after the cursor that editors insert by themselves."""


@dataclass(frozen=True, slots=True)
class Middle:
    """The text that fits.

    Attributes:
        text: The text to insert; "" for nothing to offer. White space is at its end only before a
            closing bracket that follows the cursor, which then gets a line of its own.
        is_complete: Whether more of the answer would change nothing.
    """

    text: str
    is_complete: bool


def is_one_line(context: CursorContext) -> bool:
    """Return whether the completion ends with the line: a part of the line follows the cursor."""
    return not _CLOSING.issuperset(context.line_after)


def fit(answer: str, context: CursorContext) -> Middle:
    """Return the part of an answer, or of its beginning, that fits at the cursor."""
    lines = answer.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    end = 1 if is_one_line(context) else _end_of_block(lines, context)
    is_complete = end < len(lines)
    text = "\n".join(lines[:end]).rstrip()
    if is_complete and text and end > 1 and _closes(lines[end], context):
        closing = lines[end]
        return Middle(f"{text}\n{closing[: _indentation(closing)]}", is_complete)
    if context.line_before.strip() and context.line_before.endswith(" "):
        text = text.removeprefix(" ")  # the space is there already
    text = _without_overlap(text, context.line_after)
    if _repeats_next_line(text, context):
        text = ""
    return Middle(text, is_complete)


def _end_of_block(lines: Sequence[str], context: CursorContext) -> int:
    """Return how many of the lines of an answer belong to the block at the cursor."""
    before = context.line_before
    indentation = _indentation(before)
    following = _next_line(context)
    has_text = bool(lines[0].strip()) or bool(before.strip())
    for n, line in enumerate(lines[1:], 1):
        is_whole = n < len(lines) - 1
        is_blank = not line.strip()
        if n >= MAX_LINES:
            return n
        if is_blank:
            if has_text and any(one.strip() for one in lines[:n]) and is_whole:
                return n
            continue
        has_text = True
        if is_whole and _closes(line, context):
            return n
        if following and is_whole and line.rstrip() == following:
            return n
        if _indentation(line) < indentation:
            return n
    return len(lines)


def _closes(line: str, context: CursorContext) -> bool:
    """Return whether a line begins with the closing brackets that follow the cursor."""
    rest = context.line_after.strip()
    return bool(rest) and line.strip().startswith(rest)


def _next_line(context: CursorContext) -> str:
    """Return the next line with text after the cursor's, without white space at its end."""
    rest = context.suffix.partition("\n")[2]
    return next((line.rstrip() for line in rest.split("\n") if line.strip()), "")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _without_overlap(text: str, rest: str) -> str:
    """Return the text without an end that follows the cursor already."""
    rest = rest.rstrip()
    for n in range(min(len(text), len(rest)), 0, -1):
        if text.endswith(rest[:n]) and (n == len(rest) or _CLOSING.issuperset(rest[:n])):
            return text[:-n].rstrip()
    return text


def _repeats_next_line(text: str, context: CursorContext) -> bool:
    """Return whether the line of the cursor would become the line that follows it."""
    first = f"{context.line_before}{text.partition(chr(10))[0]}".strip()
    return (
        len(first) > 1 and not context.line_after.strip() and first == _next_line(context).strip()
    )
