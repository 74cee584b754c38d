"""The lines that a request is about: what it names, or where the cursor is.

All lines are 0-based and half-open.
"""

import re
from collections.abc import Iterable, Sequence

from stet.outline.definition import Definition, with_plain_ends
from stet.outline.indent_outline import definitions_in, is_code
from stet.text.document import TextDocument, ending_of

MAX_LINES = 80
"""The most lines of several definitions that are shown together, and of a file shown whole."""
MAX_CHARACTERS = 3_000
"""The most characters of them: about 800 tokens to read."""

_CODE_NAME = re.compile(r"`[^`\n]+`|[^\W\d]\w*(?=\()|[^\W\d]\w*[_.]\w[\w.]*|[a-z]+[A-Z]\w*")
"""Words that look like names in code: quoted, called, with `_`, `.` or a hump."""
IDENTIFIER = re.compile(r"[^\W\d]\w*")

Lines = tuple[int, int]


def code_names(request: str) -> tuple[str, ...]:
    """Return the names in a request that are certainly names of code, in order."""
    found = " ".join(match[0] for match in _CODE_NAME.finditer(request))
    return tuple(dict.fromkeys(IDENTIFIER.findall(found)))


def outline_of(document: TextDocument) -> tuple[Definition, ...]:
    """Return the functions and classes of a document, outer ones first.

    Takes long for a long text: call it in a worker thread.
    """
    ending = ending_of(document.uri)
    if document.is_large or not is_code(ending):
        return ()
    text = with_plain_ends(document.text)
    return tuple(definitions_in(text, text.split("\n"), ending))


def is_short(document: TextDocument) -> bool:
    """Return whether a document is shown whole."""
    return fits(document, (0, document.n_lines))


def fits(document: TextDocument, lines: Lines) -> bool:
    """Return whether lines are few and short enough to be shown together."""
    first, end = lines
    size = sum(map(len, document.lines[first:end])) if end - first <= MAX_LINES else 0
    return end - first <= MAX_LINES and size <= MAX_CHARACTERS


def named_lines(
    document: TextDocument, outline: Sequence[Definition], prompt: str, line: int | None
) -> Lines | None:
    """Return the lines of the definitions that a prompt names, or None if it names none.

    Of definitions with one name, the one around the line of the cursor counts, else the first. A
    definition that contains another named one only says where that one is. Several are shown
    together if they are close to each other; else the first that the prompt names.
    """
    words = list(dict.fromkeys(IDENTIFIER.findall(prompt)))
    cursor = -1 if line is None else line
    found: list[Definition] = []
    for word in words:
        same = [one for one in outline if one.name == word]
        if len(same) > 1:  # methods of different classes: `Stack.pop`
            same = [one for one in same if _is_within_any(one, outline, words)] or same
        found += sorted(same, key=lambda one: not one.first <= cursor < one.end)[:1]
    inner = [one for one in found if not any(_contains(one, other) for other in found)]
    if not inner:
        return None
    together = min(one.first for one in inner), max(one.end for one in inner)
    return together if fits(document, together) else (inner[0].first, inner[0].end)


def lines_at(outline: Sequence[Definition], line: int) -> Lines | None:
    """Return the lines of the innermost function around a line, else of the class, or None."""
    around = [one for one in outline if one.first <= line < one.end]
    innermost = ([one for one in around if not one.is_type] or around)[-1:]
    return (innermost[0].first, innermost[0].end) if innermost else None


def _contains(outer: Definition, inner: Definition) -> bool:
    return outer is not inner and outer.first <= inner.first and inner.end <= outer.end


def _is_within_any(one: Definition, outline: Iterable[Definition], words: Sequence[str]) -> bool:
    return any(outer.name in words and _contains(outer, one) for outer in outline)
