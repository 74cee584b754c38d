"""Rejected, undone and superseded hunks wait again, for the text as it is now."""

import dataclasses

from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.book import Book, is_of_lines
from stet.review.errors import OnItsWay, WrongState
from stet.review.proposal import LIVE, Hunk, HunkState

_RESTORABLE = frozenset({HunkState.REJECTED, HunkState.UNDONE, HunkState.SUPERSEDED})


def restore(book: Book, hunk_id: str) -> None:
    """Let a decided hunk wait again; one that was superseded takes the place of what replaced it.

    Raises:
        WrongState: If it is none of these, its place is another hunk's by now or is gone, or an edit of
            it is still on its way.
        OnItsWay: If an edit of it, or of what replaced it, is.
    """
    hunk = book[hunk_id]
    if hunk.state not in _RESTORABLE:
        raise WrongState(f"{hunk_id} can't be restored: it is {hunk.state}")
    if book.is_on_its_way(hunk_id):
        raise OnItsWay(hunk_id)
    track = book.track(hunk.uri)
    is_superseded = hunk.state is HunkState.SUPERSEDED
    gone = _replacing(book, hunk, track) if is_superseded else []
    if is_of_lines(hunk) and (track is None or not track.revive(hunk_id)):
        raise WrongState(
            f"{hunk_id} can't be restored: its place is gone, or another hunk waits there"
        )
    waiting = dataclasses.replace(hunk, state=HunkState.PENDING, inline=False, reason="")
    book.put(*gone, waiting, decision=True, stands=hunk.uri)
    book.changed(hunk.uri)


def _replacing(book: Book, hunk: Hunk, track: TrackedDocument | None) -> list[Hunk]:
    """The hunks that wait where a superseded one is to wait again, taken out of play.

    Raises:
        WrongState: If the place of the superseded one is not known any more.
        OnItsWay: If one of them is on its way to the editor.
    """
    if is_of_lines(hunk):
        anchor = track.anchor(hunk.id) if track else None
        if track is None or anchor is None:
            raise WrongState(f"{hunk.id} can't be restored: its place is not known any more")
        found = [book[one.hunk] for one in track.overlapping((anchor.first, anchor.end))]
    else:
        same = (one for one in book.of_file(hunk.uri) if one.kind is hunk.kind)
        found = [one for one in same if one.state in LIVE]
    for other in found:
        if other.state is HunkState.SENT or book.is_on_its_way(other.id):
            raise OnItsWay(other.id)
    return [book.closed(one, HunkState.SUPERSEDED, f"replaced by {hunk.id}") for one in found]


def replacing_turn(book: Book, hunk: Hunk) -> str:
    """Return the other turn that has proposed what superseded a hunk; empty if there is none."""
    other = hunk.reason.removeprefix("replaced by ")
    if hunk.state is not HunkState.SUPERSEDED or other not in book:
        return ""
    turn = book[other].turn
    return "" if turn == hunk.turn else turn
