"""Commands about hunks: `stet.proposals`, `stet.accept`, `stet.reject`."""

from stet.lsp.arguments import CommandArguments
from stet.lsp.edits.apply_order import accept_in_order
from stet.lsp.lsp_errors import InvalidParams, RequestFailed
from stet.lsp.presentation.command_location import resolve_uri
from stet.lsp.presentation.hunk_selection import decide_hunks, select_hunks
from stet.lsp.presentation.serialize import hunk_to_json
from stet.lsp.state import ServerState
from stet.review.errors import ReviewError
from stet.review.proposal import OPEN, UNDONE_IN_EDITOR, WHOLE_FILE, Hunk, HunkState


def proposals(state: ServerState, values: tuple[object, ...]) -> list[dict[str, object]]:
    """Hunks of every state, in order of file and place, filtered as asked."""
    arguments = CommandArguments("stet.proposals", values)
    uri = resolve_uri(arguments, state.workspace)
    turn, chat, group = (arguments.text(name) for name in ("turn", "chat", "group"))
    states = arguments.text("state")
    text = (arguments.text("text") or "").casefold()
    arguments.finish()
    if states is not None and states not in list(HunkState):
        known = ", ".join(HunkState)
        raise InvalidParams(f"stet.proposals: 'state' is one of {known}, not {states!r}")
    state.disk_watch.check_unwatched()
    return [
        hunk_to_json(hunk, state.workspace, state.ledger)
        for hunk in state.ledger.hunks(uri=uri, turn=turn, chat=chat)
        if states in {None, hunk.state}
        and group in {None, hunk.group}
        and text in f"{hunk.summary}\n{hunk.old}\n{hunk.new}".casefold()
    ]


def accept(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Take hunks; they are sent to the editor behind this answer."""
    arguments = CommandArguments("stet.accept", values, main="hunk")
    is_protected = state.edit_applier.holds
    named = select_hunks(arguments, state.ledger, state.workspace, also=is_protected)
    # Many named at once are never a yes to one that needs its own.
    protected = arguments.flag("protected") and named.is_single
    arguments.finish()

    def decision(hunk: Hunk) -> str:
        if (
            hunk.state is HunkState.SENT
            and is_protected(hunk.id)
            and (protected or not hunk.protected)
        ):
            return ""  # a second yes is to what the hunk says by now
        if not named.is_single and hunk.reason == UNDONE_IN_EDITOR:
            return f"{hunk.reason}: name it"
        return _refusal_reason(hunk, protected=protected)

    decided = decide_hunks(named, decision, what="accepted")
    state.server.tasks.start(
        accept_in_order(state.ledger, state.edit_applier, decided.hunks), f"accept {decided.hunks}"
    )
    return decided.to_json


def reject(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Let the text stand."""
    arguments = CommandArguments("stet.reject", values, main="hunk")
    held = state.edit_applier.holds
    named = select_hunks(arguments, state.ledger, state.workspace, also=held)
    reason = arguments.text("reason") or ""
    arguments.finish()

    def decision(hunk: Hunk) -> str:
        if held(hunk.id):
            state.edit_applier.withdraw(hunk.id, reason)
        elif hunk.state not in OPEN:
            return f"it is {hunk.state} already"
        try:
            state.ledger.reject(hunk.id, reason)
        except ReviewError as error:
            return str(error)
        return ""

    with state.ledger.batch():
        return decide_hunks(named, decision, what="rejected").to_json


def preview(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Have the editor show hunks as one edit that the user picks from, where it can."""
    arguments = CommandArguments("stet.preview", values, main="hunk")
    named = select_hunks(arguments, state.ledger, state.workspace)
    arguments.finish()
    if not state.server.editor.previews_edits:
        raise RequestFailed("this editor has no preview of edits; `stet.review` shows the same")

    def decision(hunk: Hunk) -> str:
        if hunk.kind in WHOLE_FILE:
            return "files that come, move or go are accepted by themselves"
        return _refusal_reason(hunk, protected=False)

    decided = decide_hunks(named, decision, what="previewed")
    if decided.hunks:
        work = state.preview.show(decided.hunks, state.workspace.encoding)
        state.server.tasks.start(work, f"preview {decided.hunks}")
    return decided.to_json


def _refusal_reason(hunk: Hunk, *, protected: bool) -> str:
    """Why a hunk can't be accepted now, or nothing."""
    if hunk.state is HunkState.CONFLICT:
        return f"{hunk.reason}; `stet.resolve` has the ways out"
    if hunk.state is not HunkState.PENDING:
        return f"it is {hunk.state} already"
    if hunk.protected and not protected:
        return "this file is protected: accept it alone, with `protected: true`"
    return ""
