"""An edit on its way to the editor: what it does, and how to tell that it has arrived."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.standing import (
    Fold,
    Standing,
    lines_around,
    print_of,
    prints_of,
    range_of,
)
from stet.review.errors import CantUndo
from stet.text.buffer import TextBuffer
from stet.text.change import LineChange, TextChange
from stet.text.diff import diff_lines, line_changes
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import whole_lines
from stet.text.places import line_places
from stet.text.position import Position

_MAX_WAYS = 64
"""How many readings of lines as hunks that came or did not are weighed."""
Settle = Callable[[Mapping[str, tuple[int, int]]], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an edit of some hunks does, before it is sent.

    Attributes:
        edit: All of it, for the text it was made for.
        texts: What each hunk writes, by hunk.
        places: The lines that stands on afterwards, if nothing else happens.
        effects: What it does to the lines, bottom to top, each with its hunk where that is known.
        back: Whether it takes accepted hunks back.
        settle: What becomes of its hunks once it has arrived, by the lines they stand on then, where
            that is neither that they are accepted nor that they are undone.
    """

    edit: TextEdit
    texts: Mapping[str, str]
    places: Mapping[str, tuple[int, int]]
    effects: tuple[tuple[str, LineChange], ...]
    back: bool = False
    settle: Settle | None = None


class Piece(NamedTuple):
    """What an edit writes for one hunk: `text`, over the lines from `first` to before `end`."""

    hunk: str
    first: int
    end: int
    text: str


def accepting(document: TextDocument, anchors: Sequence[Anchor]) -> Plan:
    """What accepting hunks does; `anchors` are theirs, in order of place and none in conflict."""
    pieces = []
    for anchor in anchors:
        assert anchor.merged is not None, "a conflict can't be accepted"
        pieces.append(Piece(anchor.hunk, anchor.first, anchor.end, anchor.merged))
    return writing(document, pieces)


def writing(document: TextDocument, pieces: Sequence[Piece], settle: Settle | None = None) -> Plan:
    """What writing `pieces` does; they are in order of place, and none overlaps another."""
    replacements, texts, places, effects, shift = [], {}, {}, [], 0
    for hunk, first, end, text in pieces:
        place = range_of(document.lines, first, end)
        start, stop = document.offset_at(place.start), document.offset_at(place.end)
        replacements.append(Replacement(start, stop, text))
        texts[hunk] = text
        n_old, n_new = end - first, len(whole_lines(text))
        if n_old and end == len(document.lines) and text[-1:] in ("\n", "\r"):
            n_new += 1  # the text ends with a line that holds nothing
        places[hunk] = (first + shift, first + shift + n_new)
        effects.append((hunk, LineChange(first, n_old, n_new)))
        shift += n_new - n_old
    effects.reverse()
    return Plan(TextEdit(tuple(replacements)), texts, places, tuple(effects), settle=settle)


def taking_back(document: TextDocument, anchors: Sequence[Anchor]) -> Plan:
    """What undoing accepted hunks does; `anchors` are theirs, the one accepted last first.

    Where each stands by itself, that is to write what was there before. Else it is played through on
    a copy: a later hunk may stand within an earlier one.

    Raises:
        CantUndo: If the user has written over one of them.
    """
    in_order = sorted(anchors, key=lambda anchor: anchor.first)
    if all(one.end < other.first for one, other in pairwise(in_order)):
        return _taking_back_apart(document, in_order)
    return _taking_back_within(document, [copy(anchor) for anchor in anchors])


def _taking_back_within(document: TextDocument, ghosts: Sequence[Anchor]) -> Plan:
    """The same for `ghosts`, copies of the anchors, the one accepted last first."""
    buffer = TextBuffer(document.text)
    texts: dict[str, str] = {}
    for ghost in ghosts:
        if ghost.merged is None:
            raise CantUndo(ghost.hunk)
        texts[ghost.hunk] = ghost.merged
        n_before, n_old = len(buffer.lines), ghost.end - ghost.first
        _ = buffer.apply(TextChange(ghost.range_in(buffer.lines), ghost.merged))
        n_new = n_old + len(buffer.lines) - n_before
        # Not the smallest difference: that may cut through another one.
        effect = LineChange(ghost.first, n_old, n_new)
        for other in ghosts:
            if other is not ghost:
                _ = other.follow(effect)
                _ = other.look(buffer.lines)
        ghost.move_to(ghost.first, ghost.first + n_new)
    effects = line_changes(0, document.lines, buffer.lines)
    return Plan(
        _difference(document, buffer.lines),
        texts,
        {ghost.hunk: (ghost.first, ghost.end) for ghost in ghosts},
        tuple(("", effect) for effect in effects),
        back=True,
    )


def _taking_back_apart(document: TextDocument, anchors: Sequence[Anchor]) -> Plan:
    """The same for `anchors` in order of place, with lines between them."""
    pieces = []
    for anchor in anchors:
        if anchor.merged is None:
            raise CantUndo(anchor.hunk)
        pieces.append(Piece(anchor.hunk, anchor.first, anchor.end, anchor.merged))
    return replace(writing(document, pieces), back=True)


def _difference(document: TextDocument, lines: Sequence[str]) -> TextEdit:
    """The edit that makes the text consist of `lines`."""
    return TextEdit(
        tuple(
            Replacement(
                document.offset_at(Position(hunk.old_start, 0)),
                document.offset_at(Position(hunk.old_start + len(hunk.old), 0)),
                "".join(hunk.new),
            )
            for hunk in diff_lines(document.lines, lines)
        )
    )


class Run(NamedTuple):
    """What an edit does on lines none of which it leaves alone.

    Attributes:
        first: The first of these lines, in the text the edit was made for.
        end: The line behind the last.
        hunks: Those of them, in order of place.
    """

    first: int
    end: int
    hunks: tuple[str, ...]


class Sent:
    """One edit on its way; owned and changed by its `Track` only.

    Attributes:
        plan: What it does.
        lines: Those of the text it was made for.
        expected: The whole text once the edit is applied and nothing else has happened.
        before: Where every other anchor stood when it was sent, and its folds then.
        stood: The hunks whose text stood within their place already: it proves nothing there.
    """

    __slots__ = (
        "_behind",
        "_effects",
        "_runs",
        "_shadow",
        "_shifts",
        "before",
        "expected",
        "lines",
        "plan",
        "stood",
    )

    def __init__(
        self,
        plan: Plan,
        document: TextDocument,
        anchors: Sequence[Anchor],
        others: Sequence[Anchor],
    ) -> None:
        """`plan` goes out for `document`; `anchors` are of its hunks, `others` are not."""
        self.plan = plan
        self.lines = document.lines
        self.before = {anchor.hunk: (anchor.standing, anchor.folds) for anchor in others}
        self.stood = frozenset(
            anchor.hunk
            for anchor in anchors
            if anchor.stands_at(document.lines, plan.texts[anchor.hunk])
        )
        self.expected = plan.edit.apply(document.text)
        self._shadow = TextBuffer(document.text)
        self._effects = plan.effects[::-1]
        self._runs = {hunk: run for run in _runs(self._effects) for hunk in run.hunks if hunk}
        self._behind = [change.first + change.removed for _, change in self._effects]
        deltas = (change.added - change.removed for _, change in self._effects)
        self._shifts = list(accumulate(deltas, initial=0))

    def arrives_with(self, changes: Sequence[TextChange]) -> tuple[int, Sequence[str]] | None:
        """Behind how many of the next `changes` the edit is complete, and the lines then.

        None if behind none of them: the edit is then expected with a later message.
        """
        for count, change in enumerate(changes, 1):
            _ = self._shadow.apply(change)
            if self._shadow.text == self.expected:
                return count, self._shadow.lines
        return None

    def touching(self, hunk: str) -> Run | None:
        """The hunks of the edit that have no line between them, one of which is `hunk`; None where all
        that is known of the edit is the difference.
        """
        return self._runs.get(hunk)

    def stands_at(self, run: Run, lines: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Where in `lines` what the hunks of a run write stands, if all of it does so once, and nowhere
        in the place that they had when it was sent; none if not.

        A hunk that writes nothing is left out where what it takes away stands beside that.
        """
        texts = [whole_lines(self.plan.texts[hunk]) for hunk in run.hunks]
        wanted = whole_lines("".join(self.plan.texts[hunk] for hunk in run.hunks))
        found = line_places(lines, wanted) if wanted else ()
        if len(found) != 1 or line_places(self.lines[run.first : run.end], wanted):
            return {}
        at = accumulate(map(len, texts), initial=found[0])
        places = dict(zip(run.hunks, pairwise(at), strict=True))
        beside = (*lines[: found[0]], *lines[found[0] + len(wanted) :])
        taken = self._taken()
        return {
            hunk: place
            for hunk, place in places.items()
            if self.plan.texts[hunk] or not (taken[hunk] and line_places(beside, taken[hunk]))
        }

    def told_apart(
        self, run: Run, lines: Sequence[str]
    ) -> Mapping[str, tuple[int, int] | None] | None:
        """Where in `lines` the hunks of a run stand, each as it was or as it is to be: None for one
        that did not come. None where `lines` read otherwise, or so in more than one way.
        """
        taken, there = self._taken(), list(lines)
        ways: list[tuple[int, tuple[tuple[int, int] | None, ...]]] = [(0, ())]
        for hunk in run.hunks:
            parts = (taken[hunk], False), (whole_lines(self.plan.texts[hunk]), True)
            ways = [
                (end, (*places, (at, end) if has_come else None))
                for at, places in ways
                for part, has_come in parts
                if there[at : (end := at + len(part))] == list(part)
            ]
            if len(ways) > _MAX_WAYS:
                return None
        whole = [places for at, places in ways if at == len(there)]
        return dict(zip(run.hunks, whole[0], strict=True)) if len(whole) == 1 else None

    def _taken(self) -> Mapping[str, Sequence[str]]:
        """The lines that each hunk takes the place of."""
        return {
            hunk: self.lines[one.first : one.first + one.removed] for hunk, one in self._effects
        }

    def moved(self, anchor: Anchor, earlier: Set[str]) -> Standing | None:
        """Where the edit itself takes another anchor: editors report the smallest difference, which
        need not be the change that was sent.

        Args:
            anchor: As it was when the edit was sent.
            earlier: The hunks that come before it where both stand at one point.

        Returns:
            None if the edit reaches into its place, or all that is known is the difference.
        """
        (first, end, is_lost), _ = self.before[anchor.hunk]
        at = bisect_left(self._behind, first)
        shift = self._shifts[at]
        for hunk, (start, removed, added) in self._effects[at:]:
            behind = start + removed
            if not hunk or (behind > first and start < end):
                return None
            if behind > first:
                break
            if removed or first < end or hunk in earlier:
                shift += added - removed
        return Standing(first + shift, end + shift, is_lost)

    def fold_beside(self, anchor: Anchor, standing: Standing) -> Fold | None:
        """What the edit itself did at the edge of another anchor's place; None if that is nothing, or
        more than one thing.

        Args:
            anchor: As it was when the edit was sent.
            standing: Where the edit has taken it.
        """
        before, _ = self.before[anchor.hunk]
        at = bisect_left(self._behind, before.first)
        beside = [
            (shift, change)
            for shift, (_, change) in zip(
                self._shifts[at:], self._effects[at : at + 2], strict=False
            )
            if change.first <= before.end and change.added != change.removed
        ]
        if len(beside) != 1:
            return None
        [(shift, (first, removed, added))] = beside
        was = Standing(before.first - first, before.end - first, before.is_lost)
        back = standing.first - first - shift
        around = prints_of(lines_around(self.lines, before.first, before.end))
        return Fold(was, print_of(anchor.current), removed, added, back, around)


def _runs(effects: Sequence[tuple[str, LineChange]]) -> Iterator[Run]:
    """Changes that touch, together; `effects` are in order of place, each with its hunk."""
    hunks: list[str] = []
    first = end = 0
    for hunk, change in effects:
        if hunks and change.first != end:
            yield Run(first, end, tuple(hunks))
            hunks = []
        if not hunks:
            first = change.first
        hunks.append(hunk)
        end = change.first + change.removed
    if hunks:
        yield Run(first, end, tuple(hunks))
