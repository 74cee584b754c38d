"""A stretch of whole lines that moves with every change of its document.

Where lines are put at the edge of an empty stretch, or of one in conflict, the change itself does not
tell whether they are its own. So a stretch remembers the changes that took something away from it or
from beside it: the inverse of the last one, as the editor's undo sends it, puts it back where it was.
"""

from collections.abc import Sequence
from copy import copy

from stet.review.anchoring.standing import (
    Fold,
    Standing,
    lines_around,
    print_of,
    prints_of,
    range_of,
    with_taken_back,
)
from stet.text.change import LineChange
from stet.text.position import Range

MANY_FOLDS, FEW_FOLDS = 64, 8
"""How many changes a place remembers: where its hunk waits or was decided lately, and long behind that."""
_MAX_WAYS = 16
"""How many ways a place goes at once, while the lines that would tell them apart are not known."""


class Place:
    """Where a hunk stands: which of a document's lines are its own.

    It is the half of an `Anchor` that knows lines; the other half knows what they are to become.

    Attributes:
        first: Its first line, 0-based.
        end: The line behind its last; equal to `first` where nothing stands there.
        current: What stands there, as it was last looked at.
        merged: What is to stand there, the user's changes within it kept; None: it is a conflict.
    """

    __slots__ = (
        "_again",
        "_around",
        "_beside",
        "_edges",
        "_folds",
        "_growing",
        "_has_new_neighbour",
        "_is_due",
        "_is_lost",
        "_is_touched",
        "_most_folds",
        "_others",
        "_undone",
        "_was_filled",
        "current",
        "end",
        "first",
        "merged",
    )

    def __init__(self, lines: Sequence[str], first: int, end: int, *, is_lost: bool) -> None:
        """A place in `lines`.

        Args:
            lines: The text.
            first: Its first line there.
            end: The line behind its last.
            is_lost: Whether it is only where an insertion's place was lost.
        """
        self.first, self.end = first, end
        self.current = "".join(lines[first:end])
        self.merged: str | None = None
        self._around: tuple[str, str] | None = None
        self._beside = lines_around(lines, first, end)
        self._edges = (0, 0)
        self._folds: tuple[Fold, ...] = ()
        self._again: tuple[Fold, ...] = ()
        self._others: tuple[Place, ...] = ()
        self._undone: Fold | None = None
        self._growing = False
        self._has_new_neighbour = False
        self._is_due = False
        self._is_lost = is_lost
        self._is_touched = False
        self._most_folds = MANY_FOLDS
        self._was_filled = False

    @property
    def is_gap(self) -> bool:
        """Whether it was made as an insertion between two lines."""
        return self._around is not None

    def follow(self, change: LineChange, floor: int = 0, *, is_others: bool = False) -> bool:
        """Move with a change; tells whether anything about it may be another now.

        Args:
            change: In lines of the text before it.
            floor: In lines of the text behind it, where the anchor before this one ends.
            is_others: Whether the change is known to be one of another anchor's lines.
        """
        # Other lines, as many, may come to where some were taken away: it is seen when it is looked
        # at, so it goes all ways until then.
        others, is_full = self._others, len(self._others) + 1 >= _MAX_WAYS
        is_due, ways = self._go_on(change, floor, grows=not is_others, is_full=is_full)
        for other in others:
            more = other._go_on(change, floor, grows=not is_others, is_full=is_full)[1]  # noqa: SLF001
            ways = (*ways, other, *more)
        self._others = ways
        return is_due

    def _go_on(
        self, change: LineChange, floor: int, *, grows: bool, is_full: bool
    ) -> "tuple[bool, tuple[Place, ...]]":
        """Move with a change, the likeliest way; and the other ways it may have gone."""
        if change.first > self.end:
            return False, ()
        folds = () if self._growing or is_full else self._ways_back(change)
        if not folds:
            return self._move(change, floor, grows=grows), ()
        self._others = ()
        moved = copy(self)
        _ = moved._move(change, floor, grows=grows)  # noqa: SLF001 - its own kind
        made = moved._folds[-1:] if moved._folds is not self._folds else ()  # noqa: SLF001
        ways = [copy(self) for _ in folds[1:]]
        for way, fold in zip((self, *ways), folds, strict=True):
            way._go_back(change, fold, made)  # noqa: SLF001 - its own kind
        return True, (*ways, moved)

    def _ways_back(self, change: LineChange) -> tuple[Fold, ...]:
        """Of the last change that is remembered, and of those that were taken back here, those whose
        inverse this change looks like.
        """
        lasts = (*self._folds[-1:], *self._as_sent(), *reversed(self._again))
        return tuple(fold for fold in lasts if self._is_inverse(change, fold))

    def _as_sent(self) -> tuple[Fold, ...]:
        """The last change as the edit that was sent would have been reported, if that is known."""
        return tuple(
            fold._replace(back=fold.as_sent[0], before=fold.as_sent[1])
            for fold in self._folds[-1:]
            if fold.as_sent is not None
        )

    def _go_back(self, change: LineChange, fold: Fold, made: tuple[Fold, ...]) -> None:
        """Stand as before the change in `fold`, if the lines will say so."""
        self._undone = fold
        self.first = change.first + fold.before.first
        self.end = change.first + fold.before.end
        self._is_lost = fold.before.is_lost
        # What takes a change back is taken back by that change, which may have been no undo at all.
        made = tuple(one._replace(back=fold.before.first) for one in made)
        others = tuple(one for one in self._again if one is not fold)
        made = tuple(one._replace(again=others) for one in made)
        if len(others) < len(self._again):
            self._folds, self._again = (*self._folds, *made), fold.again
        else:
            self._folds, self._again = self._folds[:-1], fold.again
            for one in made:
                self._again = with_taken_back(fold.again, one, self._most_folds)
        self._is_due = self._is_touched = True

    def _move(self, change: LineChange, floor: int, *, grows: bool) -> bool:
        first, removed, added = change
        behind, delta = first + removed, added - removed
        if self._touches(first, behind, grows=grows):
            self._take_in(change, floor)
            return True
        moves = behind <= self.first and (first != self.end or removed > 0)
        is_beside = self._meets_at_its_edge(change)
        before = self._before(change) if is_beside and delta else None
        if moves:
            self.first += delta
            self.end += delta
        if before is not None and self._is_open:
            self._remember(change, before, self._beside)
        return is_beside or (moves and delta != 0)

    @property
    def _is_open(self) -> bool:
        """Whether lines put at its edge may be its own that come back, or were written by hand. Or they
        stood beside it: only what is remembered tells.
        """
        return self.first == self.end or self.merged is None

    def _meets_at_its_edge(self, change: LineChange) -> bool:
        """Note what a change that does not reach into the place means for it."""
        first, removed, added = change
        if first + removed < self.first:
            return False
        if self._is_open:
            self._has_new_neighbour = True
            if removed and added and not self.is_gap:
                return True
            self._was_filled |= first == self.first and added > 0
        elif removed:
            return False
        else:
            # The same message may go on inside, and leave what was to stand there.
            n_before, n_behind = self._edges
            is_before = first == self.first
            self._edges = (n_before + added * is_before, n_behind + added * (not is_before))
        self._is_due = True
        return True

    def is_sought_at(self, line: int) -> bool:  # noqa: ARG002 - a block's is
        """Whether a change that begins at `line`, below the place, may be one of its lines: never, for
        what goes by lines alone.
        """
        return False

    def is_brought_back_by(self, change: LineChange) -> bool:
        """Whether a change looks like the inverse of the last one that is remembered.

        As `_ways_back` has it; asked of every place behind each change, so nothing is made.
        """
        first, removed, added = change
        back = self.first - first
        for last in self._folds[-1:]:
            backs = (last.back, last.back if last.as_sent is None else last.as_sent[0])
            if (last.added, last.removed) == (removed, added) and back in backs:
                return True
        return bool(self._again) and any(
            (one.back, one.added, one.removed) == (back, removed, added) for one in self._again
        )

    def _is_inverse(self, change: LineChange, fold: Fold) -> bool:
        return change == (self.first - fold.back, fold.added, fold.removed)

    def _touches(self, first: int, behind: int, *, grows: bool) -> bool:
        """Whether a change of these lines is one of the inside."""
        if self._growing:
            return behind >= self.first and (grows or first < self.end)
        if first == behind and grows and (self.merged is None or self._is_touched):
            return first >= self.first  # perhaps what was taken away comes back
        if self.first == self.end:
            return first < self.first < behind
        if first == behind:
            return self.first < first < self.end
        return first < self.end and behind > self.first

    def _take_in(self, change: LineChange, floor: int) -> None:
        first, removed, added = change
        behind, delta = first + removed, added - removed
        self._is_due = self._is_touched = True
        if not delta:
            return
        before = self._before(change)
        around = self._beside if self.first == self.end else None
        self._is_lost |= self._around is not None and self.first == self.end and removed > 0
        self.first = max(min(self.first, first), floor)
        self.end = max(max(self.end, behind) + delta, self.first)
        self._remember(change, before, around)

    def _before(self, change: LineChange) -> Standing:
        """Where it stands, in lines from where a change begins."""
        return Standing(self.first - change.first, self.end - change.first, self._is_lost)

    def _remember(
        self, change: LineChange, before: Standing, around: tuple[str, str] | None
    ) -> None:
        """Note a change that the place has moved with, so that it can be told when it is undone."""
        first, removed, added = change
        back, again = self.first - first, self._again
        beside = None if around is None else prints_of(around)
        fold = Fold(before, print_of(self.current), removed, added, back, beside, again=again)
        self._folds, self._again = (*self._folds[-self._most_folds :], fold), ()

    def _see_neighbours(self, lines: Sequence[str]) -> None:
        self._has_new_neighbour = False
        self._beside = lines_around(lines, self.first, self.end)

    def _stand_apart(self, n_lines: int) -> None:
        """It was found to stand so many lines below where the changes have led it."""
        if n_lines:
            self._folds = _stood_apart(self._folds, n_lines)
            self._again = tuple(one.lower(n_lines) for one in self._again)

    def _choose_way(self, lines: Sequence[str]) -> None:
        """Take the first way on which the lines that came back are those that were taken away."""
        way = next(way for way in (self, *self._others) if way._is_borne_out_by(lines))  # noqa: SLF001
        self.first, self.end, self._is_lost = way.standing
        self._folds, self._again = way._folds, way._again  # noqa: SLF001 - its own kind
        self._edges, self._was_filled = way._edges, way._was_filled  # noqa: SLF001 - the same
        self._others, self._undone = (), None

    def _is_borne_out_by(self, lines: Sequence[str]) -> bool:
        fold = self._undone
        return fold is None or (
            # What came back may be less than the whole message that led away.
            self.first >= 0
            and self.end <= len(lines)
            and fold.is_undone_at(lines, self.first, self.end)
            and print_of(self._text_in(lines)) == fold.current
        )

    def _text_in(self, lines: Sequence[str]) -> str:
        return "".join(lines[self.first : self.end])

    def grow(self) -> None:
        """From now on lines at the edges belong to it, until `rest`."""
        self._growing = True

    def was_sent_beside(self, folds: tuple[Fold, ...], sent: Fold) -> None:
        """What was remembered since `folds` is the change of an edit, `sent` as Stet itself wrote it."""
        made = self._folds[len(folds) :]
        if not made:
            self._folds = (*folds, sent)
        elif (made[-1].back, made[-1].before) != (sent.back, sent.before):
            last = made[-1]._replace(as_sent=(sent.back, sent.before))
            self._folds = (*self._folds[:-1], last)

    def forget_undone(self) -> None:
        """What was taken back can't be done again any more: something else is on its way."""
        self._again = ()

    def remember_few(self) -> None:
        """Forget all changes but the last ones, and go on so."""
        self._most_folds = FEW_FOLDS
        self._folds, self._again = self._folds[-FEW_FOLDS:], ()

    def remember_many(self) -> None:
        """From now on more changes are remembered again."""
        self._most_folds = MANY_FOLDS

    def move_to(self, first: int, end: int) -> None:
        """It stands on these lines now."""
        self.first, self.end = first, end

    @property
    def folds(self) -> tuple[Fold, ...]:
        """The changes that reached into it, to be put back with its standing."""
        return self._folds

    @property
    def came_from(self) -> tuple[int, int]:
        """Where it stood before the last change that reached into it: tells which of two that share
        their lines since came first.
        """
        if not self._folds:
            return self.first, self.end
        fold = self._folds[-1]
        shift = self.first - fold.back
        return shift + fold.before.first, shift + fold.before.end

    def end_at_most(self, line: int) -> None:
        """It does not reach beyond the beginning of `line`, where no text of its own stands."""
        self.first, self.end = min(self.first, line), min(self.end, line)

    def shift(self, n_lines: int) -> None:
        """Lines were put in, or taken out, before it."""
        self.first += n_lines
        self.end += n_lines
        if self._others:
            for other in self._others:
                other.shift(n_lines)

    @property
    def standing(self) -> Standing:
        """Where it stands, to be put back there."""
        return Standing(self.first, self.end, self._is_lost)

    def range_in(self, lines: Sequence[str]) -> Range:
        """Its place in code points of the current text."""
        return range_of(lines, self.first, self.end)


def _stood_apart(folds: tuple[Fold, ...], n_lines: int) -> tuple[Fold, ...]:
    """`folds`, the last of which left the place so many lines lower than it was said to."""
    return (*folds[:-1], *(one.lower(n_lines) for one in folds[-1:]))
