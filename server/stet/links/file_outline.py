"""What a file is made of: the headings of a note, the definitions of code."""

from collections.abc import Iterator
from dataclasses import dataclass

from stet.outline.definition import with_plain_ends
from stet.outline.headings import headings_in
from stet.outline.indent_outline import definitions_in
from stet.text.document import TextDocument, ending_of

MAX_TITLE = 160


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading or a definition.

    Attributes:
        line: 1-based.
        depth: How many others it lies in.
        text: A heading's text, a definition's line.
    """

    line: int
    depth: int
    text: str


def outline_file(document: TextDocument, name: str) -> tuple[OutlineEntry, ...]:
    """Return the outline of `document`, a file called `name`, in order of place."""
    if document.is_markdown:
        found = headings_in(document.text)
        return tuple(OutlineEntry(h.line, h.level - 1, f"{'#' * h.level} {h.title}") for h in found)
    return tuple(_definitions(document, ending_of(name)))


def _definitions(document: TextDocument, ending: str) -> Iterator[OutlineEntry]:
    text = with_plain_ends(document.text)
    lines = text.split("\n")
    ends: list[int] = []
    for each in definitions_in(text, lines, ending):
        while ends and ends[-1] <= each.head:
            ends.pop()
        yield OutlineEntry(each.head + 1, len(ends), lines[each.head].strip()[:MAX_TITLE])
        ends.append(each.end)
