"""From our values to the protocol's: code points to the units the editor counts in."""

from collections.abc import Sequence

from lsprotocol import types as lsp

from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.encoding import Encoding, units_from_column
from stet.text.position import Position, Range


def to_wire_position(place: Position, lines: Sequence[str], encoding: Encoding) -> lsp.Position:
    """`place` (code points) of a text with these `lines` as the editor counts; clamped to them."""
    if place.line >= len(lines):
        place = Position(len(lines) - 1, len(lines[-1]))
    return lsp.Position(place.line, units_from_column(lines[place.line], place.character, encoding))


def to_wire_range(stretch: Range, lines: Sequence[str], encoding: Encoding) -> lsp.Range:
    """`stretch` (code points) of a text with these `lines` as the editor counts."""
    return lsp.Range(
        to_wire_position(stretch.start, lines, encoding),
        to_wire_position(stretch.end, lines, encoding),
    )


def text_edits(edit: TextEdit, document: TextDocument, encoding: Encoding) -> list[lsp.TextEdit]:
    """`edit` (offsets in code points of `document`) as edits of one `TextDocumentEdit`.

    All ranges belong to the text before the edit, as the protocol wants it.
    """
    lines = document.lines
    return [
        lsp.TextEdit(
            lsp.Range(
                to_wire_position(document.position_at(part.start), lines, encoding),
                to_wire_position(document.position_at(part.end), lines, encoding),
            ),
            part.text,
        )
        for part in edit.replacements
    ]
