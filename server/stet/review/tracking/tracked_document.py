"""The hunks of one document: their anchors, and the edit in flight."""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence, Set
from itertools import islice, takewhile
from operator import attrgetter

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.edit_plan import EditPlan, plan_undo
from stet.review.tracking.in_flight import InFlightEdit, TimedOutEdits
from stet.review.tracking.relocation import MovedLineTracker, RevisionCheckpoints, relocate
from stet.review.tracking.replay import (
    BatchShift,
    ReplacedLines,
    apply_to_settled,
    shift_all,
    sorted_descending,
)
from stet.review.tracking.tracked_span import MANY_RECORDS, LineSpan, is_distinctive, last_gap
from stet.review.tracking.undo_detection import (
    MAX_EDITS,
    AppliedEdit,
    PendingSpans,
    UndoneInEditor,
    applied_edit,
)
from stet.text.document import TextDocument
from stet.text.edit import LineChange
from stet.text.lines import line_end, without_end

MAX_SETTLED = 5_000
"""The most decided hunks of a document that are tracked, to be undone or restored."""
RECENTLY_SETTLED = 100
"""The number of the last decided hunks with as many change records as pending hunks."""
MANY = 16
"""If a step has more changes, they are applied in one batch."""
NEW_LINE = "\n"
_END = attrgetter("end")
_SPAN = attrgetter("first", "end")


class TrackedDocument:
    """The hunks of one document; owned and changed by the ledger only.

    Attributes:
        uri: The URI in the editor's last spelling.
        lines: The current text: the buffer itself while the document is open.
        is_open: Whether the document is open in the editor.
        live: The anchors of pending and sent hunks, in order of the document and never overlapping.
            Nothing changes the order, so the order decides which of two anchors comes first at one
            point.
        settled: The anchors of decided hunks, which can be undone or restored; oldest decision
            first.
        applied_edits: The edits that have arrived and are tracked as a whole; the latest last.
        in_flight: The edit that is not confirmed yet, if any; there is at most one.
        timed_out: Earlier edits that were given up, until the text changes.
        checkpoints: Earlier texts of the document, with the places of hunks.
        moved_lines: Removed lines that belonged to hunks.
        undone: Hunks that are pending again because of an undo in the editor.
    """

    def __init__(self, uri: str, lines: Sequence[str], *, is_open: bool) -> None:
        """Create a document without hunks."""
        self.uri = uri
        self.lines = lines
        self.is_open = is_open
        self.live: list[Anchor] = []
        self.settled: list[Anchor] = []
        self.applied_edits: list[AppliedEdit] = []
        self.in_flight: InFlightEdit | None = None
        self.timed_out: TimedOutEdits | None = None
        self.checkpoints = RevisionCheckpoints()
        self.moved_lines = MovedLineTracker()
        self.undone = UndoneInEditor()
        self._by_hunk: dict[str, Anchor] = {}

    @property
    def text(self) -> str:
        """The whole current text."""
        # Copying a slice is faster than copying single lines.
        return "".join(self.lines[:])

    def anchor(self, hunk: str) -> Anchor | None:
        """Return the anchor of `hunk`, live or settled; None if there is none."""
        return self._by_hunk.get(hunk)

    def anchors(self) -> Iterable[Anchor]:
        """Return all anchors, live and settled."""
        return self._by_hunk.values()

    # -- live and settled anchors ----------------------------------------------------------------

    def add(self, anchor: Anchor) -> None:
        """Add a live anchor in order of place."""
        at = bisect_right(self.live, (anchor.first, anchor.end), key=_SPAN)
        self.live.insert(at, anchor)
        self._by_hunk[anchor.hunk] = anchor

    def add_changed(self, anchor: Anchor) -> None:
        """Add a live anchor of lines that the user has changed (`Anchor.read_changed`)."""
        self.add(anchor)
        self._find_bases((anchor,))

    def settle(self, anchor: Anchor) -> None:
        """Add the anchor of a hunk that has just been decided; it replaces the earlier anchor."""
        anchor.restore_span(anchor.span, self.lines)
        self.drop(anchor.hunk)
        self.settled.append(anchor)
        self._by_hunk[anchor.hunk] = anchor
        if len(self.settled) > RECENTLY_SETTLED:
            self.settled[-1 - RECENTLY_SETTLED].trim_records()
        if len(self.settled) > MAX_SETTLED:
            self.drop(self.settled[0].hunk)

    def settle_written(self, hunk: str, place: tuple[int, int], base: str, proposed: str) -> None:
        """Settle a hunk on lines `place` with the text `base`; `proposed` was the text before."""
        self.settle(Anchor(hunk, self.lines, place, base, proposed, was_written=True))

    def settle_in_place(self, hunk: str) -> None:
        """Settle a live hunk that was decided without a change of the text."""
        if (anchor := self._by_hunk.get(hunk)) is not None:
            self.settle(anchor)

    def revive(self, hunk: str) -> bool:
        """Make a decided hunk pending again.

        Return False if the place is unknown, or now belongs to another hunk.
        """
        if (anchor := self._by_hunk.get(hunk)) is None:
            return False
        place = (anchor.first, anchor.end)
        # The moved lines of decided hunks are not tracked.
        is_astray = anchor.merged is None or not anchor.current
        found = relocate(anchor, self.lines) if is_astray else None
        if found is not None and not self.overlapping(found):
            place = found
        if self.overlapping(place):
            return False
        self.drop(hunk)
        if place != (anchor.first, anchor.end):
            anchor.restore_span(LineSpan(*place, is_lost=False), self.lines)
        self.add(anchor)
        anchor.max_records = MANY_RECORDS
        return True

    def remake(self, hunk: str, proposed: str) -> Anchor | None:
        """Make a live hunk write `proposed` over the current lines of its place.

        Return the new anchor, or None if the place also belongs to another hunk.
        """
        old = self._by_hunk[hunk]
        # A lost insertion contains lines of the user, which are not replaced.
        place = (old.first, old.first if old.is_insertion else old.end)
        if place[0] == place[1] == len(self.lines) and self.lines[-1]:
            # No line can follow a last line without a line end: that line is included.
            place, last = (old.first - 1, old.first), self.lines[-1]
            if any(anchor is not old and anchor.end >= old.first for anchor in self.live):
                return None
            proposed = f"{last}{line_end(proposed) or NEW_LINE}{without_end(proposed)}"
        if place[1] == len(self.lines) > place[0] + 1 and not self.lines[-1]:
            # The line after the last line end is included only if that line end is removed.
            place = (place[0], place[1] - (not proposed or bool(line_end(proposed))))
        base = "".join(self.lines[place[0] : place[1]])
        if proposed and place[1] < len(self.lines) and not line_end(proposed):
            proposed += line_end(self.lines[place[1] - 1]) or NEW_LINE
        new = Anchor(hunk, self.lines, place, base, proposed)
        self._forget_edits_of((hunk,))
        self.live[self.live.index(old)] = self._by_hunk[hunk] = new
        return new

    def drop(self, hunk: str) -> None:
        """Remove the anchor of `hunk`, if there is one."""
        self.undone.forget(hunk)
        if (anchor := self._by_hunk.pop(hunk, None)) is None:
            return
        for anchors in (self.live, self.settled):
            if anchor in anchors:
                anchors.remove(anchor)
                return

    def overlapping(self, place: tuple[int, int]) -> list[Anchor]:
        """Return the live anchors that overlap with lines `place`."""
        near = islice(self.live, bisect_left(self.live, place[0], key=_END), None)
        return [
            anchor
            for anchor in takewhile(lambda anchor: anchor.first <= place[1], near)
            if overlap(place, (anchor.first, anchor.end))
        ]

    # -- changes of the text ---------------------------------------------------------------------

    def apply_changes(
        self, effects: Sequence[LineChange], lines: Sequence[str]
    ) -> tuple[bool, list[Anchor]]:
        """Move all anchors.

        Args:
            effects: The changes of lines, in order, each in lines of the text after the earlier
                ones: a step of `replay_changes`.
            lines: The text after the changes.

        Returns:
            Whether a live anchor moved or was touched; and the settled anchors that were touched,
            empty if only their neighbours have changed.
        """
        self.applied_edits = [edit for edit in self.applied_edits if edit.apply_changes(effects)]
        in_turn = sorted_descending(effects) if len(effects) > MANY else None
        if in_turn is not None:
            shift = BatchShift(in_turn)
            touched, moved = shift.apply_to(self.live)
            settled, _ = shift.apply_to(self.settled)
        else:
            touched, settled, moved = [], [], False
            for effect in effects:
                moved |= self._apply_to_live(effect, touched)
                settled += apply_to_settled(self.settled, effect)
        for anchor in touched:
            _ = anchor.refresh(lines)
        self._find_bases(touched)
        changed = [anchor for anchor in settled if anchor.refresh(lines)]
        for anchor in changed:
            anchor.find_base(lines, 0, len(lines))
        if touched and (len(touched) > MANY or any(is_crowded(self.live, one) for one in touched)):
            resolve_overlaps(self.live, lines)
        for anchor in touched:
            self._find_base_in_conflicts(anchor)
        # Anchors with only new neighbours matter only if the text of another has changed.
        return moved or bool(touched), settled if changed else []

    def _apply_to_live(self, effect: LineChange, touched: list[Anchor]) -> bool:
        """Move the live anchors; return whether any anchor has moved."""
        first, removed, added = effect
        stop, delta = first + removed, added - removed
        at = bisect_left(self.live, first, key=_END)
        while at and self.live[at - 1].may_regain_line(first):
            at -= 1
        min_first = self.live[at - 1].end if at else 0
        near = list(takewhile(lambda anchor: anchor.first <= stop, islice(self.live, at, None)))
        # The next hunk may have been found below lines that were its own before.
        below = islice(self.live, at + len(near), at + len(near) + 1)
        near += [anchor for anchor in below if anchor.has_record_inverted_by(effect)]
        # Restored lines belong to the hunk that lost them, not to a conflict above; changed lines
        # belong to the hunk that contains them, not to a hunk in flight above.
        claim = [
            one
            for one in near
            if (delta > 0 and one.has_record_inverted_by(effect))
            or (removed and one.first <= first and stop <= one.end)
        ]
        moved = False
        for anchor in near:
            is_others = any(one is not anchor for one in claim)
            if anchor.apply_change(effect, min_first, is_others=is_others):
                moved = True
                touched.append(anchor)
            min_first = max(min_first, anchor.end)
        if delta and shift_all(islice(self.live, at + len(near), None), delta):
            moved = True
        return moved

    def _free_range(self, anchor: Anchor) -> tuple[int, int]:
        """Return the lines around a live anchor that belong to no other live anchor."""
        at = self.live.index(anchor)
        min_first, n = self.live[at - 1].end if at else 0, len(self.lines)
        below = islice(self.live, at + 1, None)
        # An anchor that has lost all its lines comes after the lines of this one.
        max_end = next(
            (one.first for one in below if one.first < one.end or one.merged is not None), n
        )
        return min_first, max_end

    def _find_bases(self, anchors: Iterable[Anchor]) -> None:
        """End the conflicts of live anchors whose base is in the text again."""
        for anchor in anchors:
            if anchor.merged is None:
                anchor.find_base(self.lines, *self._free_range(anchor))

    def _find_base_in_conflicts(self, anchor: Anchor) -> None:
        """End a conflict whose base is among the lines of a conflict beside the anchor.

        The user has split a line that had been joined of lines of both. The other anchor yields
        lines at its edge, but none that reads like a line of its base.
        """
        if not anchor.may_yield or not is_distinctive((anchor.base,)):
            return
        at = self.live.index(anchor)
        above = [one for one in self.live[max(at - 1, 0) : at] if one.may_yield]
        below = [one for one in self.live[at + 1 : at + 2] if one.may_yield]
        min_first, max_end = self._free_range(anchor)
        for one in above:
            min_first = one.end - one.count_foreign(self.lines[one.first : one.end][::-1])
        for one in below:
            max_end = one.first + one.count_foreign(self.lines[one.first : one.end])
        anchor.find_base(self.lines, min_first, max_end)
        for one in above:
            if anchor.first < one.end:
                span = LineSpan(one.first, anchor.first, one.span.is_lost)
                one.restore_span(span, self.lines)
        for one in below:
            if anchor.end > one.first:
                one.restore_span(LineSpan(anchor.end, one.end, one.span.is_lost), self.lines)

    def restore_moved(
        self, blocks: Sequence[ReplacedLines]
    ) -> tuple[bool, list[tuple[Anchor, LineSpan]]]:
        """Move anchors to the lines that a step has inserted again.

        Returns:
            Whether live anchors moved; and the spans of anchors whose hunks have been undone since.
        """
        is_other, gone = False, []
        for anchor, span, records in self.moved_lines.find_moved(blocks, self.lines, self.live):
            if self._by_hunk.get(anchor.hunk) is not anchor:
                gone.append((anchor, span))
            elif anchor not in self.live:
                anchor.restore_span(span, self.lines, records)
            elif set(self.overlapping((span.first, span.end))) <= {anchor}:
                self.live.remove(anchor)
                anchor.restore_span(span, self.lines, records)
                self.add(anchor)
                is_other = True
            else:
                continue
            self.moved_lines.forget(anchor.hunk)
        if is_other:  # and other anchors may have room now
            self.end_conflicts()
        return is_other, gone

    def end_conflicts(self) -> None:
        """End the conflicts of hunks whose lines are free and together again."""
        self._find_bases(self.live)
        resolve_overlaps(self.live, self.lines)

    # -- the edit in flight ----------------------------------------------------------------------

    def send(self, document: TextDocument, plan: EditPlan) -> None:
        """Record that the edit of `plan` for `document`, the current text, is in flight."""
        anchors = [self._by_hunk[hunk] for hunk in plan.texts]
        others = [anchor for anchor in self.anchors() if anchor.hunk not in plan.texts]
        self.in_flight = InFlightEdit(plan, document, anchors, others)
        self.undone.clear()
        for anchor in anchors:
            anchor.is_in_flight = True
        for anchor in others:
            anchor.redo_records = ()  # the editor can't redo changes after another edit

    def place_others(self, sent: InFlightEdit, touched: Iterable[Anchor]) -> list[Anchor]:
        """Move the anchors of all other hunks as the sent edit moves them.

        Called after the edit has arrived.

        An accepted edit touches no live anchor. An edit that undoes hunks may; then live anchors
        stay where the changes have moved them, like settled anchors that an edit changes.

        Args:
            sent: The edit that has arrived.
            touched: The settled anchors whose lines the reported changes have changed.

        Returns:
            Those of `touched` whose lines the edit itself changes.
        """
        placed = {
            anchor.hunk
            for anchor in self.settled
            if self._place_other(sent, anchor, set(), is_settled=True)
        }
        within = [anchor for anchor in touched if anchor.hunk not in placed]
        if sent.plan.is_undo:
            # The editor's difference may have matched other lines that read alike.
            for anchor in self.live:
                if anchor.merged is None:
                    _ = self._place_other(sent, anchor, set())
            resolve_overlaps(self.live, self.lines)
            return within
        earlier: set[str] = set()
        for anchor in self.live:
            if anchor.hunk in sent.plan.places:
                anchor.first, anchor.end = sent.plan.places[anchor.hunk]
            else:
                _ = self._place_other(sent, anchor, earlier)
            earlier.add(anchor.hunk)
        resolve_overlaps(self.live, self.lines)
        self._find_bases(self.live)
        # An anchor without lines may overlap with lines that another has found.
        resolve_overlaps(self.live, self.lines)
        self._track_applied_edit(sent)
        return within

    def _track_applied_edit(self, sent: InFlightEdit) -> None:
        pending = {
            anchor.hunk: PendingSpans(sent.others[anchor.hunk][0], anchor.span)
            for anchor in self.live
            if anchor.hunk in sent.others and anchor.hunk not in sent.plan.places
        }
        self._forget_edits_of(sent.plan.texts)
        if edit := applied_edit(sent.plan, sent.lines, self.lines, pending):
            self.applied_edits = [*self.applied_edits[1 - MAX_EDITS :], edit]

    def _forget_edits_of(self, hunks: Container[str]) -> None:
        """Forget these hunks in earlier edits, because they write another text now."""
        self.applied_edits = [edit for edit in self.applied_edits if edit.forget(hunks)]

    def _place_other(
        self, sent: InFlightEdit, anchor: Anchor, earlier: Set[str], *, is_settled: bool = False
    ) -> bool:
        """Move an anchor as the sent edit moves it; return False if this is unknown."""
        if anchor.hunk not in sent.others:
            return False
        span = sent.span_after(anchor, earlier)
        if span is None:
            return False
        records = sent.others[anchor.hunk][1]
        # Records of the edit show the editor's undo later; the edit itself was no undo.
        has_all = anchor.undo_records[: len(records)] == records
        if span != anchor.span or not has_all:
            anchor.restore_span(span, self.lines, None if has_all else records)
        if is_settled and (record := sent.edge_record(anchor, span)) is not None:
            anchor.record_sent_edge(records, record)
        return True

    def arrived_places(self, sent: InFlightEdit) -> dict[str, tuple[int, int]]:
        """Return the lines of each sent hunk's text; hunks with uncertain lines are left out."""
        found = {hunk: self._arrived_lines(sent, hunk) for hunk in sent.plan.texts}
        return {hunk: place for hunk, place in found.items() if place is not None}

    def _arrived_lines(self, sent: InFlightEdit, hunk: str) -> tuple[int, int] | None:
        """Return the lines of the text of a sent hunk; None if they are uncertain."""
        run = sent.runs.get(hunk)
        if run is None or len(run.hunks) < 2:
            return self._arrived_alone(sent, hunk)
        # The hunk and its neighbours may have arrived in one change, with uncertain edges.
        anchors = [self._by_hunk[one] for one in run.hunks]
        first, end = min(one.first for one in anchors), max(one.end for one in anchors)
        lines = self.lines[first:end]
        if (matched := sent.match_run(run, lines)) is not None:
            place = matched[hunk]
        else:
            if (found := self._arrived_alone(sent, hunk)) or hunk in sent.present:
                return found
            place = sent.find_run(run, lines).get(hunk)
        return None if place is None else (first + place[0], first + place[1])

    def _arrived_alone(self, sent: InFlightEdit, hunk: str) -> tuple[int, int] | None:
        """Return the lines of a sent hunk that touches no other hunk of the edit."""
        anchor, text = self._by_hunk[hunk], sent.plan.texts[hunk]
        if "".join(self.lines[anchor.first : anchor.end]) == text:
            return anchor.first, anchor.end
        # The user has written at the edge, or the smallest difference cut through the hunk.
        return None if hunk in sent.present else anchor.find_text(self.lines, text)

    def plan_undo(self, document: TextDocument, hunks: Iterable[str]) -> EditPlan:
        """Return the plan for undoing these accepted hunks in `document`, the current text.

        Raises:
            UndoConflict: If the user has changed the text of a hunk.
        """
        wanted = {hunk: self._by_hunk.get(hunk) for hunk in hunks}
        if len(wanted) == 1:
            anchors = [one for one in wanted.values() if one is not None and one in self.settled]
        else:
            anchors = [anchor for anchor in reversed(self.settled) if anchor.hunk in wanted]
        return plan_undo(document, anchors)


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two ranges of lines share a line or are the same gap."""
    if one[0] == one[1] and other[0] == other[1]:
        return one == other
    return one[0] < other[1] and other[0] < one[1]


def is_crowded(anchors: Sequence[Anchor], anchor: Anchor) -> bool:
    """Return whether a live anchor shares lines with one of its neighbours."""
    at = anchors.index(anchor)
    return (at > 0 and anchors[at - 1].end > anchor.first) or (
        at + 1 < len(anchors) and anchor.end > anchors[at + 1].first
    )


def resolve_overlaps(anchors: Sequence[Anchor], lines: Sequence[str]) -> None:
    """Give lines that belong to two anchors to the first one only.

    Args:
        anchors: The anchors in order of place.
        lines: The current text.
    """
    min_first, last = 0, last_gap(lines)
    for nth, anchor in enumerate(anchors):
        if anchor.first < min_first and not (anchor.is_insertion and anchor.first == last):
            span = LineSpan(min_first, max(anchor.end, min_first), anchor.span.is_lost)
            anchor.restore_span(span, lines)
        if anchor.first < min_first:
            # An insertion comes before an empty last line, which then belongs to no anchor.
            for one in anchors[:nth]:
                one.first, one.end = min(one.first, last), min(one.end, last)
        min_first = anchor.end
