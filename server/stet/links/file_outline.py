"""The outline of a file: the headings of a note, the definitions of code."""

from dataclasses import dataclass

from stet.outline.headings import headings_in
from stet.outline.indent_outline import nested_definitions
from stet.text.document import TextDocument, ending_of

MAX_TITLE = 160


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading or a definition.

    Attributes:
        line: The number of the line, 1-based.
        depth: The number of enclosing entries.
        text: The heading with its `#` marks, or the head line of the definition.
    """

    line: int
    depth: int
    text: str


def outline_file(document: TextDocument, name: str) -> tuple[OutlineEntry, ...]:
    """Return the outline of `document`, a file called `name`, in order of position."""
    if document.is_markdown:
        found = headings_in(document.text)
        return tuple(OutlineEntry(h.line, h.level - 1, f"{'#' * h.level} {h.title}") for h in found)
    return tuple(
        OutlineEntry(each.head + 1, len(path) - 1, head.strip()[:MAX_TITLE])
        for each, head, path in nested_definitions(document, ending_of(name))
    )
