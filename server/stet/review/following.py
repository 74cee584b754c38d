"""What a change of a document's text does to its hunks."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from stet.review.anchoring.anchor import Anchor
from stet.review.anchoring.edit_plan import EditPlan, plan_accept
from stet.review.anchoring.line_span import LineSpan
from stet.review.anchoring.moved_lines import is_typing, replaced_lines
from stet.review.anchoring.overlap_resolution import resolve_overlaps
from stet.review.anchoring.replay import lines_before, replay_changes
from stet.review.anchoring.timed_out_edits import TimedOutEdits
from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.anchoring.undo_detection import detect_editor_undo
from stet.review.book import Book
from stet.review.by_hand import after_change
from stet.review.noting import note_text
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState, but
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.lines import line_end, line_ends, split_lines, without_end

_FEW = 8
"""Of so many hunks that are undone at once, a redo of one alone is known too."""
_MAY_COME = frozenset({HunkState.PENDING, HunkState.SENT})
"""States in which an edit that was given up, or refused once, is still taken for what was accepted."""


def follow(
    book: Book, track: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> None:
    """Move the hunks of a document, and see whether a sent edit has arrived.

    Args:
        book: All hunks.
        track: The document.
        changes: What happened to its text, in order.
        lines: The text behind them.
    """
    waiting, late = _take_up_late(book, track, changes)
    if track.in_flight is not None and (found := _arrival(track, changes, lines)) is not None:
        count, then = found
        settled: list[Anchor] = []
        for effects, now, _ in replay_changes(changes[:count], then):
            track.lines = now
            settled += track.apply_changes(effects, now)[1]
        _turn_round(book, track, track.settle_others(settled))
        confirm(book, track, track.in_flight.plan.places)
        # What comes behind it in the same message was typed into the edited text.
        changes, track.lines = changes[count:], lines
        book.changed(track.uri)
        if waiting or late:
            # An edit before it has come, so its own is expected for the text behind that.
            document = TextDocument(track.uri, "".join(then))
            track.timed_out = TimedOutEdits(document, late) if late else None
            if waiting:
                _expect(track, document, waiting)
            follow(book, track, changes, lines)
            return
    is_other = _follow_changes(book, track, changes, lines)
    # Where no hunk ever stood in the text itself, there is nothing to decide by hand.
    by_hand = book.has_blocks(track.uri) and after_change(book, track, changes)
    if by_hand or is_other:
        book.changed(track.uri)


def _follow_changes(
    book: Book, track: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> bool:
    """Move the hunks; whether anything about them may be another now."""
    if track.live and track.in_flight is None:
        track.checkpoints.record(changes, lines, track.live)
    moves = track.in_flight is None and not is_typing(changes)
    is_other = track.in_flight is not None
    for effects, now, part in replay_changes(changes, lines):
        track.lines = now
        blocks = replaced_lines(part) if moves else ()
        track.moved_lines.record_removed(blocks, track.live, track.settled)
        moved, settled = track.apply_changes(effects, now)
        settled = [*settled, *track.undone.apply_changes(effects, now)]
        led, gone = track.restore_moved(blocks)
        told = _turn_edits(book, track)
        turned = _turn_round(book, track, [one for one in settled if one.hunk not in told])
        turned |= _turn_back(book, track, gone)
        is_other |= moved or led or turned or bool(told)
    track.moved_lines.reset_message()
    if track.live and track.in_flight is None:
        is_other |= track.checkpoints.restore(changes, lines, track.live)
    return is_other


def catch_up(book: Book, track: TrackedDocument, text: str) -> None:
    """A document that is not open has become `text`."""
    # Other line ends first: with them no line would be found again among those that have changed too.
    for then in (_with_ends_of(text, track.lines), text):
        before = track.text
        if then != before:
            track.lines = split_lines(then)
            follow(book, track, changes_between(before, then), track.lines)


def _with_ends_of(text: str, lines: Sequence[str]) -> str:
    """`lines` with the line ends of `text`, if it has only one kind."""
    before, ends = "".join(lines), line_ends(text)
    if len(ends) != 1 or line_ends(before) <= ends:
        return before
    [end] = ends
    return "".join(f"{without_end(line)}{end}" if line_end(line) else line for line in lines)


def _take_up_late(
    book: Book, track: TrackedDocument, changes: Sequence[TextChange]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """See whether an edit that was given up comes with the next changes: then it is the one on its way.

    Returns:
        The hunks of the edit that was on its way instead, and still is; and the edits that are still
        overdue once that one has come which is on its way now.
    """
    overdue, sent = track.timed_out, track.in_flight
    if not changes or overdue is None:
        return (), ()
    track.timed_out = None
    if sent is not None and (sent.plan.is_undo or sent.plan.settle):
        return (), ()
    on_way = () if sent is None else tuple(sent.plan.texts)
    expected: dict[str, tuple[str, ...]] = {}
    for hunks in overdue.combinations_with(on_way):
        if all(book[hunk].state in _MAY_COME or hunk in on_way for hunk in hunks):
            plan = _plan(track, overdue.document, hunks)
            expected.setdefault(plan.edit.apply(overdue.document.text), hunks)
    # What is complete last counts: some report several edits from the bottom up.
    come = [expected[text] for text in overdue.texts_after(changes) if text in expected][-1:]
    if not come:
        return (), ()
    [hunks] = come
    if hunks != on_way:
        _expect(track, overdue.document, hunks)
    left = overdue.without(hunks)
    return () if set(on_way) <= set(hunks) else on_way, left.edits if left else ()


def _expect(track: TrackedDocument, document: TextDocument, hunks: Collection[str]) -> None:
    """The edit of these hunks, and no other, is on its way, for `document`."""
    track.send(document, _plan(track, document, hunks))


def _plan(track: TrackedDocument, document: TextDocument, hunks: Collection[str]) -> EditPlan:
    return plan_accept(
        document, [a for a in track.live if a.hunk in hunks and a.merged is not None]
    )


def _arrival(
    track: TrackedDocument, changes: Sequence[TextChange], lines: Sequence[str]
) -> tuple[int, Sequence[str]] | None:
    """Behind how many changes the sent edit is complete, and the lines then; None if it is not."""
    assert track.in_flight is not None, "asked only while an edit is on its way"
    if track.in_flight.is_expected(lines):
        return len(changes), lines
    return track.in_flight.completed_by(changes)


def confirm(book: Book, track: TrackedDocument, places: Mapping[str, tuple[int, int]]) -> None:
    """Hunks that were sent have arrived, on these lines; nothing is on its way any more."""
    sent = track.in_flight
    assert sent is not None, "nothing was sent"
    track.in_flight = None
    if sent.plan.settle is not None:
        sent.plan.settle(places)
        return
    decided = []
    for hunk_id, place in places.items():
        hunk, anchor, written = book[hunk_id], track.anchor(hunk_id), sent.plan.texts[hunk_id]
        if anchor is None:
            continue
        if sent.plan.is_undo:
            hunk = but(hunk, state=HunkState.UNDONE, old=written, reason="")
            track.settle(Anchor(hunk_id, track.lines, place, written, hunk.new, was_written=True))
        else:
            before = anchor.current
            hunk = but(hunk, state=HunkState.ACCEPTED, old=before, new=written, reason="")
            track.settle(Anchor(hunk_id, track.lines, place, written, before, was_written=True))
        decided.append(hunk)
    # What Stet took back itself is no undo of the editor, whatever its text told before it was whole.
    track.undone.due = [one for one in track.undone.due if one not in places]
    book.put(*decided, decision=True, stands=track.uri)
    note_text(book, track)


def _turn_edits(book: Book, track: TrackedDocument) -> set[str]:
    """The user took an edit of several hunks back in the editor, or did so and thought again.

    Returns:
        The hunks of the edits that the text tells of.
    """
    told: set[str] = set()
    turned = []
    for one in (
        one for edit in reversed(track.applied_edits) for one in edit.detect_undo(track.lines)
    ):
        other = _turned(track, book[one.hunk])
        wanted = HunkState.UNDONE if one.is_undone else HunkState.ACCEPTED
        if one.hunk not in told and track.anchor(one.hunk) and other is wanted:
            now = "".join(track.lines[one.place[0] : one.place[1]])
            turned.append(_turn(track, book[one.hunk], other))
            track.settle(Anchor(one.hunk, track.lines, one.place, now, one.other, was_written=True))
        told.add(one.hunk)
    book.put(*turned, stands=track.uri)
    _put_back_waiting(track)
    return told


def _turn_back(
    book: Book, track: TrackedDocument, pasted: Sequence[tuple[Anchor, LineSpan]]
) -> bool:
    """The user cut what was accepted, and has pasted it elsewhere; whether there was any of it."""
    back = []
    for anchor, standing in pasted:
        hunk = book[anchor.hunk]
        is_undone = hunk.state is HunkState.UNDONE or hunk.id in track.undone
        if is_undone and hunk.new == anchor.base:
            back.append(_turn(track, hunk, HunkState.ACCEPTED))
            anchor.move_to(standing.first, standing.end)
            track.settle(anchor)
            track.moved_lines.forget(anchor.hunk)
    book.put(*back, stands=track.uri)
    return bool(back)


def _put_back_waiting(track: TrackedDocument) -> None:
    """The hunks that wait among those of an edit that was taken back, or done again, wait where they did."""
    known: set[str] = set()
    for hunk, standing in (
        one for edit in reversed(track.applied_edits) for one in edit.pending_spans(track.lines)
    ):
        anchor = track.anchor(hunk)
        if hunk not in known and anchor in track.live and anchor.span != standing:
            anchor.restore_span(standing, track.lines)
        known.add(hunk)
    if known:
        resolve_overlaps(track.live, track.lines)


def _turn_round(book: Book, track: TrackedDocument, touched: Sequence[Anchor]) -> bool:
    """The user took an accepted hunk back in the editor, or did so and thought again."""
    able = [
        anchor
        for anchor in dict.fromkeys(touched)
        if _turned(track, hunk := book[anchor.hunk]) and hunk.kind is not HunkKind.CREATE
    ]
    turned = []
    for anchor, place, other in detect_editor_undo(able, track.lines):
        hunk, now = book[anchor.hunk], "".join(track.lines[place[0] : place[1]])
        if (state := _turned(track, hunk)) is not None:
            turned.append(_turn(track, hunk, state))
            track.settle(Anchor(hunk.id, track.lines, place, now, other, was_written=True))
    book.put(*turned, stands=track.uri)
    return bool(turned)


def _turned(track: TrackedDocument, hunk: Hunk) -> HunkState | None:
    """The state of a hunk once the user has undone it in the editor, or redone it; None for others."""
    if hunk.state is HunkState.ACCEPTED:
        return HunkState.UNDONE
    is_undone = hunk.state is HunkState.UNDONE or track.undone.is_redone(hunk.id, track.lines)
    return HunkState.ACCEPTED if is_undone else None


def _turn(track: TrackedDocument, hunk: Hunk, state: HunkState) -> Hunk:
    """A hunk that the user has turned round in the editor."""
    if state is HunkState.UNDONE and hunk.id not in track.undone.given_up:
        track.undone.due.append(hunk.id)
    track.undone.given_up.discard(hunk.id)
    return dataclasses.replace(hunk, state=state, reason="")


def wait_again(book: Book, track: TrackedDocument, changes: Sequence[TextChange] = ()) -> bool:
    """Let hunks that the user has just undone in the editor wait, where their place is free.

    Args:
        book: All hunks.
        track: The document.
        changes: The undo, in order: the text before it is what a redo leads to.

    Returns:
        Whether there are any.
    """
    if track.in_flight is not None or not track.undone.due:
        return False
    due, track.undone.due = track.undone.due, []
    anchors = {}
    for hunk_id in due:
        anchor = track.anchor(hunk_id)
        if book[hunk_id].state is not HunkState.UNDONE or anchor is None or anchor.merged is None:
            continue
        place = (anchor.first, anchor.end)
        is_gap = anchor.first == anchor.end  # several insertions may wait at one point
        if all(is_gap and one.first == one.end for one in track.overlapping(place)):
            track.drop(hunk_id)
            live = Anchor(
                hunk_id, track.lines, place, anchor.base, anchor.proposed, was_written=True
            )
            track.add(live)
            live.restore_span(live.span, track.lines)
            anchors[hunk_id] = anchor, live
    if not anchors:
        return False
    document = TextDocument(track.uri, track.text)
    every = [live for _, live in anchors.values()]
    together = plan_accept(document, every).edit.apply(document.text)
    for anchor, live in anchors.values():
        alone = (
            [plan_accept(document, [live]).edit.apply(document.text)] if len(every) <= _FEW else []
        )
        track.undone.add(anchor, [together, *alone, *_text_before(changes, track.lines)])
    waits = {"state": HunkState.PENDING, "reason": UNDONE_IN_EDITOR}
    book.put(*(but(book[hunk_id], **waits) for hunk_id in anchors), stands=track.uri)
    book.changed(track.uri)
    return True


def _text_before(changes: Sequence[TextChange], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the text before `changes`; `lines` is the text after them. Nothing if it can't be told."""
    splices = [change.splice for change in changes if change.splice is not None]
    if not splices or len(splices) < len(changes):
        return ()
    return ("".join(lines_before(splices, lines)),)
