"""Several hunks on their way, in an order in which none pulls the file from under another.

Accepting: what is done to whole files, what was made first first, so that each finds its file where the
one before leaves it; then edits, and then removals of files that nothing else is done to behind it. The
links to a file are changed behind its move, and only if it was moved.

Taking back: what was done to whole files, the last of it first, so that each finds its file where it
left it; and then edits, which a move takes along: were they made first, the file would have unsaved text
when it is to be moved. But those in a new file go before it does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from stet.lsp.edits.edit_applier import EditApplier
from stet.review.ledger import ReviewLedger
from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.workspace.uris import canonical

_LINE_KINDS = frozenset(HunkKind) - WHOLE_FILE
_NUMBER, _CHANGED = attrgetter("number"), attrgetter("changed")
_ApplyHunks = Callable[[str, Sequence[str]], Awaitable[None]]


def accept_in_order(
    ledger: ReviewLedger, delivery: EditApplier, hunk_ids: Iterable[str]
) -> Coroutine[Any, Any, None]:
    """Have the editor do what these hunks say now, at the call; their states tell how it went."""
    return _accept(ledger, delivery, [ledger.hunk(hunk_id) for hunk_id in hunk_ids])


async def _accept(ledger: ReviewLedger, delivery: EditApplier, hunks: Sequence[Hunk]) -> None:
    agreed = {hunk.id: hunk for hunk in hunks}

    async def apply(uri: str, hunk_ids: Sequence[str]) -> None:
        await delivery.apply(uri, [agreed[hunk_id] for hunk_id in hunk_ids])

    whole = sorted((hunk for hunk in hunks if hunk.kind in WHOLE_FILE), key=_NUMBER)
    last = [hunk for nth, hunk in enumerate(whole) if _is_last(hunk, whole[nth + 1 :])]
    lines = [hunk for hunk in hunks if hunk.kind in _LINE_KINDS]
    for batch in (*_file_steps(ledger, [one for one in whole if one not in last]), lines, last):
        await _apply_by_document(
            ledger, apply, _drop_failed_moves(ledger, batch, hunks, HunkState.ACCEPTED)
        )


def _is_last(hunk: Hunk, later: Iterable[Hunk]) -> bool:
    """Whether a removal is of a file whose name nothing that was made later takes up."""
    files = {
        canonical(uri)
        for hunk_later in later
        for uri in (hunk_later.uri, hunk_later.new_uri)
        if uri
    }
    return hunk.kind is HunkKind.REMOVE and canonical(hunk.uri) not in files


async def undo_in_order(
    ledger: ReviewLedger, delivery: EditApplier, hunk_ids: Iterable[str]
) -> None:
    """Have the editor take these accepted hunks back; their states tell how it went."""
    hunks = [ledger.hunk(hunk_id) for hunk_id in hunk_ids]
    lines = [hunk for hunk in hunks if hunk.kind in _LINE_KINDS]
    whole = sorted((one for one in hunks if one.kind in WHOLE_FILE), key=_CHANGED, reverse=True)
    for steps in _file_steps(ledger, whole):
        made = {canonical(ledger.hunk(one.id).uri) for one in steps if one.kind is HunkKind.CREATE}
        within = [hunk for hunk in lines if canonical(ledger.hunk(hunk.id).uri) in made]
        for batch in (within, steps):
            links = _drop_failed_moves(ledger, batch, hunks, HunkState.UNDONE)
            await _apply_by_document(ledger, delivery.undo, links)
        lines = [hunk for hunk in lines if hunk not in within]
    links = _drop_failed_moves(ledger, lines, hunks, HunkState.UNDONE)
    await _apply_by_document(ledger, delivery.undo, links)


def _file_steps(ledger: ReviewLedger, whole: Iterable[Hunk]) -> Iterator[list[Hunk]]:
    """Hunks about whole files, in their order; at once only what has no file in common.

    Each step is to be carried out before the next is asked for: it gives files other names.
    """
    step: list[Hunk] = []
    taken: set[str] = set()
    for hunk in whole:
        files = {canonical(uri) for uri in (ledger.hunk(hunk.id).uri, hunk.new_uri) if uri}
        if taken & files:
            yield step
            step, taken = [], set()
        step.append(hunk)
        taken |= files
    if step:
        yield step


def _drop_failed_moves(
    ledger: ReviewLedger, step: Sequence[Hunk], hunks: Sequence[Hunk], goal: HunkState
) -> list[str]:
    """Leave out the links of a file whose move was tried and did not come to `goal`.

    They are of the move's group; the turn's own edits of that file share only its proposal.
    """
    moves = {hunk.group: hunk.id for hunk in hunks if hunk.kind is HunkKind.MOVE}
    return [
        hunk.id
        for hunk in step
        if hunk.kind in WHOLE_FILE
        or hunk.group not in moves
        or ledger.hunk(moves[hunk.group]).state is goal
    ]


async def _apply_by_document(
    ledger: ReviewLedger, apply_hunks: _ApplyHunks, hunk_ids: Sequence[str]
) -> None:
    """One edit a document, however its hunks spell it; a hunk about a whole file goes alone."""
    batches: dict[tuple[str, str], list[str]] = {}
    for hunk_id in hunk_ids:
        # Asked only now: a move before this has given its file another name.
        hunk = ledger.hunk(hunk_id)
        alone = hunk_id if hunk.kind in WHOLE_FILE else ""
        batches.setdefault((canonical(hunk.uri), alone), []).append(hunk_id)
    await asyncio.gather(
        *(apply_hunks(ledger.hunk(batch[0]).uri, batch) for batch in batches.values())
    )
