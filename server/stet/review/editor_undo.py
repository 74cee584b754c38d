"""The editor's undo and redo of accepted hunks, as far as the whole text tells.

A text around an accepted edit is known again (`stet.review.tracking.text_states`). Where a change leads
to one, the hunks get the states and places that they had there, whatever the reported difference said.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stet.review.hunk_store import HunkStore
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkState, replace_hunk
from stet.review.rebase import rebase_hunks, reopen_undone
from stet.review.text_notes import hunks_in_text, note_text
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.block_anchor import BlockAnchor
from stet.review.tracking.line_span import LineSpan
from stet.review.tracking.overlap_resolution import resolve_overlaps
from stet.review.tracking.replay import lines_before
from stet.review.tracking.text_states import HunkInText, TextState
from stet.review.tracking.tracked_document import TrackedDocument
from stet.text.change import TextChange


class _StateChange(NamedTuple):
    """The hunks that a known text has in another state than now, or in another place."""

    waiting: list[HunkInText]
    accepted: list[HunkInText]
    moved: list[HunkInText]


def follow_editor(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> None:
    """Move the hunks of an open document, and let those wait again that the editor's undo took back.

    Args:
        store: All hunks.
        tracked: The document.
        changes: What happened to its text, in order.
        lines: The text after it.
    """
    known = tracked.undone.texts.find(changes, lines) if tracked.in_flight is None else None
    if known is None:
        rebase_hunks(store, tracked, changes, lines)
        if reopen_undone(store, tracked, changes):
            note_text(store, tracked)
        return
    before, is_undo = hunks_in_text(store, tracked), False
    with store.batch():
        rebase_hunks(store, tracked, changes, lines)
        if tracked.in_flight is None:
            is_undo = _restore(store, tracked, known, before)
        _ = reopen_undone(store, tracked, changes)
        if is_undo:
            _put_in_order(tracked, known)
    splices = [change.splice for change in changes if change.splice is not None]
    if len(splices) == len(changes):
        tracked.undone.texts.note(lines_before(splices, lines), before)
    note_text(store, tracked)


def _restore(
    store: HunkStore, tracked: TrackedDocument, known: TextState, before: Sequence[HunkInText]
) -> bool:
    """Give hunks the states and places that they had in this text, if it is an undo or a redo.

    Args:
        store: All hunks.
        tracked: The document, which reads like the known text.
        known: The text.
        before: The hunks as they were before the change.

    Returns:
        Whether it is: whether a hunk has another state than before the change. Else every hunk is where
        the changes have led it, as it may have taken in lines since the text was noted.
    """
    wanted = _changes_to(store, tracked, known)
    waited = {one.hunk.id for one in before if not one.is_accepted}
    # The difference may have told of some of them already, but not in which order they were accepted.
    redone = [
        one
        for one in known.hunks
        if one.is_accepted
        and one.hunk.id in waited
        and store[one.hunk.id].state is HunkState.ACCEPTED
    ]
    if not wanted.waiting and not wanted.accepted and not redone:
        return False
    for one in wanted.accepted:
        _settle(tracked, one)
    for one in wanted.waiting:
        _settle(tracked, one)
    _move(tracked, wanted.moved, known)
    # The hunk that was accepted first is redone first: after a restart the order of the changes tells.
    order = {one.hunk.id: one.hunk.changed for one in before}
    waiting = sorted(wanted.waiting, key=lambda one: -order.get(one.hunk.id, 0))
    accepted = sorted((*wanted.accepted, *redone), key=lambda one: one.hunk.changed)
    turned = {one.hunk.id for one in (*waiting, *accepted)}
    tracked.undone.due = [
        *(one for one in tracked.undone.due if one not in turned),
        *(one.hunk.id for one in waiting),
    ]
    for hunks, state in ((waiting, HunkState.UNDONE), (accepted, HunkState.ACCEPTED)):
        for one in hunks:
            old, new = one.hunk.old, one.hunk.new
            hunk = replace_hunk(store[one.hunk.id], state=state, old=old, new=new, reason="")
            store.save(hunk, stands=tracked.uri)
    store.notify(tracked.uri)
    return True


def _changes_to(store: HunkStore, tracked: TrackedDocument, known: TextState) -> _StateChange:
    """Return the hunks that are to change, and how."""
    wanted = _StateChange([], [], [])
    for one in known.hunks:
        hunk, anchor = store[one.hunk.id], tracked.anchor(one.hunk.id)
        if anchor is None or isinstance(anchor, BlockAnchor) or hunk.inline:
            continue
        if hunk.state is (HunkState.ACCEPTED if one.is_accepted else HunkState.PENDING):
            if (anchor.first, anchor.end) != (one.first, one.end) or anchor.merged is None:
                wanted.moved.append(one)
        elif one.is_accepted and _may_be_accepted(hunk):
            wanted.accepted.append(one)
        elif not one.is_accepted and _may_wait(tracked, hunk):
            wanted.waiting.append(one)
    return wanted


def _may_be_accepted(hunk: Hunk) -> bool:
    """Return whether a hunk was undone, so that the editor may have redone it."""
    return hunk.state is HunkState.UNDONE or hunk.reason == UNDONE_IN_EDITOR


def _may_wait(tracked: TrackedDocument, hunk: Hunk) -> bool:
    """Return whether a hunk was accepted until the last change, and not to be undone by Stet."""
    if hunk.state is HunkState.ACCEPTED:
        return hunk.id not in tracked.undone.given_up
    return hunk.id in tracked.undone.due


def _settle(tracked: TrackedDocument, one: HunkInText) -> None:
    """Put the anchor of a hunk that was turned round where the hunk stands in the known text."""
    old, new = one.hunk.old, one.hunk.new
    base, proposed = (new, old) if one.is_accepted else (old, new)
    place = (one.first, one.end)
    tracked.settle(Anchor(one.hunk.id, tracked.lines, place, base, proposed, was_written=True))


def _move(tracked: TrackedDocument, moved: Sequence[HunkInText], known: TextState) -> None:
    """Put anchors back where their hunks stand in the known text, unless others stand there by now."""
    there = {one.hunk.id for one in known.hunks}
    for one in moved:
        anchor = tracked.anchor(one.hunk.id)
        assert anchor is not None, "it was found a moment ago"
        others = () if one.is_accepted else tracked.overlapping((one.first, one.end))
        if all(other.hunk in there for other in others):
            anchor.restore_span(LineSpan(one.first, one.end, is_lost=False), tracked.lines)
    _put_in_order(tracked, known)


def _put_in_order(tracked: TrackedDocument, known: TextState) -> None:
    """Bring the live anchors in order of place; at one point in that of the known text."""
    ranks: Mapping[str, int] = {one.hunk.id: nth for nth, one in enumerate(known.hunks)}
    last = len(ranks)
    tracked.live.sort(key=lambda one: (one.first, one.end, ranks.get(one.hunk, last)))
    resolve_overlaps(tracked.live, tracked.lines)
