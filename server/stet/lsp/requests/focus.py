"""The user's focus: the notifications `didFocus` and `didChangeSelection`, and `stet.focus`."""

from collections.abc import Mapping

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import InvalidParams
from stet.lsp.presentation.hunk_selection import open_document, resolve_location
from stet.lsp.state import ServerState
from stet.workspace.activity import ActivitySource

_MOST = 2**31 - 1
"""The largest number of the protocol's type `uinteger`."""


def did_focus(state: ServerState, params: object) -> None:
    """Handle `$/stet/didFocus`: a document has got the focus, or no document has it."""
    uri = _uri(params)
    state.documents.generated.focused(uri)
    if uri is None or not state.documents.generated.is_generated(uri):
        state.workspace.activity.focus(uri, ActivitySource.NOTIFIED)


def did_change_selection(state: ServerState, params: object) -> None:
    """Handle `$/stet/didChangeSelection`: the selections of a document, the main one first."""
    uri = _uri(params)
    workspace = state.documents.workspace_of(uri) if uri else state.workspace
    buffer = workspace.buffer(uri) if uri else None
    if uri is None or buffer is None or not isinstance(params, Mapping):
        return
    lines, encoding = buffer.lines, workspace.encoding
    selections = params.get("selections")
    if not isinstance(selections, list) or not selections:
        raise InvalidParams("`selections` must be a list of objects with `anchor` and `active`")
    sent = [lsp.Range(_position(one, "anchor"), _position(one, "active")) for one in selections]
    ranges = [convert.to_range(stretch, lines, encoding) for stretch in sent]
    caret = convert.to_position(sent[0].end, lines, encoding)
    workspace.activity.select(uri, ranges, ActivitySource.NOTIFIED, caret)
    visible = params.get("visibleRange")
    if visible is not None:
        stretch = lsp.Range(_position(visible, "start"), _position(visible, "end"))
        workspace.activity.visible(uri, convert.to_range(stretch, lines, encoding))


def focus(state: ServerState, arguments_sent: tuple[object, ...]) -> dict[str, object]:
    """Run `stet.focus`: set the focus, for editors that can report it by a key binding only."""
    with CommandArguments("stet.focus", arguments_sent) as arguments:
        place = resolve_location(arguments, state.workspace)
    if place.uri is None:
        raise InvalidParams("stet.focus needs 'uri' or 'file'")
    activity = state.workspace.activity
    activity.focus(place.uri, ActivitySource.COMMAND)
    if place.range is not None:
        uri = open_document(place.uri, state.workspace).uri
        activity.select(uri, [place.range], ActivitySource.COMMAND)
    return {"uri": place.uri}


def _uri(params: object) -> str | None:
    document = params.get("textDocument") if isinstance(params, Mapping) else None
    uri = document.get("uri") if isinstance(document, Mapping) else None
    return uri if isinstance(uri, str) else None


def _position(entry: object, name: str) -> lsp.Position:
    value = entry.get(name) if isinstance(entry, Mapping) else None
    line = value.get("line") if isinstance(value, Mapping) else None
    character = value.get("character") if isinstance(value, Mapping) else None
    if type(line) is not int or type(character) is not int:
        raise InvalidParams(f"{name!r} must be an LSP position, not {value!r}")
    return lsp.Position(*(min(max(number, 0), _MOST) for number in (line, character)))
