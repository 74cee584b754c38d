"""Several hunks on their way, in an order in which none pulls the file from under another.

Accepting: moves, then edits and new files, then removals; the links to a file are changed behind its
move, and only if it was moved. Taking back: what was done to whole files, the last of it first, so that
each finds its file where it left it; and then edits, which a move takes along: were they made first,
the file would have unsaved text when it is to be moved. But those in a new file go before it does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from typing import Any

from stet.lsp.delivering.delivery import Delivery
from stet.review.ledger import ReviewLedger
from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.workspace.uris import canonical

_LINES = frozenset(HunkKind) - WHOLE_FILE
_ACCEPTING = ({HunkKind.MOVE}, {HunkKind.CREATE} | _LINES, {HunkKind.REMOVE})
_Carry = Callable[[str, Sequence[str]], Awaitable[None]]


def accept_in_order(
    ledger: ReviewLedger, delivery: Delivery, hunk_ids: Iterable[str]
) -> Coroutine[Any, Any, None]:
    """Have the editor do what these hunks say now, at the call; their states tell how it went."""
    return _accept(ledger, delivery, [ledger.hunk(hunk_id) for hunk_id in hunk_ids])


async def _accept(ledger: ReviewLedger, delivery: Delivery, hunks: Sequence[Hunk]) -> None:
    agreed = {hunk.id: hunk for hunk in hunks}

    async def carry(uri: str, hunk_ids: Sequence[str]) -> None:
        await delivery.deliver(uri, [agreed[hunk_id] for hunk_id in hunk_ids])

    for kinds in _ACCEPTING:
        ready = [hunk for hunk in hunks if hunk.kind in kinds]
        links = _without_stuck(ledger, ready, hunks, HunkState.ACCEPTED)
        await _carry_out(ledger, carry, links)


async def undo_in_order(ledger: ReviewLedger, delivery: Delivery, hunk_ids: Iterable[str]) -> None:
    """Have the editor take these accepted hunks back; their states tell how it went."""
    hunks = [ledger.hunk(hunk_id) for hunk_id in hunk_ids]
    lines = [hunk for hunk in hunks if hunk.kind in _LINES]
    for steps in _backwards(ledger, hunks):
        made = {canonical(ledger.hunk(one.id).uri) for one in steps if one.kind is HunkKind.CREATE}
        within = [hunk for hunk in lines if canonical(ledger.hunk(hunk.id).uri) in made]
        for ready in (within, steps):
            links = _without_stuck(ledger, ready, hunks, HunkState.UNDONE)
            await _carry_out(ledger, delivery.undo, links)
        lines = [hunk for hunk in lines if hunk not in within]
    links = _without_stuck(ledger, lines, hunks, HunkState.UNDONE)
    await _carry_out(ledger, delivery.undo, links)


def _backwards(ledger: ReviewLedger, hunks: Iterable[Hunk]) -> Iterator[list[Hunk]]:
    """Those about whole files, the last first; at once only what has no file in common.

    Each step is to be carried out before the next is asked for: it gives files their names back.
    """
    step: list[Hunk] = []
    taken: set[str] = set()
    whole = [hunk for hunk in hunks if hunk.kind not in _LINES]
    for hunk in sorted(whole, key=lambda one: one.changed, reverse=True):
        files = {canonical(uri) for uri in (ledger.hunk(hunk.id).uri, hunk.new_uri) if uri}
        if taken & files:
            yield step
            step, taken = [], set()
        step.append(hunk)
        taken |= files
    if step:
        yield step


def _without_stuck(
    ledger: ReviewLedger, ready: Sequence[Hunk], hunks: Sequence[Hunk], goal: HunkState
) -> list[str]:
    """Leave out the links of a file whose move was tried and did not come to `goal`.

    They are of the move's group; the turn's own edits of that file share only its proposal.
    """
    moves = {hunk.group: hunk.id for hunk in hunks if hunk.kind is HunkKind.MOVE}
    return [
        hunk.id
        for hunk in ready
        if hunk.kind in WHOLE_FILE
        or hunk.group not in moves
        or ledger.hunk(moves[hunk.group]).state is goal
    ]


async def _carry_out(ledger: ReviewLedger, carry: _Carry, hunk_ids: Sequence[str]) -> None:
    """One edit a document, however its hunks spell it; a hunk about a whole file goes alone."""
    batches: dict[tuple[str, str], list[str]] = {}
    for hunk_id in hunk_ids:
        # Asked only now: a move before this has given its file another name.
        hunk = ledger.hunk(hunk_id)
        alone = hunk_id if hunk.kind in WHOLE_FILE else ""
        batches.setdefault((canonical(hunk.uri), alone), []).append(hunk_id)
    await asyncio.gather(*(carry(ledger.hunk(batch[0]).uri, batch) for batch in batches.values()))
