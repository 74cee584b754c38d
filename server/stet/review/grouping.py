"""Which hunks are one thing to a reader: those of one proposal in one function or section."""

from functools import lru_cache

from stet.text.document import TextDocument
from stet.text.indent import indent_of
from stet.text.lines import split_lines
from stet.text.outline import Outline, Style, Symbol
from stet.text.position import Range

_PLAIN = frozenset(
    {"", "txt", "text", "log", "csv", "tsv", "json", "jsonl", "xml", "html", "svg", "lock", "diff"}
)
_PLAIN_LANGUAGES = frozenset({"plaintext", "text", "json", "csv", "xml", "html", "diff"})


def section_of(document: TextDocument, place: Range, new: str = "") -> str:
    """What a hunk is in, the same for all hunks in one function or section: behind the id of their
    proposal it is their group.

    `:Shape.area` names what encloses the hunk; `@12` is a hunk that nothing encloses, or more than
    one thing, alone with its line (1-based).

    Args:
        document: The text as it is.
        place: The whole lines that the hunk replaces; empty where it only adds.
        new: What it writes; its indent tells where an addition belongs.
    """
    symbol = _enclosing(_outline(document), place, new)
    if symbol is None:
        return f"@{place.start.line + 1}"
    separator = " > " if style_of(document) is Style.MARKDOWN else "."
    return f":{separator.join(symbol.path)}"


def label_of(group: str) -> str | None:
    """What the hunks of a group are in, for a person; None if that has no name."""
    return group.partition(":")[2] or None


def style_of(document: TextDocument) -> Style:
    """How a document is laid out, by the editor's name for its language, else by its file's name."""
    if document.is_markdown:
        return Style.MARKDOWN
    language = document.language_id.lower()
    name = document.uri.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if language in _PLAIN_LANGUAGES or (not language and suffix in _PLAIN):
        return Style.PLAIN
    return Style.CODE


@lru_cache(maxsize=2)  # the hunks of one edit come together; a long page is read once for them
def _outline(document: TextDocument) -> Outline:
    return Outline(document.lines, style_of(document))


def _enclosing(outline: Outline, place: Range, new: str) -> Symbol | None:
    first = place.start.line
    if place.is_empty:
        line = next((line for line in split_lines(new) if line.strip()), "")
        return outline.enclosing(first, indent_of(line))
    symbol = outline.enclosing(first)
    if symbol is None or place.last_line == first:
        return symbol
    return symbol if outline.enclosing(place.last_line) == symbol else None
