"""Hunks that a conflict of their conversation has replaced (`Hunk.replaces`), until it is closed."""

from collections.abc import Iterable

from stet.review.hunk_store import HunkStore
from stet.review.proposal import Hunk, HunkState, replace_hunk


def amended_text(hunks: Iterable[Hunk], conflict: Hunk) -> str:
    """Return the user's text of the hunks that a conflict of their conversation has replaced.

    Args:
        hunks: The hunks of the conversation, in order of place.
        conflict: One of them, in conflict.

    Returns:
        The text; "" if the user has changed lines of the file instead.
    """
    replaced = (one for one in hunks if one.id in conflict.replaces)
    return "".join(one.new for one in replaced if _is_superseded(one) and one.is_amended)


def replaced_by_conflict(store: HunkStore, hunk_id: str) -> list[Hunk]:
    """Return the superseded hunks that a conflict has replaced; none for other hunks."""
    # The oldest decided hunks are dropped at a restart.
    known = (store[one] for one in store[hunk_id].replaces if one in store)
    return [one for one in known if _is_superseded(one)]


def _is_superseded(hunk: Hunk) -> bool:
    return hunk.state is HunkState.SUPERSEDED


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


def release_replaced(store: HunkStore, hunk: Hunk) -> None:
    """Remove a hunk that is pending again from the conflicts that have replaced it."""
    for other in store.of_file(hunk.uri):
        if hunk.id in other.replaces:
            others = tuple(one for one in other.replaces if one != hunk.id)
            store.save_transient(replace_hunk(other, replaces=others))
