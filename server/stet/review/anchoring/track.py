"""One document's hunks: their anchors, and what has been sent to the editor for it."""

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Sequence, Set
from itertools import islice, takewhile
from operator import attrgetter

from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.apart import is_crowded, keep_apart
from stet.review.anchoring.cuts import Block, Cuts
from stet.review.anchoring.elsewhere import elsewhere
from stet.review.anchoring.many_places import shift_all
from stet.review.anchoring.overdue import Overdue
from stet.review.anchoring.plan import Plan, taking_back
from stet.review.anchoring.returns import Returns
from stet.review.anchoring.sent import Sent
from stet.review.anchoring.standing import Standing, overlap
from stet.review.anchoring.sweep import Sweep, all_followed, from_the_bottom_up
from stet.review.anchoring.undone import UndoneInEditor
from stet.review.anchoring.whole_edits import MAX_EDITS, Waiting, WholeEdit, whole_edit
from stet.text.change import LineChange
from stet.text.document import TextDocument
from stet.text.lines import line_end, without_end

MAX_SETTLED = 5_000
"""How many decided hunks of a document are followed, so that they can be undone or restored."""
LATELY = 100
"""How many of these, the last ones, remember as much of what was changed in them as hunks that wait."""

MANY = 16
"""Changes in one step from which on they are taken in one sweep."""
NEW_LINE = "\n"
_END = attrgetter("end")
_PLACE = attrgetter("first", "end")


class Track:
    """Owned and changed by the ledger only.

    Attributes:
        uri: The document, as the editor spelt it last.
        lines: Its text as it is now: the editor's buffer itself while it is open.
        is_open: Whether that is so.
        live: The anchors of hunks that wait, in order of the document and never overlapping. Nothing
            changes the order, so it tells which of two comes first once they stand at one point.
        settled: Those of decided hunks, which can be undone or restored; oldest decision first.
        edits: Those that have arrived and that their hunks alone may not tell of; the last one last.
        sent: The edit that has not been confirmed yet; one at a time.
        overdue: Edits before it that were given up, as long as the text has not changed since.
        returns: Texts that it had, and where hunks stood in them.
        cuts: Lines that were taken out with hunks on them.
        undone: Hunks that wait again, undone in the editor.
    """

    def __init__(self, uri: str, lines: Sequence[str], *, is_open: bool) -> None:
        """Nothing is proposed yet."""
        self.uri = uri
        self.lines = lines
        self.is_open = is_open
        self.live: list[Anchor] = []
        self.settled: list[Anchor] = []
        self.edits: list[WholeEdit] = []
        self.sent: Sent | None = None
        self.overdue: Overdue | None = None
        self.returns = Returns()
        self.cuts = Cuts()
        self.undone = UndoneInEditor()
        self._by_hunk: dict[str, Anchor] = {}

    @property
    def text(self) -> str:
        """The whole text as it is now."""
        # A copy of a part is made faster than lines are given one by one.
        return "".join(self.lines[:])

    def anchor(self, hunk: str) -> Anchor | None:
        """The anchor of `hunk`, live or settled; None if it has none here."""
        return self._by_hunk.get(hunk)

    def anchors(self) -> Iterable[Anchor]:
        """All of them."""
        return self._by_hunk.values()

    # -- which there are -------------------------------------------------------------------------

    def add(self, anchor: Anchor) -> None:
        """Take in a live anchor, at its place among the others."""
        at = bisect_right(self.live, (anchor.first, anchor.end), key=_PLACE)
        self.live.insert(at, anchor)
        self._by_hunk[anchor.hunk] = anchor

    def settle(self, anchor: Anchor) -> None:
        """Take in the anchor of a hunk that has just been decided, instead of the one it had."""
        anchor.put_back(anchor.standing, self.lines)
        self.drop(anchor.hunk)
        self.settled.append(anchor)
        self._by_hunk[anchor.hunk] = anchor
        if len(self.settled) > LATELY:
            self.settled[-1 - LATELY].remember_few()
        if len(self.settled) > MAX_SETTLED:
            self.drop(self.settled[0].hunk)

    def retire(self, hunk: str) -> None:
        """A live hunk was decided without a change of the text: it is followed on."""
        if (anchor := self._by_hunk.get(hunk)) is not None:
            self.settle(anchor)

    def revive(self, hunk: str) -> bool:
        """A decided hunk waits again; False if its place is not known, or another's by now."""
        if (anchor := self._by_hunk.get(hunk)) is None:
            return False
        place = (anchor.first, anchor.end)
        # Nobody has seen where its lines were taken while it was decided.
        is_astray = anchor.merged is None or not anchor.current
        found = elsewhere(anchor, self.lines) if is_astray else None
        if found is not None and not self.overlapping(found):
            place = found
        if self.overlapping(place):
            return False
        self.drop(hunk)
        if place != (anchor.first, anchor.end):
            anchor.put_back(Standing(*place, is_lost=False), self.lines)
        self.add(anchor)
        anchor.remember_many()
        return True

    def remake(self, hunk: str, proposed: str) -> Anchor | None:
        """A live hunk is to write `proposed` over what stands in its place now.

        None if that place is another hunk's too.
        """
        old = self._by_hunk[hunk]
        # An insertion whose place is lost has lines of the user's in it, which stay.
        place = (old.first, old.first if old.is_gap else old.end)
        if place[0] == place[1] == len(self.lines) and self.lines[-1]:
            # Behind a last line without a line end nothing can stand: that line goes with it.
            place, last = (old.first - 1, old.first), self.lines[-1]
            if any(anchor is not old and anchor.end >= old.first for anchor in self.live):
                return None
            proposed = f"{last}{line_end(proposed) or NEW_LINE}{without_end(proposed)}"
        if place[1] == len(self.lines) > place[0] + 1 and not self.lines[-1]:
            # The line behind the last line end is its own only where it takes that line end away.
            place = (place[0], place[1] - (not proposed or bool(line_end(proposed))))
        base = "".join(self.lines[place[0] : place[1]])
        if proposed and place[1] < len(self.lines) and not line_end(proposed):
            proposed += line_end(self.lines[place[1] - 1]) or NEW_LINE
        new = Anchor(hunk, self.lines, place, base, proposed)
        self._forget_edits_of((hunk,))
        self.live[self.live.index(old)] = self._by_hunk[hunk] = new
        return new

    def drop(self, hunk: str) -> None:
        """Forget the anchor of `hunk`, if it has one."""
        self.undone.forget(hunk)
        if (anchor := self._by_hunk.pop(hunk, None)) is None:
            return
        for anchors in (self.live, self.settled):
            if anchor in anchors:
                anchors.remove(anchor)
                return

    def overlapping(self, place: tuple[int, int]) -> list[Anchor]:
        """The live anchors that can't be decided apart from lines `place`."""
        near = islice(self.live, bisect_left(self.live, place[0], key=_END), None)
        return [
            anchor
            for anchor in takewhile(lambda anchor: anchor.first <= place[1], near)
            if overlap(place, (anchor.first, anchor.end))
        ]

    # -- following -------------------------------------------------------------------------------

    def follow(
        self, effects: Sequence[LineChange], lines: Sequence[str]
    ) -> tuple[bool, list[Anchor]]:
        """Move all anchors.

        Args:
            effects: What happened to the text's lines, in order: a step of `along`.
            lines: The text behind it.

        Returns:
            Whether a live one moved or was touched, and the settled ones that were touched; none of
            them if the change only came to stand beside them.
        """
        self.edits = [edit for edit in self.edits if edit.follow(effects)]
        in_turn = from_the_bottom_up(effects) if len(effects) > MANY else None
        if in_turn is not None:
            sweep = Sweep(in_turn)
            touched, moved = sweep.over(self.live)
            settled, _ = sweep.over(self.settled)
        else:
            touched, settled, moved = [], [], False
            for effect in effects:
                moved |= self._follow_live(effect, touched)
                settled += all_followed(self.settled, effect)
        for anchor in touched:
            _ = anchor.look(lines)
        self._find_bases(touched)
        changed = [anchor for anchor in settled if anchor.look(lines)]
        for anchor in changed:
            anchor.find_base(lines, 0, len(lines))
        if touched and (len(touched) > MANY or any(is_crowded(self.live, one) for one in touched)):
            keep_apart(self.live, lines)
        # What only got other neighbours tells something beside those that have other text.
        return moved or bool(touched), settled if changed else []

    def _follow_live(self, effect: LineChange, touched: list[Anchor]) -> bool:
        """Move the live anchors; tells whether any has moved."""
        first, removed, added = effect
        behind, delta = first + removed, added - removed
        at = bisect_left(self.live, first, key=_END)
        while at and self.live[at - 1].is_sought_at(first):
            at -= 1
        floor = self.live[at - 1].end if at else 0
        near = list(takewhile(lambda anchor: anchor.first <= behind, islice(self.live, at, None)))
        # A hunk may have been found anew below lines that had been taken for its own.
        below = islice(self.live, at + len(near), at + len(near) + 1)
        near += [anchor for anchor in below if anchor.is_brought_back_by(effect)]
        # Lines that come back are those of the hunk they were taken from, not of one in conflict
        # that ends where they stood.
        # And lines that become others are those of the hunk they stand in, not of one above it that
        # the editor is about to write.
        claim = [
            one
            for one in near
            if (delta > 0 and one.is_brought_back_by(effect))
            or (removed and one.first <= first and behind <= one.end)
        ]
        moved = False
        for anchor in near:
            is_others = any(one is not anchor for one in claim)
            if anchor.follow(effect, floor, is_others=is_others):
                moved = True
                touched.append(anchor)
            floor = max(floor, anchor.end)
        if delta and shift_all(islice(self.live, at + len(near), None), delta):
            moved = True
        return moved

    def _room(self, anchor: Anchor) -> tuple[int, int]:
        """From where on and up to where there is no other live anchor than this one."""
        at = self.live.index(anchor)
        floor, n = self.live[at - 1].end if at else 0, len(self.lines)
        below = islice(self.live, at + 1, None)
        # One that has lost all its lines goes behind those of this one.
        ceiling = next(
            (one.first for one in below if one.first < one.end or one.merged is not None), n
        )
        return floor, ceiling

    def _find_bases(self, live: Iterable[Anchor]) -> None:
        """End the conflicts of live anchors where what they were made against stands again."""
        for anchor in live:
            if anchor.merged is None:
                anchor.find_base(self.lines, *self._room(anchor))

    def take_to_cuts(self, blocks: Sequence[Block]) -> tuple[bool, list[tuple[Anchor, Standing]]]:
        """Put anchors where their lines have been put by a step.

        Returns:
            Whether there were live ones; and those that are gone, as their hunks were turned round
            when the lines went, with where these stand.
        """
        is_other, gone = False, []
        for anchor, standing, folds in self.cuts.come_back(blocks, self.lines, self.live):
            if self._by_hunk.get(anchor.hunk) is not anchor:
                gone.append((anchor, standing))
            elif anchor not in self.live:
                anchor.put_back(standing, self.lines, folds)
            elif set(self.overlapping((standing.first, standing.end))) <= {anchor}:
                self.live.remove(anchor)
                anchor.put_back(standing, self.lines, folds)
                self.add(anchor)
                is_other = True
            else:
                continue
            self.cuts.forget(anchor.hunk)
        if is_other:  # and may be out of the way of another
            self._find_bases(self.live)
            keep_apart(self.live, self.lines)
        return is_other, gone

    # -- while the editor applies an edit --------------------------------------------------------

    def send(self, document: TextDocument, plan: Plan) -> None:
        """Remember that `plan`, made for `document`, which is the current text, is on its way."""
        anchors = [self._by_hunk[hunk] for hunk in plan.texts]
        others = [anchor for anchor in self.anchors() if anchor.hunk not in plan.texts]
        self.sent = Sent(plan, document, anchors, others)
        self.undone.clear()
        for anchor in anchors:
            anchor.grow()
        for anchor in others:
            anchor.forget_undone()

    def place_others(self, touched: Iterable[Anchor]) -> list[Anchor]:
        """The sent edit has arrived: put the other anchors where it takes them.

        An accepted edit touches no live one. One that takes hunks back may; then they stay where the
        changes have led them, as the settled do that an edit reaches into.

        Args:
            touched: The settled anchors that the changes reached into, as they were reported.

        Returns:
            Those of them that the edit reaches into.
        """
        assert self.sent is not None, "nothing was sent"
        placed = {
            anchor.hunk
            for anchor in self.settled
            if self._place_beside(anchor, set(), is_settled=True)
        }
        within = [anchor for anchor in touched if anchor.hunk not in placed]
        if not self.sent.plan.back:
            earlier: set[str] = set()
            for anchor in self.live:
                if anchor.hunk in self.sent.plan.places:
                    anchor.move_to(*self.sent.plan.places[anchor.hunk])
                else:
                    _ = self._place_beside(anchor, earlier)
                earlier.add(anchor.hunk)
            keep_apart(self.live, self.lines)
            self._find_bases(self.live)
            # One that lost its lines may stand where those of another were found.
            keep_apart(self.live, self.lines)
            self._follow_as_a_whole(self.sent)
        return within

    def _follow_as_a_whole(self, sent: Sent) -> None:
        waiting = {
            anchor.hunk: Waiting(sent.before[anchor.hunk][0], anchor.standing)
            for anchor in self.live
            if anchor.hunk in sent.before and anchor.hunk not in sent.plan.places
        }
        self._forget_edits_of(sent.plan.texts)
        if edit := whole_edit(sent.plan, sent.lines, self.lines, waiting):
            self.edits = [*self.edits[1 - MAX_EDITS :], edit]

    def _forget_edits_of(self, hunks: Container[str]) -> None:
        """What these hunks write is another text by now than earlier edits of them have written."""
        self.edits = [edit for edit in self.edits if edit.forget(hunks)]

    def _place_beside(self, anchor: Anchor, earlier: Set[str], *, is_settled: bool = False) -> bool:
        """Put an anchor where the sent edit takes it; False if that is not known."""
        assert self.sent is not None, "nothing was sent"
        if anchor.hunk not in self.sent.before:
            return False
        standing = self.sent.moved(anchor, earlier)
        if standing is None:
            return False
        folds = self.sent.before[anchor.hunk][1]
        # What the edit adds to them tells the editor's undo of it; it was none itself.
        has_all = anchor.folds[: len(folds)] == folds
        if standing != anchor.standing or not has_all:
            anchor.put_back(standing, self.lines, None if has_all else folds)
        if is_settled and (fold := self.sent.fold_beside(anchor, standing)) is not None:
            anchor.was_sent_beside(folds, fold)
        return True

    def arrived(self, hunk: str) -> tuple[int, int] | None:
        """The lines on which the text of a sent hunk stands, as far as that is certain."""
        assert self.sent is not None, "nothing was sent"
        anchor, text = self._by_hunk[hunk], self.sent.plan.texts[hunk]
        run = self.sent.touching(hunk)
        if run is None or len(run.hunks) < 2:
            return self._arrived_alone(anchor, text)
        # It may have come in one change with those that it touches: its place may be theirs.
        anchors = [self._by_hunk[one] for one in run.hunks]
        first, end = min(one.first for one in anchors), max(one.end for one in anchors)
        lines = self.lines[first:end]
        if (told := self.sent.told_apart(run, lines)) is not None:
            place = told[hunk]
        else:
            if (found := self._arrived_alone(anchor, text)) or hunk in self.sent.stood:
                return found
            place = self.sent.stands_at(run, lines).get(hunk)
        return None if place is None else (first + place[0], first + place[1])

    def _arrived_alone(self, anchor: Anchor, text: str) -> tuple[int, int] | None:
        """The same for one whose place nobody else's lines can have come into."""
        assert self.sent is not None, "nothing was sent"
        if "".join(self.lines[anchor.first : anchor.end]) == text:
            return anchor.first, anchor.end
        # The user wrote at its edge, or the editor's smallest difference cut through it.
        return None if anchor.hunk in self.sent.stood else anchor.stands_at(self.lines, text)

    def taking_back(self, document: TextDocument, hunks: Iterable[str]) -> Plan:
        """What undoing these accepted hunks does to `document`, which is the current text.

        Raises:
            CantUndo: If the user has written over one of them.
        """
        wanted = {hunk: self._by_hunk.get(hunk) for hunk in hunks}
        if len(wanted) == 1:
            anchors = [one for one in wanted.values() if one is not None and one in self.settled]
        else:
            anchors = [anchor for anchor in reversed(self.settled) if anchor.hunk in wanted]
        return taking_back(document, anchors)
