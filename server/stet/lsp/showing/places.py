"""Where a command points: `uri` or `file`, `range` or lines, or where the user is."""

from collections.abc import Mapping

from stet.context.builder import Place
from stet.lsp.arguments import Arguments
from stet.lsp.errors import InvalidParams
from stet.text.document import TextDocument
from stet.text.encoding import column_of
from stet.text.position import Position, Range
from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import NotShown
from stet.workspace.workspace import Workspace


def uri_of(arguments: Arguments, workspace: Workspace) -> str | None:
    """The document named by `uri` or `file`, or None if neither is given.

    Raises:
        InvalidParams: If the file is none of the workspace's.
    """
    uri, file = arguments.text("uri"), arguments.text("file")
    if uri is not None and file is not None:
        raise InvalidParams("give `uri` or `file`, not both")
    if file is None:
        return uri
    try:
        return workspace.snapshot().locate(file).uri
    except PathRefused as refused:
        raise InvalidParams(str(refused)) from refused


def place_of(arguments: Arguments, workspace: Workspace) -> Place:
    """Where a question is asked from; without a place, the active file and its selection.

    Raises:
        InvalidParams: If the place is none: no such file, a line behind its end.
    """
    uri = uri_of(arguments, workspace)
    wire = arguments.mapping("range")
    first, last, line = (arguments.number(name) for name in ("from", "to", "line"))
    activity = workspace.snapshot().activity
    if uri is None:
        uri = activity.active
        if uri is None:
            if wire or first or last or line:
                raise InvalidParams("a place in a file needs the file: `uri` or `file`")
            return Place(None, None)
    document = document_of(uri, workspace)
    if wire is not None:
        return Place(document.uri, _range(wire, document, workspace))
    if first or last or line:
        start = first or line or last or 1
        end = last or first or line or 1
        return Place(document.uri, _lines(start, end, document))
    selection = activity.selection_of(uri)
    return Place(document.uri, selection.ranges[0] if selection else None)


def document_of(uri: str, workspace: Workspace) -> TextDocument:
    """The text of a file, open or not.

    Raises:
        InvalidParams: If it is not there or may not be read.
    """
    if (document := workspace.document(uri)) is not None:
        return document
    try:
        return workspace.snapshot().asked_about(uri).with_blocks(uri)
    except NotShown as refused:
        raise InvalidParams(str(refused)) from refused


def _lines(first: int, last: int, document: TextDocument) -> Range:
    """Whole lines, 1-based and inclusive."""
    first, last = min(first, last), max(first, last)
    if last > max(document.n_lines, 1):
        raise InvalidParams(f"line {last} is behind the end: the text has {document.n_lines} lines")
    end = document.clamp(Position(last, 0))
    return Range(Position(first - 1, 0), end)


def _range(wire: Mapping[str, object], document: TextDocument, workspace: Workspace) -> Range:
    start, end = (_position(wire.get(name), document, workspace) for name in ("start", "end"))
    return Range(min(start, end), max(start, end))


def _position(value: object, document: TextDocument, workspace: Workspace) -> Position:
    line = value.get("line") if isinstance(value, Mapping) else None
    units = value.get("character") if isinstance(value, Mapping) else None
    if not (type(line) is int and type(units) is int and line >= 0 and units >= 0):
        raise InvalidParams(
            "`range` is an LSP range: start and end, each with a line and a character from 0"
        )
    if line > max(document.n_lines, len(document.lines)):
        raise InvalidParams(
            f"line {line} of `range` is behind the end: the text has {document.n_lines} lines"
        )
    if line >= len(document.lines):
        return document.end
    return Position(line, column_of(document.lines[line], units, workspace.encoding))
