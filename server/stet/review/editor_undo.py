"""The editor's undo and redo of accepted hunks, as far as the whole text tells them.

The texts around an accepted edit are known (`stet.review.tracking.undo_detection`). If a change leads to
one of them, the hunks get the states and places that they had in it, whatever the reported difference
says.

The editor keeps its undo history when the server ends. After a restart `restore_undo_texts` undoes the
last accepted hunks one by one on a copy, and accepts there again those that the editor has undone: so
the texts on the way are known again.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from stet.review.errors import UndoConflict
from stet.review.hunk_store import HunkStore
from stet.review.outbox import Outbox
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkState, replace_hunk
from stet.review.rebase import hunks_in_text, note_text, rebase_hunks, reopen_undone
from stet.review.state_restore import copy_of
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.replay import lines_before
from stet.review.tracking.tracked_document import TrackedDocument, resolve_overlaps
from stet.review.tracking.tracked_span import LineSpan
from stet.review.tracking.undo_detection import HunkInText, TextState, TextStates
from stet.text.buffer import TextBuffer
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.document import TextDocument

MAX_STEPS = 4
"""How many hunks are undone, and how many are accepted again."""
MAX_LINES = 2_000
"""In longer texts there are no steps: each takes as long as an accept, while the event loop waits."""
_PLACE = attrgetter("first", "end")


class _StateChange(NamedTuple):
    """The hunks whose state or place in a known text is not their present one."""

    waiting: list[HunkInText]
    accepted: list[HunkInText]
    moved: list[HunkInText]


def follow_editor(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> None:
    """Move the hunks of an open document, and make those pending again that the editor has undone.

    Args:
        store: All hunks.
        tracked: The document.
        changes: The changes of its text, in order.
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
        Whether it is one: whether a hunk has another state than before the change. Otherwise every hunk
        is where the changes have led it, as it may have absorbed lines since the text was noted.
    """
    wanted = _changes_to(store, tracked, known)
    waited = {one.hunk.id for one in before if not one.is_accepted}
    # The difference may have restored some of them already, but not their order.
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
    """Put the anchor of a hunk that was undone or redone where the hunk is in the known text."""
    old, new = one.hunk.old, one.hunk.new
    base, proposed = (new, old) if one.is_accepted else (old, new)
    place = (one.first, one.end)
    tracked.settle(Anchor(one.hunk.id, tracked.lines, place, base, proposed, was_written=True))


def _move(tracked: TrackedDocument, moved: Sequence[HunkInText], known: TextState) -> None:
    """Put anchors back where their hunks are in the known text, unless others are there by now."""
    there = {one.hunk.id for one in known.hunks}
    for one in moved:
        anchor = tracked.anchor(one.hunk.id)
        assert anchor is not None, "the anchor was found before"
        others = () if one.is_accepted else tracked.overlapping((one.first, one.end))
        if all(other.hunk in there for other in others):
            anchor.restore_span(LineSpan(one.first, one.end, is_lost=False), tracked.lines)
    _put_in_order(tracked, known)


def _put_in_order(tracked: TrackedDocument, known: TextState) -> None:
    """Sort the live anchors by place; at one point in the order of the known text."""
    ranks: Mapping[str, int] = {one.hunk.id: nth for nth, one in enumerate(known.hunks)}
    last = len(ranks)
    tracked.live.sort(key=lambda one: (one.first, one.end, ranks.get(one.hunk, last)))
    resolve_overlaps(tracked.live, tracked.lines)


def restore_undo_texts(store: HunkStore, tracked: TrackedDocument) -> None:
    """Note the texts around the last accepted hunks of a document.

    If texts of it are known already, only its present text is noted: the document was closed, and its
    hunks may have come to that text by another way than the editor's undo.

    Args:
        store: All hunks.
        tracked: The document, which has just been opened.
    """
    if tracked.undone.texts.is_any:
        note_text(store, tracked)
        return
    if tracked.in_flight or len(tracked.lines) > MAX_LINES or store.has_blocks(tracked.uri):
        return
    hunks = [store[anchor.hunk] for anchor in (*tracked.live, *tracked.settled)]
    undone = [
        one for one in hunks if one.state is HunkState.PENDING and one.reason == UNDONE_IN_EDITOR
    ]
    # The difference is enough for a hunk that touches no other.
    accepted = [one for one in hunks if one.state is HunkState.ACCEPTED] if _touch(tracked) else []
    for chain, back in ((undone, False), (accepted, True)):
        # The last undone hunk is redone first, and the last accepted hunk is undone first.
        latest = sorted(chain, key=lambda one: -one.changed)[:MAX_STEPS]
        if latest and (copy := copy_of(store, tracked.uri)) is not None:
            tracked.undone.texts.adopt(_texts_between(copy, latest, back=back), tracked.lines)


def _touch(tracked: TrackedDocument) -> bool:
    """Return whether any of the hunks of a document touch."""
    in_order = sorted(tracked.anchors(), key=_PLACE)
    return any(one.end >= other.first for one, other in pairwise(in_order))


def _texts_between(store: HunkStore, hunks: Sequence[Hunk], *, back: bool) -> TextStates:
    """Return the texts that a document has as its hunks are accepted, or undone, one by one.

    Args:
        store: A copy, whose hunks change.
        hunks: In the order of the steps.
        back: Whether they are undone.
    """
    outbox, uri = Outbox(store), hunks[0].uri
    tracked = store.tracked(uri)
    assert tracked is not None, "the copy has the hunks of this document"
    tracked.undone.texts.add_edited(hunk.id for hunk in hunks)
    for hunk in hunks:
        document = TextDocument(tracked.uri, tracked.text, version=1)
        ranks = {one.hunk: nth for nth, one in enumerate(sorted(tracked.anchors(), key=_PLACE))}
        try:
            edit = outbox.send(document, (hunk.id,), back=back)
        except UndoConflict:
            break
        buffer = TextBuffer(document.text)
        changes = changes_between(document.text, edit.apply(document.text))
        tracked.lines = buffer.lines
        made = tuple(buffer.apply(change) for change in changes)
        follow_editor(store, tracked, made, buffer.lines)
        if store[hunk.id].state is not (HunkState.UNDONE if back else HunkState.ACCEPTED):
            break
        if back:
            tracked.undone.due = [hunk.id]
            if not reopen_undone(store, tracked):
                break
            # Several insertions may be at one point now: they keep their order.
            tracked.live.sort(key=lambda one: (*_PLACE(one), ranks[one.hunk]))
            note_text(store, tracked)
    return tracked.undone.texts
