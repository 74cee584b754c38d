"""Commands about hunks: `stet.proposals`, `accept`, `reject`, `next`, `previous`, `review`."""

from lsprotocol import types as lsp

from stet.lsp import to_lsp
from stet.lsp.arguments import Arguments
from stet.lsp.errors import ContentModified, InvalidParams, RequestFailed
from stet.lsp.places import uri_of
from stet.lsp.state import ServerState
from stet.lsp.wire_shapes import hunk_shape
from stet.review.errors import UnknownHunk
from stet.review.overview import overview
from stet.review.proposal import Hunk, HunkState
from stet.text.lines import split_lines
from stet.text.position import Position
from stet.workspace.uris import canonical

_WHICH = ("hunk", "proposal", "turn", "uri", "all")
_OPEN = frozenset({HunkState.PENDING, HunkState.CONFLICT})


def proposals(state: ServerState, given: tuple[object, ...]) -> list[dict[str, object]]:
    """Hunks of every state, in order of file and place, filtered as asked."""
    arguments = Arguments("stet.proposals", given)
    uri = uri_of(arguments, state.workspace)
    turn = arguments.text("turn")
    wanted = arguments.text("state")
    text = (arguments.text("text") or "").casefold()
    arguments.finish()
    if wanted is not None and wanted not in list(HunkState):
        known = ", ".join(HunkState)
        raise InvalidParams(f"stet.proposals: 'state' is one of {known}, not {wanted!r}")
    return [
        hunk_shape(hunk, state.workspace, state.ledger)
        for hunk in state.ledger.hunks(uri=uri, turn=turn)
        if wanted in (None, hunk.state)
        and text in f"{hunk.summary}\n{hunk.old}\n{hunk.new}".casefold()
    ]


def accept(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Take hunks; they are sent to the editor behind this answer."""
    arguments = Arguments("stet.accept", given, main="hunk")
    hunks, by_all = _chosen(state, arguments, takes_all=True)
    wanted_hash = arguments.text("hash")
    protected = arguments.flag("protected")
    arguments.finish()
    taken, refused = [], []
    for hunk in hunks:
        if wanted_hash is not None and hunk.hash != wanted_hash:
            raise ContentModified(f"{hunk.id} is no longer what was named; look at it again")
        if reason := _not_acceptable(hunk, protected=protected and not by_all):
            refused.append({"hunk": hunk.id, "reason": reason})
        else:
            taken.append(hunk)
    if refused and not taken and len(hunks) == 1:
        raise RequestFailed(f"{hunks[0].id} can't be accepted: {refused[0]['reason']}")
    by_file: dict[str, list[Hunk]] = {}
    for hunk in taken:
        # One edit a document, however its hunks spell it.
        by_file.setdefault(canonical(hunk.uri), []).append(hunk)
    for group in by_file.values():
        uri, ids = group[0].uri, [hunk.id for hunk in group]
        state.server.tasks.start(state.delivery.deliver(uri, ids), f"accept in {uri}")
    return {"hunks": [hunk.id for hunk in taken], "refused": refused}


def reject(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Let the text stand."""
    arguments = Arguments("stet.reject", given, main="hunk")
    hunks, _ = _chosen(state, arguments, takes_all=True)
    reason = arguments.text("reason") or ""
    wanted_hash = arguments.text("hash")
    arguments.finish()
    if wanted_hash is not None and any(hunk.hash != wanted_hash for hunk in hunks):
        raise ContentModified(f"{hunks[0].id} is no longer what was named; look at it again")
    rejected = [hunk for hunk in hunks if hunk.state in _OPEN]
    if hunks and not rejected and len(hunks) == 1:
        raise RequestFailed(f"{hunks[0].id} can't be rejected: it is {hunks[0].state} already")
    for hunk in rejected:
        state.ledger.reject(hunk.id, reason)
    return {"hunks": [hunk.id for hunk in rejected]}


def next_hunk(state: ServerState, given: tuple[object, ...]) -> dict[str, object] | None:
    """Show the next hunk behind the cursor, in this file and then in the others."""
    return _step(state, Arguments("stet.next", given), forward=True)


def previous_hunk(state: ServerState, given: tuple[object, ...]) -> dict[str, object] | None:
    """Show the hunk before the cursor, in this file and then in the others."""
    return _step(state, Arguments("stet.previous", given), forward=False)


def review(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Open a unified diff of what is pending."""
    arguments = Arguments("stet.review", given)
    turn, hunk_id = arguments.text("turn"), arguments.text("hunk")
    arguments.finish()
    hunks = (_hunk(state, hunk_id),) if hunk_id else state.ledger.hunks(turn=turn)
    pending = [hunk for hunk in hunks if hunk.state in _OPEN]
    if not pending:
        raise RequestFailed("nothing is pending there")
    name_of = state.workspace.snapshot().name_of
    texts = {hunk.uri: _text(state, hunk.uri) for hunk in pending}
    path = state.system.write_own("review.diff", overview(pending, texts, name_of))
    uri = path.as_uri()
    state.server.tasks.start(state.client.show_document(uri), "show the review")
    return {"uri": uri}


def _chosen(
    state: ServerState, arguments: Arguments, *, takes_all: bool
) -> tuple[tuple[Hunk, ...], bool]:
    """The hunks that the arguments name, and whether they were named by `all`."""
    hunk_id, proposal, turn = (arguments.text(name) for name in ("hunk", "proposal", "turn"))
    uri = uri_of(arguments, state.workspace)
    everything = arguments.flag("all") and takes_all
    named = [name for name in (hunk_id, proposal, turn, uri) if name is not None]
    if len(named) + everything != 1:
        raise InvalidParams(f"name exactly one of: {', '.join(_WHICH)}")
    if hunk_id is not None:
        return (_hunk(state, hunk_id),), False
    hunks = tuple(
        hunk
        for hunk in state.ledger.hunks(uri=uri, turn=turn)
        if hunk.state in _OPEN and proposal in (None, hunk.proposal)
    )
    if not hunks:
        raise InvalidParams(
            f"nothing is pending for {named[0]!r}" if named else "nothing is pending"
        )
    return hunks, everything


def _hunk(state: ServerState, hunk_id: str) -> Hunk:
    try:
        return state.ledger.hunk(hunk_id)
    except UnknownHunk as error:
        raise InvalidParams(str(error)) from error


def _not_acceptable(hunk: Hunk, *, protected: bool) -> str:
    """Why a hunk can't be accepted now, or nothing."""
    if hunk.state is HunkState.CONFLICT:
        return hunk.reason
    if hunk.state is not HunkState.PENDING:
        return f"it is {hunk.state} already"
    if hunk.protected and not protected:
        return "this file is protected: accept it alone, with `protected: true`"
    return ""


def _step(state: ServerState, arguments: Arguments, *, forward: bool) -> dict[str, object] | None:
    named = uri_of(arguments, state.workspace)
    line = arguments.number("line")
    arguments.finish()
    activity = state.workspace.snapshot().activity
    uri = named or activity.active
    selection = activity.selection_of(uri) if uri else None
    at = Position(line - 1, 0) if line else selection.cursor if selection else Position(0, 0)
    hunks = [hunk for hunk in state.ledger.hunks() if hunk.state in _OPEN]
    if not hunks:
        return None
    found = _following(hunks, uri, at) if forward else _preceding(hunks, uri, at)
    buffer = state.workspace.buffer(found.uri)
    lines = buffer.lines if buffer else split_lines(state.ledger.base_text(found.uri) or "")
    place = to_lsp.range_(found.shown_at, lines, state.workspace.encoding)
    state.server.tasks.start(
        state.client.show_document(found.uri, lsp.Range(place.start, place.start)), "show a hunk"
    )
    shape = hunk_shape(found, state.workspace, state.ledger)
    return {"uri": found.uri, "range": shape["range"], "hunk": found.id}


def _following(hunks: list[Hunk], uri: str | None, at: Position) -> Hunk:
    here = [hunk for hunk in hunks if uri and canonical(hunk.uri) == canonical(uri)]
    later = [hunk for hunk in here if hunk.shown_at.start.line > at.line]
    others = [hunk for hunk in hunks if uri and hunk.uri > uri and hunk not in here]
    return (later or others or hunks)[0]


def _preceding(hunks: list[Hunk], uri: str | None, at: Position) -> Hunk:
    here = [hunk for hunk in hunks if uri and canonical(hunk.uri) == canonical(uri)]
    earlier = [hunk for hunk in here if hunk.shown_at.start.line < at.line]
    others = [hunk for hunk in hunks if uri and hunk.uri < uri and hunk not in here]
    return (earlier or others or hunks)[-1]


def _text(state: ServerState, uri: str) -> str:
    document = state.workspace.document(uri)
    return document.text if document else state.ledger.base_text(uri) or ""
