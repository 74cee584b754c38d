"""Commands that go back, and out of conflicts: `stet.undo`, `stet.restore`, `stet.resolve`."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from stet.agent.turn import FINAL_STATES, Ask, Mode
from stet.context.context_builder import EditorLocation
from stet.lsp.arguments import CommandArguments
from stet.lsp.edits.apply_order import accept_in_order, undo_in_order
from stet.lsp.lsp_errors import RequestFailed
from stet.lsp.presentation.hunk_selection import decide_hunks, find_hunk, select_hunks
from stet.lsp.state import ServerState
from stet.review.errors import ReviewError, UndoConflict
from stet.review.proposal import WHOLE_FILE, Hunk, HunkState
from stet.text.escape import escape_line
from stet.text.render import fence_for

_ACCEPTED = frozenset({HunkState.ACCEPTED})
_GONE = frozenset({HunkState.REJECTED, HunkState.UNDONE})


class ConflictResolution(StrEnum):
    """A way out of a conflict."""

    MINE = "mine"
    """The user's text stands."""
    THEIRS = "theirs"
    """The agent's text is written over it."""
    MARKERS = "markers"
    """Both stand in the text, marked, to be sorted out there."""
    RETRY = "retry"
    """The agent does it again, for the text as it is."""


def undo(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Take accepted hunks back, those that wait for the editor at once; the edit is sent behind this
    answer.
    """
    arguments = CommandArguments("stet.undo", values, main="hunk")
    held = state.edit_applier.holds
    named = select_hunks(arguments, state.ledger, state.workspace, _ACCEPTED, held)
    arguments.finish()

    def decision(hunk: Hunk) -> str:
        if held(hunk.id):
            state.edit_applier.withdraw(hunk.id)
            return ""
        return _refusal_reason(state, hunk)

    decided = decide_hunks(named, decision, what="undone")
    state.server.tasks.start(
        undo_in_order(state.ledger, state.edit_applier, decided.hunks), f"undo {decided.hunks}"
    )
    return decided.to_json


def restore(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Let rejected, undone or superseded hunks wait again."""
    arguments = CommandArguments("stet.restore", values, main="hunk")
    named = select_hunks(arguments, state.ledger, state.workspace, _GONE, state.ledger.was_replaced)
    arguments.finish()

    def decision(hunk: Hunk) -> str:
        try:
            _ = state.ledger.restore(hunk.id)
        except ReviewError as error:
            return str(error)
        return ""

    with state.ledger.batch():
        decided = decide_hunks(named, decision, what="restored")
    state.inline.restored(decided.hunks)
    return decided.to_json


def resolve(state: ServerState, values: tuple[object, ...]) -> dict[str, object]:
    """Lead a hunk out of its conflict."""
    arguments = CommandArguments("stet.resolve", values, main="hunk")
    hunk = find_hunk(state.ledger, arguments.required("hunk"))
    _ = arguments.required("how")
    how = arguments.one_of("how", ConflictResolution, ConflictResolution.MINE)
    protected = arguments.flag("protected")
    arguments.finish()
    if hunk.state is not HunkState.CONFLICT:
        raise RequestFailed(f"{hunk.id} is no conflict: it is {hunk.state}")
    if (
        hunk.protected
        and how in {ConflictResolution.THEIRS, ConflictResolution.MARKERS}
        and not protected
    ):
        raise RequestFailed(f"{hunk.id} is in a protected file: say `protected: true` as well")
    match how:
        case ConflictResolution.MINE:
            with _report_refusals():
                state.ledger.take_mine(hunk.id)
        case ConflictResolution.THEIRS:
            with _report_refusals():
                _ = state.ledger.take_theirs(hunk.id)
            work = accept_in_order(state.ledger, state.edit_applier, (hunk.id,))
            state.server.tasks.start(work, f"resolve {hunk.id}")
        case ConflictResolution.MARKERS:
            state.inline.markers(hunk.id)
        case ConflictResolution.RETRY:
            return {"hunks": [hunk.id], "turn": _retry_turn(state, hunk)}
    return {"hunks": [hunk.id]}


@contextmanager
def _report_refusals() -> Iterator[None]:
    """Report refusals of the ledger inside the context to the user.

    Raises:
        RequestFailed: With the ledger's reason.
    """
    try:
        yield
    except ReviewError as error:
        raise RequestFailed(str(error)) from error


def _refusal_reason(state: ServerState, hunk: Hunk) -> str:
    """Why a hunk can't be taken back, as far as that can be told at once; or nothing."""
    if hunk.state is not HunkState.ACCEPTED:
        return f"it is {hunk.state}"
    if state.workspace.buffer(hunk.uri) is None or hunk.kind in WHOLE_FILE:
        return ""
    return "" if state.ledger.can_undo(hunk.id) else str(UndoConflict(hunk.id))


def _retry_turn(state: ServerState, hunk: Hunk) -> str:
    """Return the id of the turn that redoes a hunk: the running or queued turn, or a new one."""
    for turn in state.agent.turns():
        ask = turn.ask
        is_of_retry = not ask.is_users and ask.prompt.startswith(_prompt_start(hunk))
        if is_of_retry and turn.state not in FINAL_STATES:
            return turn.id
    return state.agent.ask(_retry_ask(state, hunk)).id


def _prompt_start(hunk: Hunk) -> str:
    return f"Your proposal {hunk.id} for "


def _retry_ask(state: ServerState, hunk: Hunk) -> Ask:
    """Return the question that asks the agent to resolve a conflict."""
    name = state.workspace.snapshot().name_of(hunk.uri)
    prompt = (
        f"{_prompt_start(hunk)}{escape_line(name)!r} ({escape_line(hunk.summary)}) no longer "
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
        is_users=False,  # it quotes the file, whose words may be a stranger's
    )


def _fenced(text: str) -> str:
    """`text` as a block that it can't end by itself."""
    fence = fence_for(text)
    end = "" if text.endswith(("\n", "\r")) or not text else "\n"
    return f"{fence}\n{text}{end}{fence}"
