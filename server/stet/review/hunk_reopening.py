"""Rejected, undone and superseded hunks wait again, for the text as it is now."""

import dataclasses

from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.errors import EditInFlight, WrongHunkState
from stet.review.hunk_store import HunkStore, is_line_hunk
from stet.review.proposal import LIVE, Hunk, HunkState

_RESTORABLE = frozenset({HunkState.REJECTED, HunkState.UNDONE, HunkState.SUPERSEDED})


def reopen_hunk(store: HunkStore, hunk_id: str) -> None:
    """Let a decided hunk wait again; one that was superseded takes the place of what replaced it.

    Raises:
        WrongHunkState: If it is none of these, its place is another hunk's by now or is gone, or an edit of
            it is still on its way.
        EditInFlight: If an edit of it, or of what replaced it, is.
    """
    hunk = store[hunk_id]
    if hunk.state not in _RESTORABLE:
        raise WrongHunkState(f"{hunk_id} can't be restored: it is {hunk.state}")
    if store.is_on_its_way(hunk_id):
        raise EditInFlight(hunk_id)
    tracked = store.tracked(hunk.uri)
    is_superseded = hunk.state is HunkState.SUPERSEDED
    gone = _close_replacing(store, hunk, tracked) if is_superseded else []
    if is_line_hunk(hunk) and (tracked is None or not tracked.revive(hunk_id)):
        raise WrongHunkState(
            f"{hunk_id} can't be restored: its place is gone, or another hunk waits there"
        )
    waiting = dataclasses.replace(hunk, state=HunkState.PENDING, inline=False, reason="")
    store.save(*gone, waiting, decision=True, stands=hunk.uri)
    store.notify(hunk.uri)


def _close_replacing(store: HunkStore, hunk: Hunk, tracked: TrackedDocument | None) -> list[Hunk]:
    """The hunks that wait where a superseded one is to wait again, taken out of play.

    Raises:
        WrongHunkState: If the place of the superseded one is not known any more.
        EditInFlight: If one of them is on its way to the editor.
    """
    if is_line_hunk(hunk):
        anchor = tracked.anchor(hunk.id) if tracked else None
        if tracked is None or anchor is None:
            raise WrongHunkState(f"{hunk.id} can't be restored: its place is not known any more")
        found = [store[one.hunk] for one in tracked.overlapping((anchor.first, anchor.end))]
    else:
        same = (one for one in store.of_file(hunk.uri) if one.kind is hunk.kind)
        found = [one for one in same if one.state in LIVE]
    for other in found:
        if other.state is HunkState.SENT or store.is_on_its_way(other.id):
            raise EditInFlight(other.id)
    return [store.close_hunk(one, HunkState.SUPERSEDED, f"replaced by {hunk.id}") for one in found]


def replacing_turn(store: HunkStore, hunk: Hunk) -> str:
    """Return the other turn that has proposed what superseded a hunk; empty if there is none."""
    other = hunk.reason.removeprefix("replaced by ")
    if hunk.state is not HunkState.SUPERSEDED or other not in store:
        return ""
    turn = store[other].turn
    return "" if turn == hunk.turn else turn
