"""Where the user is: told by notification, or read off their ordinary requests.

Hover and document highlight are advertised for the sake of editors that ask them wherever the
cursor rests; they answer null at once, so that they never stand before the language's own server.
"""

from collections.abc import Mapping

from lsprotocol import types as lsp

from stet.lsp import from_lsp
from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import InvalidParams
from stet.lsp.presentation.command_location import open_document, resolve_location
from stet.lsp.presentation.hunk_text import hover_text
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN
from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource
from stet.workspace.workspace import Workspace

_MOST = 2**31 - 1
"""The largest number of the protocol's type `uinteger`."""


def did_focus(state: ServerState, params: object) -> None:
    """`$/stet/didFocus`: this document has the focus, or none has."""
    uri = _uri(params)
    state.generated.focused(uri)
    if uri is None or not state.generated.is_generated(uri):
        state.workspace.activity.focus(uri, ActivitySource.NOTIFIED)


def did_change_selection(state: ServerState, params: object) -> None:
    """`$/stet/didChangeSelection`: these are the selections, the main one first."""
    uri = _uri(params)
    world = _workspace_of(state, uri) if uri else state.workspace
    buffer = world.buffer(uri) if uri else None
    if uri is None or buffer is None or not isinstance(params, Mapping):
        return
    lines, encoding = buffer.lines, world.encoding
    selections = params.get("selections")
    if not isinstance(selections, list) or not selections:
        raise InvalidParams("`selections` is a list of objects with `anchor` and `active`")
    places = []
    for entry in selections:
        anchor, active = (_position(entry, name) for name in ("anchor", "active"))
        places.append(
            (
                from_lsp.to_range(lsp.Range(anchor, active), lines, encoding),
                from_lsp.to_position(active, lines, encoding),
            )
        )
    ranges = tuple(place for place, _ in places)
    world.activity.select(uri, ranges, ActivitySource.NOTIFIED, places[0][1])
    visible = params.get("visibleRange")
    if visible is not None:
        stretch = lsp.Range(_position(visible, "start"), _position(visible, "end"))
        world.activity.visible(uri, from_lsp.to_range(stretch, lines, encoding))


def hover(state: ServerState, params: lsp.HoverParams) -> lsp.Hover | None:
    """Return the diff of the hunks under the cursor, or null."""
    uri = params.text_document.uri
    place = _record_position(state, uri, params.position, ActivitySource.HOVER)
    if place is None or not state.ledger.is_tracked(uri):
        return None
    here = Range(place, place)
    texts = [
        hover_text(hunk, markdown=state.server.editor.hover_markdown)
        for hunk in state.ledger.live(uri)
        if hunk.state in OPEN and hunk.is_on_lines_of(here)
    ]
    if not texts:
        return None
    if state.server.editor.hover_markdown:
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(texts)))
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.PlainText, "\n\n".join(texts)))


def document_highlight(state: ServerState, params: lsp.DocumentHighlightParams) -> None:
    """Nothing to highlight; only where the cursor is."""
    _record_position(state, params.text_document.uri, params.position, ActivitySource.REQUEST)


def focus(state: ServerState, arguments_sent: tuple[object, ...]) -> dict[str, object]:
    """`stet.focus`: for editors whose only feed is a key binding."""
    arguments = CommandArguments("stet.focus", arguments_sent)
    place = resolve_location(arguments, state.workspace)
    arguments.finish()
    if place.uri is None:
        raise InvalidParams("stet.focus needs 'uri' or 'file'")
    activity = state.workspace.activity
    activity.focus(place.uri, ActivitySource.COMMAND)
    if place.range is not None:
        activity.select(
            open_document(place.uri, state.workspace).uri, [place.range], ActivitySource.COMMAND
        )
    return {"uri": place.uri}


def _record_position(
    state: ServerState, uri: str, place: lsp.Position, source: ActivitySource
) -> Position | None:
    world = _workspace_of(state, uri)
    buffer = world.buffer(uri)
    if buffer is None:
        return None
    at = from_lsp.to_position(place, buffer.lines, world.encoding)
    world.activity.touched(uri, Range(at, at), source)
    return at


def _workspace_of(state: ServerState, uri: str) -> Workspace:
    """Where a document is followed: among the user's, or among Stet's own."""
    is_generated = state.workspace.buffer(uri) is None and state.generated.buffer(uri) is not None
    return state.generated.world if is_generated else state.workspace


def _uri(params: object) -> str | None:
    document = params.get("textDocument") if isinstance(params, Mapping) else None
    uri = document.get("uri") if isinstance(document, Mapping) else None
    return uri if isinstance(uri, str) else None


def _position(entry: object, name: str) -> lsp.Position:
    value = entry.get(name) if isinstance(entry, Mapping) else None
    line = value.get("line") if isinstance(value, Mapping) else None
    character = value.get("character") if isinstance(value, Mapping) else None
    if type(line) is not int or type(character) is not int:
        raise InvalidParams(f"{name!r} is an LSP position, not {value!r}")
    return lsp.Position(*(min(max(number, 0), _MOST) for number in (line, character)))
