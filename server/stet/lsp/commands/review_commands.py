"""The commands of review: list hunks, navigate, show the diff, decide, and undo decisions.

`stet.proposals`, `stet.accept`, `stet.reject`, `stet.preview`; `stet.next`, `stet.previous`;
`stet.review`, a unified diff of pending hunks that the user may edit; saving it decides the hunks;
`stet.undo`, `stet.restore`, `stet.resolve`.
"""

import asyncio
import operator
from collections.abc import Coroutine
from enum import StrEnum

from lsprotocol import types as lsp

from stet.agent.turn import FINAL_STATES, Ask, Mode
from stet.context.context_builder import EditorLocation
from stet.lsp import convert
from stet.lsp.arguments import CommandArguments
from stet.lsp.edits.apply_order import accept_in_order, undo_in_order
from stet.lsp.edits.other_files import other_files, report_unsaved
from stet.lsp.lsp_errors import InvalidParams, RequestFailed, report_as
from stet.lsp.presentation.hunk_selection import (
    DecisionResult,
    decide_hunks,
    decide_in_pieces,
    find_hunk,
    resolve_uri,
    select_hunks,
)
from stet.lsp.presentation.serialize import display_to_json, hunk_lines, hunk_to_json
from stet.lsp.state import ServerState
from stet.review.errors import ReviewError, UndoConflict
from stet.review.proposal import OPEN, UNDONE_IN_EDITOR, WHOLE_FILE, Hunk, HunkState
from stet.text.encoding import Encoding
from stet.text.escape import escape_line
from stet.text.position import Position
from stet.text.render import fence_for
from stet.workspace.uris import canonical

Answer = dict[str, object] | Coroutine[object, object, dict[str, object]]
"""The answer of a command; a coroutine where the command decides very many hunks."""


def proposals(
    state: ServerState, values: tuple[object, ...]
) -> list[dict[str, object]] | Coroutine[object, object, list[dict[str, object]]]:
    """Return the hunks that match the filters, in any state, in order of file and place.

    With `display`, the lines of open hunks are compared in a thread.
    """
    with CommandArguments("stet.proposals", values) as arguments:
        uri = resolve_uri(arguments, state.workspace)
        turn, chat, group = (arguments.text(name) for name in ("turn", "chat", "group"))
        states = arguments.text("state")
        text = (arguments.text("text") or "").casefold()
        with_display = arguments.flag("display")
    if states is not None and states not in list(HunkState):
        known = ", ".join(HunkState)
        raise InvalidParams(f"stet.proposals: 'state' must be one of {known}, not {states!r}")
    _check_unwatched_files(state)
    found = [
        hunk
        for hunk in state.ledger.hunks(uri=uri, turn=turn, chat=chat)
        if states in {None, hunk.state}
        and group in {None, hunk.group}
        and text in f"{hunk.summary}\n{hunk.old}\n{hunk.new}".casefold()
    ]
    entries = [hunk_to_json(hunk, state.workspace, state.ledger) for hunk in found]
    return _with_display(entries, found, state.workspace.encoding) if with_display else entries


async def _with_display(
    entries: list[dict[str, object]], hunks: list[Hunk], encoding: Encoding
) -> list[dict[str, object]]:
    """Return the entries of `stet.proposals`, those of open `hunks` with `display`."""

    def add() -> None:
        for entry, hunk in zip(entries, hunks, strict=True):
            if hunk.state in OPEN:
                entry["display"] = display_to_json(hunk, encoding)

    await asyncio.to_thread(add)
    return entries


def accept(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Accept hunks; they are sent to the editor after this answer."""
    with CommandArguments("stet.accept", values, main="hunk") as arguments:
        can_withdraw = state.review.edit_applier.can_withdraw
        named = select_hunks(arguments, state.ledger, state.workspace, also=can_withdraw)
        # A protected hunk needs an approval of its own, never one together with others.
        protected = arguments.flag("protected") and named.is_single
        new = arguments.text("new")
    if new is not None and not named.is_single:
        raise InvalidParams("stet.accept: 'new' is the text of one hunk: name one `hunk`")

    def decision(hunk: Hunk) -> str:
        is_queued = hunk.state is HunkState.SENT and can_withdraw(hunk.id)
        if is_queued and (protected or not hunk.protected):
            return ""  # a second approval is for the current hunk
        if not named.is_single and hunk.reason == UNDONE_IN_EDITOR:
            return f"{hunk.reason}; accept it by its id"
        refusal = _accept_refusal(hunk, protected=protected)
        if not refusal and new is not None:
            _ = state.ledger.amend(hunk.id, new)
        return refusal

    decided = decide_hunks(named, decision, what="accepted")
    accepting = accept_in_order(state.ledger, state.review.edit_applier, decided.hunks)
    work = report_unsaved(accepting, decided.hunks, state.workspace, state.ledger, state.client)
    state.server.tasks.start(work, f"accept {decided.hunks}")
    active = state.workspace.snapshot().activity.active
    others = other_files([state.ledger.hunk(hunk_id) for hunk_id in decided.hunks], active)
    return decided.to_json | ({"otherFiles": list(others)} if others else {})


def reject(state: ServerState, values: tuple[object, ...]) -> Answer:
    """Reject hunks; the text stays as it is."""
    with CommandArguments("stet.reject", values, main="hunk") as arguments:
        can_withdraw = state.review.edit_applier.can_withdraw
        named = select_hunks(arguments, state.ledger, state.workspace, also=can_withdraw)
        reason = arguments.text("reason") or ""

    def decision(hunk: Hunk) -> str:
        if can_withdraw(hunk.id):
            state.review.edit_applier.withdraw(hunk.id, reason)
        elif hunk.state not in OPEN:
            return f"already {hunk.state}"
        state.ledger.reject(hunk.id, reason)
        return ""

    return decide_in_pieces(named, decision, "rejected", state.ledger)


def preview(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Show hunks as one edit in the editor's preview, where the user chooses changes."""
    with CommandArguments("stet.preview", values, main="hunk") as arguments:
        named = select_hunks(arguments, state.ledger, state.workspace)
    if not state.server.editor.previews_edits:
        raise RequestFailed("this editor can't preview edits; use `stet.review`")

    def decision(hunk: Hunk) -> str:
        if hunk.kind in WHOLE_FILE:
            return "new, moved and deleted files can't be previewed; accept them directly"
        return _accept_refusal(hunk, protected=False)

    decided = decide_hunks(named, decision, what="previewed")
    if decided.hunks:
        work = state.review.preview.show(decided.hunks, state.workspace.encoding)
        state.server.tasks.start(work, f"preview {decided.hunks}")
    return decided.to_json


def _accept_refusal(hunk: Hunk, *, protected: bool) -> str:
    """Return why a hunk can't be accepted now, or an empty text."""
    if hunk.state is HunkState.CONFLICT:
        return f"{hunk.reason}; resolve it with `stet.resolve`"
    if hunk.state is not HunkState.PENDING:
        return f"already {hunk.state}"
    if hunk.protected and not protected:
        return "protected file: accept it by itself, with `protected: true`"
    return ""


def next_hunk(state: ServerState, values: tuple[object, ...]) -> dict[str, object] | None:
    """Show the next hunk after the cursor, in this file and then in the others."""
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
    _check_unwatched_files(state)
    activity = state.workspace.snapshot().activity
    uri = named or activity.active
    selection = activity.selection_of(uri) if uri else None
    cursor = Position(line - 1, 0) if line else selection.cursor if selection else Position(0, 0)
    hunks = [hunk for hunk in state.ledger.hunks() if hunk.state in OPEN]
    if not hunks:
        return None
    found = _neighbour(state, hunks, uri, cursor, forward=forward)
    lines = hunk_lines(found.uri, state.workspace, state.ledger)
    place = state.review.publisher.shown_range(found, lines).start
    at = convert.to_wire_position(place, lines, state.workspace.encoding)
    work = state.client.show_document(found.uri, lsp.Range(at, at))
    state.server.tasks.start(work, "show a hunk")
    shape = hunk_to_json(found, state.workspace, state.ledger)
    return {"uri": found.uri, "range": shape["range"], "hunk": found.id}


def _neighbour(
    state: ServerState, hunks: list[Hunk], uri: str | None, at: Position, *, forward: bool
) -> Hunk:
    """Return the next hunk after a place, or the previous one; after the last, begin at the
    first.
    """
    is_beyond = operator.gt if forward else operator.lt
    here = [hunk for hunk in hunks if uri and canonical(hunk.uri) == canonical(uri)]
    lines = hunk_lines(uri, state.workspace, state.ledger) if uri else ()
    shown_range = state.review.publisher.shown_range
    beyond = [hunk for hunk in here if is_beyond(shown_range(hunk, lines).start.line, at.line)]
    others = [hunk for hunk in hunks if uri and is_beyond(hunk.uri, uri) and hunk not in here]
    return (beyond or others or hunks)[0 if forward else -1]


def _check_unwatched_files(state: ServerState) -> None:
    """Schedule a read of all files with hunks, unless the editor reports changes of files."""
    if not state.client.capabilities.watches_files:
        state.documents.disk_watch.check_all()


def open_diff_document(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Open the diff document of all open hunks, or of one turn, file, group or hunk."""
    with CommandArguments("stet.review", values) as arguments:
        turn, group, hunk_id = (arguments.text(name) for name in ("turn", "group", "hunk"))
        uri = resolve_uri(arguments, state.workspace)
        accepts = arguments.flag("acceptOnSave")
    _check_unwatched_files(state)
    named = (find_hunk(state.ledger, hunk_id),) if hunk_id else None
    hunks = [
        hunk
        for hunk in named or state.ledger.hunks(uri=uri, turn=turn)
        if hunk.state in OPEN and group in {None, hunk.group}
    ]
    if not hunks:
        raise RequestFailed("no pending hunks there")
    with report_as(RequestFailed, OSError, message="can't write the review: {}"):
        return {"uri": state.review.diff_documents.open(hunks, accepts=accepts)}


_ACCEPTED = frozenset({HunkState.ACCEPTED})
_GONE = frozenset({HunkState.REJECTED, HunkState.UNDONE})


class ConflictResolution(StrEnum):
    """A resolution of a conflict."""

    MINE = "mine"
    """The user's text stays."""
    THEIRS = "theirs"
    """The agent's text replaces the user's."""
    MARKERS = "markers"
    """Both texts are written into the document, between conflict markers."""
    RETRY = "retry"
    """The agent proposes the change again, for the current text."""


def undo(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Undo accepted hunks; the edit is sent after this answer. Withdraw approvals that are not
    done.
    """
    with CommandArguments("stet.undo", values, main="hunk") as arguments:
        can_withdraw = state.review.edit_applier.can_withdraw
        named = select_hunks(arguments, state.ledger, state.workspace, _ACCEPTED, can_withdraw)

    def decision(hunk: Hunk) -> str:
        if can_withdraw(hunk.id):
            state.review.edit_applier.withdraw(hunk.id)
            return ""
        return _undo_refusal(state, hunk)

    decided = decide_hunks(named, decision, what="undone")
    work = undo_in_order(state.ledger, state.review.edit_applier, decided.hunks)
    state.server.tasks.start(work, f"undo {decided.hunks}")
    return decided.to_json


def restore(state: ServerState, values: tuple[object, ...]) -> Answer:
    """Make rejected, undone or superseded hunks pending again."""
    with CommandArguments("stet.restore", values, main="hunk") as arguments:
        replaced = state.ledger.was_replaced
        named = select_hunks(arguments, state.ledger, state.workspace, _GONE, replaced)

    def decision(hunk: Hunk) -> str:
        _ = state.ledger.restore(hunk.id)
        return ""

    def restored(decided: DecisionResult) -> None:
        state.review.inline.restored(decided.hunks)

    return decide_in_pieces(named, decision, "restored", state.ledger, restored)


def resolve(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Resolve the conflict of a hunk."""
    with CommandArguments("stet.resolve", values, main="hunk") as arguments:
        hunk = find_hunk(state.ledger, arguments.required("hunk"))
        _ = arguments.required("how")
        how = arguments.one_of("how", ConflictResolution, ConflictResolution.MINE)
        protected = arguments.flag("protected")
    if hunk.state is not HunkState.CONFLICT:
        raise RequestFailed(f"{hunk.id} is not in conflict: it is {hunk.state}")
    writes = how in {ConflictResolution.THEIRS, ConflictResolution.MARKERS}
    if hunk.protected and writes and not protected:
        raise RequestFailed(f"{hunk.id} is in a protected file: add `protected: true`")
    match how:
        case ConflictResolution.MINE:
            with report_as(RequestFailed, ReviewError):
                state.ledger.take_mine(hunk.id)
        case ConflictResolution.THEIRS:
            with report_as(RequestFailed, ReviewError):
                _ = state.ledger.take_theirs(hunk.id)
            work = accept_in_order(state.ledger, state.review.edit_applier, (hunk.id,))
            state.server.tasks.start(work, f"resolve {hunk.id}")
        case ConflictResolution.MARKERS:
            state.review.inline.markers(hunk.id)
        case ConflictResolution.RETRY:
            return {"hunks": [hunk.id], "turn": _retry_turn(state, hunk)}
    return {"hunks": [hunk.id]}


def _undo_refusal(state: ServerState, hunk: Hunk) -> str:
    """Return why a hunk can't be undone, or an empty text if no reason is known yet."""
    if hunk.state is not HunkState.ACCEPTED:
        return f"it is {hunk.state}"
    if state.workspace.buffer(hunk.uri) is None or hunk.kind in WHOLE_FILE:
        return ""
    return "" if state.ledger.can_undo(hunk.id) else str(UndoConflict(hunk.id))


def _retry_turn(state: ServerState, hunk: Hunk) -> str:
    """Return the id of the turn that redoes a hunk: the running or queued turn, or a new one."""
    for turn in state.agent.turns():
        if turn.ask.retries == hunk.id and turn.state not in FINAL_STATES:
            return turn.id
    return state.agent.ask(_retry_ask(state, hunk)).id


def _retry_ask(state: ServerState, hunk: Hunk) -> Ask:
    """Return the question that asks the agent to resolve a conflict."""
    name = state.workspace.snapshot().name_of(hunk.uri)
    prompt = (
        f"Your proposal {hunk.id} for {escape_line(name)!r} ({escape_line(hunk.summary)}) no longer "
        "applies: I have changed these lines since you made it.\n\n"
        f"It was made for\n{_fenced(hunk.base)}\nand proposed\n{_fenced(hunk.proposed)}\n"
        f"The lines are now\n{_fenced(hunk.old)}\n"
        "Read the file as it is now and propose the same change again, so that what I wrote stays. "
        "If it is not needed any more, say so and propose nothing."
    )
    return Ask(
        prompt=prompt,
        mode=Mode.AGENT,
        place=EditorLocation(hunk.uri, hunk.range, caret=hunk.range.start),
        chat=hunk.chat or "main",
        is_users=False,  # the prompt quotes the file, whose text may not be the user's
        retries=hunk.id,
    )


def _fenced(text: str) -> str:
    """Return `text` as a fenced block, with a fence that does not occur in the text."""
    fence = fence_for(text)
    end = "" if text.endswith(("\n", "\r")) or not text else "\n"
    return f"{fence}\n{text}{end}{fence}"
