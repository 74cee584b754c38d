"""Convert between the protocol's values and Stet's: positions, ranges, edits and notifications.

The protocol counts columns in the negotiated encoding, Stet in code points. Positions out of range
are clamped, as the protocol requires; editors do send them.
"""

from collections.abc import Mapping, Sequence

from lsprotocol import types as lsp

from stet.lsp.lsp_errors import InvalidParams
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.encoding import Encoding, column_from_units, units_from_column
from stet.text.position import Position, Range
from stet.workspace.workspace import Modification, ModificationKind, WireEdit


def to_position(place: lsp.Position, lines: Sequence[str], encoding: Encoding) -> Position:
    """Return the editor's `place` in a text with these `lines` as a position in code points."""
    if place.line >= len(lines):
        return Position(len(lines) - 1, len(lines[-1]))
    return Position(place.line, column_from_units(lines[place.line], place.character, encoding))


def to_range(wire_range: lsp.Range, lines: Sequence[str], encoding: Encoding) -> Range:
    """Return the editor's `wire_range` in a text with these `lines` as a range in code points. The
    ends of a reversed range are swapped.
    """
    start = to_position(wire_range.start, lines, encoding)
    end = to_position(wire_range.end, lines, encoding)
    return Range(min(start, end), max(start, end))


def change_modification(params: object) -> Modification:
    """Return the modification of `textDocument/didChange`; parsed by hand, as every keystroke sends
    it.

    Raises:
        InvalidParams: If `params` does not have the shape that the protocol defines.
    """
    try:
        document = params["textDocument"]  # type: ignore[index]  # whatever it is, it is caught
        version = document.get("version")
        edits = tuple([_wire_edit(change) for change in params["contentChanges"]])  # type: ignore[index]
        uri = document["uri"]
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidParams(f"`textDocument/didChange` is malformed: {error!r}") from error
    if type(uri) is not str or not (version is None or type(version) is int):
        raise InvalidParams("`textDocument/didChange` is malformed: uri or version")
    return Modification(ModificationKind.CHANGED, uri, version=version, edits=edits)


def watched_uris(params: object) -> list[str]:
    """Return the URIs of the files of `workspace/didChangeWatchedFiles`; malformed entries are left
    out.
    """
    events = params.get("changes") if isinstance(params, dict) else None
    listed = events if isinstance(events, list) else ()
    named = [event.get("uri") for event in listed if isinstance(event, dict)]
    return [uri for uri in named if isinstance(uri, str)]


def _wire_edit(change: Mapping[str, object]) -> WireEdit:
    """Return one content change.

    Raises:
        TypeError: If a value has the wrong type; indexing raises further errors for other shapes.
    """
    text = change["text"]
    if type(text) is not str:
        raise TypeError("text is not a string")
    stretch = change.get("range")
    if stretch is None:
        return WireEdit.full(text)
    start, end = stretch["start"], stretch["end"]  # type: ignore[index]  # as above
    numbers = start["line"], start["character"], end["line"], end["character"]
    if not all(type(number) is int for number in numbers):
        raise TypeError("a position is not an integer")
    first, column, last, last_column = numbers
    return WireEdit(max(first, 0), max(column, 0), max(last, 0), max(last_column, 0), text)


def to_wire_position(place: Position, lines: Sequence[str], encoding: Encoding) -> lsp.Position:
    """Return `place` (code points) of a text with these `lines` as a position of the editor,
    clamped to the text.
    """
    if place.line >= len(lines):
        place = Position(len(lines) - 1, len(lines[-1]))
    return lsp.Position(place.line, units_from_column(lines[place.line], place.character, encoding))


def to_wire_range(stretch: Range, lines: Sequence[str], encoding: Encoding) -> lsp.Range:
    """Return `stretch` (code points) of a text with these `lines` as a range of the editor."""
    return lsp.Range(
        to_wire_position(stretch.start, lines, encoding),
        to_wire_position(stretch.end, lines, encoding),
    )


def range_to_json(wire_range: lsp.Range) -> dict[str, dict[str, int]]:
    """Return a range as the JSON of the protocol."""
    ends = {"start": wire_range.start, "end": wire_range.end}
    return {name: {"line": at.line, "character": at.character} for name, at in ends.items()}


def text_edits(edit: TextEdit, document: TextDocument, encoding: Encoding) -> list[lsp.TextEdit]:
    """Return `edit` (offsets in code points of `document`) as edits of one `TextDocumentEdit`.

    All ranges belong to the text before the edit, as the protocol requires.
    """
    edits = []
    for part in edit.replacements:
        stretch = Range(document.position_at(part.start), document.position_at(part.end))
        edits.append(lsp.TextEdit(to_wire_range(stretch, document.lines, encoding), part.text))
    return edits
