"""Hunks that a conflict of their conversation has replaced, until the conflict is closed."""

from collections.abc import Iterable

from stet.review.hunk_store import HunkStore
from stet.review.proposal import REPLACING, Hunk, HunkState, replace_hunk, superseded_by


def amended_text(hunks: Iterable[Hunk], conflict: Hunk) -> str:
    """Return the user's text of the hunks that a conflict of their conversation has replaced.

    Args:
        hunks: The hunks of the conversation, in order of place.
        conflict: One of them, in conflict.

    Returns:
        The text; "" if the user has changed lines of the file instead.
    """
    return "".join(one.new for one in _replaced(hunks, conflict) if one.is_amended)


def replaced_by_conflict(store: HunkStore, hunk_id: str) -> list[Hunk]:
    """Return the hunks that a conflict has replaced because the user had changed them, or text
    around them; none for other hunks.
    """
    conflict = store[hunk_id]
    return _replaced(store.of_file(conflict.uri), conflict)


def _replaced(hunks: Iterable[Hunk], conflict: Hunk) -> list[Hunk]:
    if not conflict.reason.startswith(REPLACING):
        return []
    by_it = (conflict.chat, HunkState.SUPERSEDED, superseded_by(conflict.id))
    return [one for one in hunks if (one.chat, one.state, one.reason) == by_it]


def reopen_replaced(store: HunkStore, hunks: Iterable[Hunk]) -> None:
    """Make hunks pending again whose conflict has been closed (`replaced_by_conflict`).

    Those that can't be pending, because the user has changed their lines in the file, or because
    their place has another hunk, are not changed.
    """
    for hunk in hunks:
        tracked = store.tracked(hunk.uri)
        anchor = tracked.anchor(hunk.id) if tracked else None
        if tracked is None or anchor is None or anchor.merged is None:
            continue
        if tracked.revive(hunk.id):
            waiting = replace_hunk(hunk, state=HunkState.PENDING, inline=False, reason="")
            store.save(waiting, decision=True, anchors_of=hunk.uri)
            store.notify(hunk.uri)
