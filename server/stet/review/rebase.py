"""The effects of a change of a document's text on its hunks.

`rebase_hunks` moves the hunks. It recognises the arrival of a sent edit, and an undo or redo in the
editor, by the places of hunks. `follow_editor` does so for an open document, where the whole text
may also show an undo or redo: if it is a recorded text around an accepted edit (`note_text`), the
hunks get their states and places in that text, whatever the reported difference is.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from stet.review.hunk_store import HunkStore, hunks_in_text, note_text, settle_accepted
from stet.review.inline_sync import sync_blocks
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState, replace_hunk
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.edit_plan import EditPlan, plan_accept
from stet.review.tracking.in_flight import TimedOutEdits
from stet.review.tracking.replay import is_typing, lines_before, replaced_lines, replay_changes
from stet.review.tracking.tracked_document import TrackedDocument, resolve_overlaps
from stet.review.tracking.tracked_span import LineSpan
from stet.review.tracking.undo_detection import HunkInText, TextState, detect_editor_undo
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.lines import line_end, line_ends, split_lines, without_end

_FEW_UNDONE = 8
"""If at most so many hunks are undone at once, the redo of a single one is recognised too."""
_MAY_ARRIVE = frozenset({HunkState.PENDING, HunkState.SENT})
"""The states in which the edit of a hunk may arrive after it timed out or was refused."""


def follow_editor(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> None:
    """Move the hunks of an open document; make hunks pending that the editor has undone.

    Args:
        store: All hunks.
        tracked: The document.
        changes: The changes of the text, in order.
        lines: The text after the changes.
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
            is_undo = _restore_known_states(store, tracked, known, before)
        _ = reopen_undone(store, tracked, changes)
        if is_undo:
            _put_in_order(tracked, known)
    if (lines_then := lines_before(changes, lines)) is not None:
        tracked.undone.texts.note(lines_then, before)
    note_text(store, tracked)


def rebase_hunks(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> None:
    """Move the hunks of a document, and confirm a sent edit that has arrived.

    Args:
        store: All hunks.
        tracked: The document.
        changes: The changes of the text, in order.
        lines: The text after the changes.
    """
    still_sent, late = _match_late_edit(store, tracked, changes)
    sent = tracked.in_flight
    if sent is not None and (found := sent.arrival(changes, lines)) is not None:
        count, then = found
        settled: list[Anchor] = []
        for effects, now, _ in replay_changes(changes[:count], then):
            tracked.lines = now
            settled += tracked.apply_changes(effects, now)[1]
        _detect_hunk_undo(store, tracked, tracked.place_others(sent, settled))
        confirm_arrival(store, tracked, sent.plan.places)
        # The rest of the message applies to the edited text.
        changes, tracked.lines = changes[count:], lines
        store.notify(tracked.uri)
        if still_sent or late:
            # An earlier edit has arrived, so the sent edit is now expected in the text with it.
            document = TextDocument(tracked.uri, "".join(then))
            tracked.timed_out = TimedOutEdits(document, late) if late else None
            if still_sent:
                tracked.send(document, _plan(tracked, document, still_sent))
            rebase_hunks(store, tracked, changes, lines)
            return
    is_other = _apply_changes(store, tracked, changes, lines)
    # A document that never had a block has no blocks to synchronize.
    is_synced = store.has_blocks(tracked.uri) and sync_blocks(store, tracked, changes)
    if is_synced or is_other:
        store.notify(tracked.uri)


def _apply_changes(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> bool:
    """Move the hunks; return whether any hunk may have changed."""
    if tracked.live and tracked.in_flight is None:
        tracked.checkpoints.record(changes, lines, tracked.live)
    moves = tracked.in_flight is None and not is_typing(changes)
    is_other = tracked.in_flight is not None
    for effects, now, part in replay_changes(changes, lines):
        tracked.lines = now
        blocks = replaced_lines(part) if moves else ()
        tracked.moved_lines.record_removed(blocks, tracked.live, tracked.settled)
        moved, settled = tracked.apply_changes(effects, now)
        settled = [*settled, *tracked.undone.apply_changes(effects, now)]
        was_moved, gone = tracked.restore_moved(blocks)
        detected = _detect_edit_undo(store, tracked)
        toggled = _detect_hunk_undo(
            store, tracked, [one for one in settled if one.hunk not in detected]
        )
        toggled |= _restore_pasted(store, tracked, gone)
        is_other |= moved or was_moved or toggled or bool(detected)
    tracked.moved_lines.reset_message()
    if tracked.live and tracked.in_flight is None:
        is_other |= tracked.checkpoints.restore(changes, lines, tracked.live)
    return is_other


def catch_up(store: HunkStore, tracked: TrackedDocument, text: str) -> None:
    """Move the hunks of a document that is not open to its new text."""
    # First change the line ends: if all changed at once, no line would match.
    for then in (_with_line_ends_of(text, tracked.lines), text):
        before = tracked.text
        if then != before:
            tracked.lines = split_lines(then)
            rebase_hunks(store, tracked, changes_between(before, then), tracked.lines)


def _with_line_ends_of(text: str, lines: Sequence[str]) -> str:
    """Return `lines` as a text with the line ends of `text`, if `text` has only one kind."""
    before, ends = "".join(lines), line_ends(text)
    if len(ends) != 1 or line_ends(before) <= ends:
        return before
    [end] = ends
    return "".join(f"{without_end(line)}{end}" if line_end(line) else line for line in lines)


def _match_late_edit(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Put a timed-out edit in flight again if it arrives with the next changes.

    Returns:
        The hunks of the edit that was in flight instead and still is; and the edits that may still
        arrive after the edit that is now in flight.
    """
    timed_out, sent = tracked.timed_out, tracked.in_flight
    if not changes or timed_out is None:
        return (), ()
    tracked.timed_out = None
    if sent is not None and (sent.plan.is_undo or sent.plan.settle):
        return (), ()
    on_way = () if sent is None else tuple(sent.plan.texts)
    expected: dict[str, tuple[str, ...]] = {}
    for hunks in timed_out.combinations_with(on_way):
        if all(store[hunk].state in _MAY_ARRIVE or hunk in on_way for hunk in hunks):
            plan = _plan(tracked, timed_out.document, hunks)
            text = plan.edit.apply(timed_out.document.text)
            if text != timed_out.document.text:  # an edit without effect can't arrive
                _ = expected.setdefault(text, hunks)
    # Use the last matching text: some editors report several edits from the bottom up.
    arrived = [expected[text] for text in timed_out.texts_after(changes) if text in expected][-1:]
    if not arrived:
        return (), ()
    [hunks] = arrived
    if hunks != on_way:
        tracked.send(timed_out.document, _plan(tracked, timed_out.document, hunks))
    left = timed_out.without(hunks)
    return () if set(on_way) <= set(hunks) else on_way, left.edits if left else ()


def _plan(tracked: TrackedDocument, document: TextDocument, hunks: Collection[str]) -> EditPlan:
    """Return the plan for accepting these hunks in `document`, without conflicts."""
    return plan_accept(
        document, [a for a in tracked.live if a.hunk in hunks and a.merged is not None]
    )


def confirm_arrival(
    store: HunkStore, tracked: TrackedDocument, places: Mapping[str, tuple[int, int]]
) -> None:
    """Confirm the sent hunks, which have arrived on the lines `places`."""
    sent = tracked.in_flight
    assert sent is not None, "nothing was sent"
    tracked.in_flight = None
    if sent.plan.settle is not None:
        sent.plan.settle(places)
        return
    decided = []
    for hunk_id, place in places.items():
        hunk, anchor, written = store[hunk_id], tracked.anchor(hunk_id), sent.plan.texts[hunk_id]
        if anchor is None:
            continue
        if sent.plan.is_undo:
            hunk = replace_hunk(hunk, state=HunkState.UNDONE, old=written, reason="")
            tracked.settle_written(hunk_id, place, written, hunk.new)
        else:
            hunk = settle_accepted(tracked, hunk, place, anchor.current, written)
        decided.append(hunk)
    # An undo by Stet is not an undo by the editor, whatever the text was during Stet's undo.
    tracked.undone.due = [one for one in tracked.undone.due if one not in places]
    tracked.end_conflicts()  # a written hunk may have been between the lines of another
    store.save(*decided, decision=True, anchors_of=tracked.uri)
    note_text(store, tracked)


def _detect_edit_undo(store: HunkStore, tracked: TrackedDocument) -> set[str]:
    """Handle the user's undo or redo, in the editor, of an edit of several hunks.

    Returns:
        The hunks of the undone and redone edits.
    """
    detected: set[str] = set()
    toggled = []
    edits = reversed(tracked.applied_edits)
    for one in (one for edit in edits for one in edit.detect_undo(tracked.lines)):
        other = _toggled_state(tracked, store[one.hunk])
        wanted = HunkState.UNDONE if one.is_undone else HunkState.ACCEPTED
        if one.hunk not in detected and tracked.anchor(one.hunk) and other is wanted:
            now = "".join(tracked.lines[one.place[0] : one.place[1]])
            toggled.append(_toggle(tracked, store[one.hunk], other))
            tracked.settle_written(one.hunk, one.place, now, one.other)
        detected.add(one.hunk)
    store.save(*toggled, anchors_of=tracked.uri)
    _restore_pending_spans(tracked)
    return detected


def _restore_pasted(
    store: HunkStore, tracked: TrackedDocument, pasted: Sequence[tuple[Anchor, LineSpan]]
) -> bool:
    """Accept hunks again whose text the user has cut and pasted; return whether there were any."""
    back = []
    for anchor, span in pasted:
        hunk = store[anchor.hunk]
        is_undone = hunk.state is HunkState.UNDONE or hunk.id in tracked.undone
        if is_undone and hunk.new == anchor.base:
            back.append(_toggle(tracked, hunk, HunkState.ACCEPTED))
            anchor.first, anchor.end = span.first, span.end
            tracked.settle(anchor)
            tracked.moved_lines.forget(anchor.hunk)
    store.save(*back, anchors_of=tracked.uri)
    return bool(back)


def _restore_pending_spans(tracked: TrackedDocument) -> None:
    """Move pending hunks back to their places after an edit around them was undone or redone."""
    known: set[str] = set()
    edits = reversed(tracked.applied_edits)
    for hunk, span in (one for edit in edits for one in edit.pending_spans(tracked.lines)):
        anchor = tracked.anchor(hunk)
        if hunk not in known and anchor in tracked.live and anchor.span != span:
            anchor.restore_span(span, tracked.lines)
        known.add(hunk)
    if known:
        resolve_overlaps(tracked.live, tracked.lines)


def _detect_hunk_undo(
    store: HunkStore, tracked: TrackedDocument, touched: Sequence[Anchor]
) -> bool:
    """Handle the user's undo or redo, in the editor, of an accepted hunk."""
    able = [
        anchor
        for anchor in dict.fromkeys(touched)
        if _toggled_state(tracked, hunk := store[anchor.hunk]) and hunk.kind is not HunkKind.CREATE
    ]
    toggled = []
    for anchor, place, other in detect_editor_undo(able, tracked.lines):
        hunk, now = store[anchor.hunk], "".join(tracked.lines[place[0] : place[1]])
        if (state := _toggled_state(tracked, hunk)) is not None:
            toggled.append(_toggle(tracked, hunk, state))
            tracked.settle_written(hunk.id, place, now, other)
    store.save(*toggled, anchors_of=tracked.uri)
    return bool(toggled)


def _toggled_state(tracked: TrackedDocument, hunk: Hunk) -> HunkState | None:
    """Return the state of a hunk after an undo or redo in the editor; None for other hunks."""
    if hunk.state is HunkState.ACCEPTED:
        return HunkState.UNDONE
    is_undone = hunk.state is HunkState.UNDONE or tracked.undone.is_redone(hunk.id, tracked.lines)
    return HunkState.ACCEPTED if is_undone else None


def _toggle(tracked: TrackedDocument, hunk: Hunk, state: HunkState) -> Hunk:
    """Return a hunk in `state` after the user's undo or redo in the editor."""
    if state is HunkState.UNDONE and hunk.id not in tracked.undone.given_up:
        tracked.undone.due.append(hunk.id)
    tracked.undone.given_up.discard(hunk.id)
    return dataclasses.replace(hunk, state=state, reason="")


def reopen_undone(
    store: HunkStore, tracked: TrackedDocument, changes: Sequence[TextChange] = ()
) -> bool:
    """Make hunks pending that the user has just undone in the editor, if their place is free.

    Args:
        store: All hunks.
        tracked: The document.
        changes: The changes of the undo, in order: a redo leads to the text before them.

    Returns:
        Whether there are such hunks.
    """
    if tracked.in_flight is not None or not tracked.undone.due:
        return False
    due, tracked.undone.due = tracked.undone.due, []
    anchors = {}
    for hunk_id in due:
        anchor = tracked.anchor(hunk_id)
        if store[hunk_id].state is not HunkState.UNDONE or anchor is None or anchor.merged is None:
            continue
        place = (anchor.first, anchor.end)
        is_empty = anchor.first == anchor.end  # several insertions may be pending at one point
        if all(is_empty and one.first == one.end for one in tracked.overlapping(place)):
            tracked.drop(hunk_id)
            live = Anchor(
                hunk_id, tracked.lines, place, anchor.base, anchor.proposed, was_written=True
            )
            tracked.add(live)
            live.restore_span(live.span, tracked.lines)
            anchors[hunk_id] = anchor, live
    if not anchors:
        return False
    document = TextDocument(tracked.uri, tracked.text)
    every = [live for _, live in anchors.values()]
    together = plan_accept(document, every).edit.apply(document.text)
    before = lines_before(changes, tracked.lines) if changes else None
    undone_text = () if before is None else ("".join(before),)
    for anchor, live in anchors.values():
        texts = [together, *undone_text]
        if len(every) <= _FEW_UNDONE:
            texts.append(plan_accept(document, [live]).edit.apply(document.text))
        tracked.undone.add(anchor, texts)
    pending = {"state": HunkState.PENDING, "reason": UNDONE_IN_EDITOR, "replaces": ()}
    store.save(
        *(replace_hunk(store[hunk_id], **pending) for hunk_id in anchors), anchors_of=tracked.uri
    )
    store.notify(tracked.uri)
    return True


def _restore_known_states(
    store: HunkStore, tracked: TrackedDocument, known: TextState, before: Sequence[HunkInText]
) -> bool:
    """Restore the states and places of hunks in a recorded text after an undo or redo.

    Args:
        store: All hunks.
        tracked: The document, whose text is the recorded text.
        known: The recorded text.
        before: The states of the hunks before the change.

    Returns:
        Whether the change is an undo or redo: whether a hunk has another state than before.
        Otherwise every hunk stays where the changes have moved it, because it may have absorbed
        lines since the text was recorded.
    """
    pending, accepted, moved = _changes_to_known(store, tracked, known)
    were_pending = {one.recorded.id for one in before if not one.is_accepted}
    # The difference may have restored some hunks already, but not their order.
    redone = [
        one
        for one in known.hunks
        if one.is_accepted
        and one.recorded.id in were_pending
        and store[one.recorded.id].state is HunkState.ACCEPTED
    ]
    if not pending and not accepted and not redone:
        return False
    for one in (*accepted, *pending):
        _settle_known(tracked, one)
    _move_to_known(tracked, moved, known)
    # The hunk that was accepted first is redone first; `changed` has this order after a restart.
    order = {one.recorded.id: one.recorded.changed for one in before}
    pending.sort(key=lambda one: -order.get(one.recorded.id, 0))
    accepted = sorted((*accepted, *redone), key=lambda one: one.recorded.changed)
    turned = {one.recorded.id for one in (*pending, *accepted)}
    tracked.undone.due = [
        *(one for one in tracked.undone.due if one not in turned),
        *(one.recorded.id for one in pending),
    ]
    for hunks, state in ((pending, HunkState.UNDONE), (accepted, HunkState.ACCEPTED)):
        for one in hunks:
            old, new = one.recorded.old, one.recorded.new
            hunk = replace_hunk(store[one.recorded.id], state=state, old=old, new=new, reason="")
            store.save(hunk, anchors_of=tracked.uri)
    store.notify(tracked.uri)
    return True


def _changes_to_known(
    store: HunkStore, tracked: TrackedDocument, known: TextState
) -> tuple[list[HunkInText], list[HunkInText], list[HunkInText]]:
    """Return the hunks that become pending, that become accepted, and that only move."""
    pending, accepted, moved = [], [], []
    for one in known.hunks:
        hunk, anchor = store[one.recorded.id], tracked.anchor(one.recorded.id)
        if anchor is None or isinstance(anchor, BlockAnchor) or hunk.inline:
            continue
        if hunk.state is (HunkState.ACCEPTED if one.is_accepted else HunkState.PENDING):
            if (anchor.first, anchor.end) != (one.first, one.end) or anchor.merged is None:
                moved.append(one)
        elif one.is_accepted:
            # The editor may have redone the hunk.
            if hunk.state is HunkState.UNDONE or hunk.reason == UNDONE_IN_EDITOR:
                accepted.append(one)
        elif _may_be_pending(tracked, hunk):
            pending.append(one)
    return pending, accepted, moved


def _may_be_pending(tracked: TrackedDocument, hunk: Hunk) -> bool:
    """Return whether a hunk was accepted until the last change, without an undo by Stet."""
    if hunk.state is HunkState.ACCEPTED:
        return hunk.id not in tracked.undone.given_up
    return hunk.id in tracked.undone.due


def _settle_known(tracked: TrackedDocument, one: HunkInText) -> None:
    """Settle an undone or redone hunk in its place in the recorded text."""
    old, new = one.recorded.old, one.recorded.new
    base, proposed = (new, old) if one.is_accepted else (old, new)
    tracked.settle_written(one.recorded.id, (one.first, one.end), base, proposed)


def _move_to_known(tracked: TrackedDocument, moved: Sequence[HunkInText], known: TextState) -> None:
    """Move anchors to their places in the recorded text, unless other hunks are there."""
    there = {one.recorded.id for one in known.hunks}
    for one in moved:
        anchor = tracked.anchor(one.recorded.id)
        assert anchor is not None, "the anchor was found before"
        others = () if one.is_accepted else tracked.overlapping((one.first, one.end))
        if all(other.hunk in there for other in others):
            anchor.restore_span(LineSpan(one.first, one.end, is_lost=False), tracked.lines)
    _put_in_order(tracked, known)


def _put_in_order(tracked: TrackedDocument, known: TextState) -> None:
    """Sort the live anchors by place; at one point in the order of the recorded text."""
    ranks: Mapping[str, int] = {one.recorded.id: nth for nth, one in enumerate(known.hunks)}
    last = len(ranks)
    tracked.live.sort(key=lambda one: (one.first, one.end, ranks.get(one.hunk, last)))
    resolve_overlaps(tracked.live, tracked.lines)
