"""Commands that lead through what is pending: `stet.next`, `stet.previous`."""

from lsprotocol import types as lsp

from stet.lsp import to_lsp
from stet.lsp.arguments import CommandArguments
from stet.lsp.presentation.command_location import resolve_uri
from stet.lsp.presentation.serialize import hunk_to_json
from stet.lsp.state import ServerState
from stet.review.proposal import OPEN, Hunk
from stet.text.lines import split_lines
from stet.text.position import Position
from stet.workspace.uris import canonical


def next_hunk(state: ServerState, values: tuple[object, ...]) -> dict[str, object] | None:
    """Show the next hunk behind the cursor, in this file and then in the others."""
    return _navigate(state, CommandArguments("stet.next", values), forward=True)


def previous_hunk(state: ServerState, values: tuple[object, ...]) -> dict[str, object] | None:
    """Show the hunk before the cursor, in this file and then in the others."""
    return _navigate(state, CommandArguments("stet.previous", values), forward=False)


def _navigate(
    state: ServerState, arguments: CommandArguments, *, forward: bool
) -> dict[str, object] | None:
    named = resolve_uri(arguments, state.workspace)
    line = arguments.number("line")
    arguments.finish()
    state.disk_watch.check_unwatched()
    activity = state.workspace.snapshot().activity
    uri = named or activity.active
    selection = activity.selection_of(uri) if uri else None
    at = Position(line - 1, 0) if line else selection.cursor if selection else Position(0, 0)
    hunks = [hunk for hunk in state.ledger.hunks() if hunk.state in OPEN]
    if not hunks:
        return None
    found = _next_after(hunks, uri, at) if forward else _last_before(hunks, uri, at)
    buffer = state.workspace.buffer(found.uri)
    lines = buffer.lines if buffer else split_lines(state.ledger.base_text(found.uri) or "")
    place = to_lsp.to_wire_range(found.shown_at, lines, state.workspace.encoding)
    state.server.tasks.start(
        state.client.show_document(found.uri, lsp.Range(place.start, place.start)), "show a hunk"
    )
    shape = hunk_to_json(found, state.workspace, state.ledger)
    return {"uri": found.uri, "range": shape["range"], "hunk": found.id}


def _next_after(hunks: list[Hunk], uri: str | None, at: Position) -> Hunk:
    here = [hunk for hunk in hunks if uri and canonical(hunk.uri) == canonical(uri)]
    later = [hunk for hunk in here if hunk.shown_at.start.line > at.line]
    others = [hunk for hunk in hunks if uri and hunk.uri > uri and hunk not in here]
    return (later or others or hunks)[0]


def _last_before(hunks: list[Hunk], uri: str | None, at: Position) -> Hunk:
    here = [hunk for hunk in hunks if uri and canonical(hunk.uri) == canonical(uri)]
    earlier = [hunk for hunk in here if hunk.shown_at.start.line < at.line]
    others = [hunk for hunk in hunks if uri and hunk.uri < uri and hunk not in here]
    return (earlier or others or hunks)[-1]
