"""Where a hunk stands while its document changes, and what it would write there now.

An anchor is a stretch of whole lines, together with the text it was made against and the text that
is to stand there. It moves with every change of the document's lines. Lines put exactly at its edge
stay outside. What is typed within is merged with what the agent wrote (`stet.text.merge`), always
from the two texts it was made of: so a conflict is gone by itself when the old text stands there
again.

The idea, an agent's edit as a stretch that the user's edits shift and are merged into, is that of
Zed's action log; the code is not.
"""

from collections.abc import Sequence
from copy import copy

from stet.review.anchoring.standing import Fold, Standing, lines_around, range_of, without_ends
from stet.text.change import LineChange
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import Replacement
from stet.text.lines import line_end, split_lines, whole_lines, without_end
from stet.text.merge import Merger
from stet.text.position import Range

_MAX_FOLDS = 16
_NOWHERE = ("\n\n", "\n\n")
"""Lines that no text has: an insertion that is lost and can't be found by what was round it."""


class Anchor:
    """One hunk's place; owned and changed by its `Track` only.

    Attributes:
        hunk: The hunk's id.
        first: Its first line, 0-based.
        end: The line behind its last; equal to `first` where nothing stands there.
        proposed: What is to stand there.
        current: What stands there, as it was last looked at.
        merged: What is to stand there, the user's changes within it kept; None: it is a conflict.
    """

    __slots__ = (
        "_around",
        "_base",
        "_folds",
        "_growing",
        "_is_due",
        "_is_lost",
        "_is_touched",
        "_merger",
        "_otherwise",
        "_was_filled",
        "current",
        "end",
        "first",
        "hunk",
        "merged",
        "proposed",
    )

    def __init__(  # noqa: PLR0913 - where, and between which texts
        self,
        hunk: str,
        lines: Sequence[str],
        place: tuple[int, int],
        base: str,
        proposed: str,
        *,
        is_lost: bool = False,
    ) -> None:
        """The anchor of a hunk.

        Args:
            hunk: Its id.
            lines: The text it is made in.
            place: Its first line there, and the one behind its last.
            base: What it was made against, which is what stands there.
            proposed: What it would write.
            is_lost: Whether it is an insertion whose place was lost there before.
        """
        self.hunk = hunk
        self.first, self.end = place
        self._base = whole_lines(base)
        self._around: tuple[str, str] | None = None
        if not base and self.end > self.first and tuple(lines[self.first : self.end]) == ("",):
            self.end = self.first  # what is there holds nothing: what comes last comes before it
        stands = tuple(lines[self.first : self.end])
        if is_lost:
            self._around = _NOWHERE
        elif stands == (*self._base, "") or (base and stands[-1:] == ("",)):
            self._base += ("",)  # what is behind the last line end is a line of the text too
        elif not base:
            self._around = lines_around(lines, self.first)
        self.proposed = proposed
        self.current = "".join(lines[self.first : self.end]) if is_lost else base
        self.merged: str | None = None if is_lost else self._inserted()
        self._merger: Merger | None = None
        self._folds: tuple[Fold, ...] = ()
        self._otherwise: tuple[Anchor, str] | None = None
        self._growing = False
        self._is_due = False
        self._is_lost = is_lost
        self._is_touched = False
        self._was_filled = False

    @property
    def is_gap(self) -> bool:
        """Whether it was made as an insertion between two lines."""
        return self._around is not None

    @property
    def base(self) -> str:
        """What it was made against."""
        return "".join(self._base)

    @property
    def is_done(self) -> bool:
        """Whether the text says already what it would write."""
        return self.merged == self.current

    def follow(self, change: LineChange, floor: int = 0, *, is_others: bool = False) -> bool:
        """Move with a change; tells whether anything about it may be another now.

        Args:
            change: In lines of the text before it.
            floor: In lines of the text behind it, where the anchor before this one ends.
            is_others: Whether the change is known to bring back lines of another anchor.
        """
        if self._otherwise is not None:
            _ = self._otherwise[0].follow(change, floor, is_others=is_others)
        if change.first > self.end:
            return False
        if not self.is_brought_back_by(change):
            return self._move(change, floor, grows=not is_others)
        # Other lines, as many, may come to where some were taken away: it is seen when it is looked
        # at, so it goes both ways until then.
        fold, otherwise = self._folds[-1], copy(self)
        _ = otherwise._move(change, floor, grows=not is_others)  # noqa: SLF001 - its own kind
        self._otherwise = (otherwise, fold.current)
        self._folds = self._folds[:-1]
        self.first = change.first + fold.before.first
        self.end = change.first + fold.before.end
        self._is_lost = fold.before.is_lost
        self._is_due = self._is_touched = True
        return True

    def _move(self, change: LineChange, floor: int, *, grows: bool) -> bool:
        first, removed, added = change
        behind, delta = first + removed, added - removed
        if self._touches(first, behind, grows=grows):
            self._take_in(change, floor)
            return True
        # The lines round an insertion are others now; and what is put right there may be its own
        # text, written by hand.
        is_beside = self._around is not None and first <= self.first == self.end <= behind
        if is_beside:
            self._is_due = True
            self._was_filled |= first == self.first and added > 0
        if behind > self.first or (first == self.end and not removed):
            return is_beside
        self.first += delta
        self.end += delta
        return is_beside or delta != 0

    def is_brought_back_by(self, change: LineChange) -> bool:
        """Whether a change is the inverse of the last one that reached into the place."""
        if not self._folds:
            return False
        fold = self._folds[-1]
        return change == (self.first - fold.back, fold.added, fold.removed)

    def _touches(self, first: int, behind: int, *, grows: bool) -> bool:
        """Whether a change of these lines is one of the inside."""
        if self._growing:
            return behind >= self.first
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
        before = Standing(self.first - first, self.end - first, self._is_lost)
        self._is_lost |= self._around is not None and self.first == self.end and removed > 0
        self.first = max(min(self.first, first), floor)
        self.end = max(max(self.end, behind) + delta, self.first)
        fold = Fold(before, self.current, removed, added, self.first - first)
        self._folds = (*self._folds[-_MAX_FOLDS:], fold)

    def look(self, lines: Sequence[str]) -> None:
        """See what stands there; called behind the changes of one message.

        Args:
            lines: The text as it is now.
        """
        if not self._is_due or self._growing:
            return
        self._is_due = self._is_touched = False
        if self._otherwise is not None:
            self._check_what_came_back(lines, *self._otherwise)
        if self._around is not None:
            self._look_at_gap(lines, self._around)
        else:
            self._leave_out_edges(lines)
        self.current = "".join(lines[self.first : self.end])
        if self._is_lost:
            self.merged = None
            return
        if self._around is not None and not self.current:
            self.merged = None if self.is_behind_all(lines) else self._inserted()
            return
        if self._merger is None:
            self._merger = Merger(self.base, self.proposed)
        merged = self._merger.merge(self.current)
        if merged and self.end < len(lines) and not line_end(merged):
            merged += line_end(self.current) or "\n"  # lines have come to stand behind it
        self.merged = merged

    def _inserted(self) -> str:
        """What is proposed; an insertion fits itself to the lines that it stands between, which may
        be others by now than when it was made.
        """
        if self._around is None or not self.proposed:
            return self.proposed
        before, behind = self._around
        ends = {line_end(before), line_end(behind)} - {""}
        lines = split_lines(self.proposed)
        own = {line_end(line) for line in lines} - {""}
        end = (ends or own or {"\n"}).pop() if len(ends) < 2 and len(own) < 2 else ""
        text = end.join(map(without_end, lines)) if end else self.proposed
        return text if not behind or line_end(text) else text + (end or "\n")

    def is_behind_all(self, lines: Sequence[str]) -> bool:
        """Whether it is an insertion behind a last line that has lost its line end."""
        return self.is_gap and self.first == self.end == len(lines) and bool(lines[-1])

    def _check_what_came_back(
        self, lines: Sequence[str], otherwise: "Anchor", current: str
    ) -> None:
        """Take the other way if the lines that came are not those that were taken away."""
        is_same = self._around in (None, lines_around(lines, self.first)) or self._is_lost
        if not is_same or not self._reads(lines, current):
            self.first, self.end, self._is_lost = otherwise.standing
            self._folds = otherwise._folds  # noqa: SLF001 - its own kind
        self._otherwise = None

    def _look_at_gap(self, lines: Sequence[str], around: tuple[str, str]) -> None:
        """Find an insertion's place again, and see whether the text was put there by hand."""
        # What comes last comes before the line that holds nothing: behind that is no place.
        last = len(lines) if lines[-1] else len(lines) - 1
        if self.first > last:
            self.first = self.end = last
        if self._is_lost:
            known = without_ends(around)
            places = range(self.first, min(self.end, last) + 1)
            gaps = [at for at in places if without_ends(lines_around(lines, at)) == known]
            self._is_lost = len(gaps) != 1
            if not self._is_lost:
                self.first = self.end = gaps[0]
                self._around = lines_around(lines, self.first)  # their ends may be others by now
        elif self.first == self.end:
            wanted = whole_lines(self.proposed)
            if self._was_filled and tuple(lines[self.first : self.first + len(wanted)]) == wanted:
                self.end += len(wanted)
            else:
                self._around = lines_around(lines, self.first)
        self._was_filled = False

    def _reads(self, lines: Sequence[str], text: str) -> bool:
        return "".join(lines[self.first : self.end]) == text

    def _leave_out_edges(self, lines: Sequence[str]) -> None:
        """Lines that were only put before or behind its own are not its inside."""
        n_lines = self.end - self.first
        if n_lines <= len(self._base) or self._reads(lines, self.proposed):
            return
        own = [without_end(line) for line in self._base]
        hunks = diff_lines(own, [without_end(line) for line in lines[self.first : self.end]])
        if hunks and hunks[-1].old_start == len(self._base):
            self.end -= len(hunks[-1].new)
        if hunks and hunks[0].old_start == 0 and not hunks[0].old and self.end > self.first:
            self.first += len(hunks[0].new)

    # -- while the editor applies it -------------------------------------------------------------

    def grow(self) -> None:
        """From now on lines at the edges belong to it, until `rest`."""
        self._growing = True

    def rest(self, lines: Sequence[str]) -> None:
        """The editor did not apply it: it waits again."""
        self._growing = False
        self._is_due = True
        self._is_lost |= self._around is not None and self.first != self.end
        self.look(lines)

    def move_to(self, first: int, end: int) -> None:
        """It stands on these lines now."""
        self.first, self.end = first, end

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

    def shift(self, n_lines: int) -> None:
        """Lines were put in, or taken out, before it."""
        self.first += n_lines
        self.end += n_lines
        if self._otherwise is not None:
            self._otherwise[0].shift(n_lines)

    def keep_behind(self, line: int, lines: Sequence[str]) -> None:
        """The lines before `line` are another anchor's."""
        self.put_back(Standing(line, max(self.end, line), self._is_lost), lines)

    @property
    def standing(self) -> "Standing":
        """Where it stands, to be put back there."""
        return Standing(self.first, self.end, self._is_lost)

    def put_back(self, standing: "Standing", lines: Sequence[str]) -> None:
        """It stands there after all; see what that means."""
        self.first, self.end, self._is_lost = standing
        self._is_due = True
        self.look(lines)

    def stands_at(self, lines: Sequence[str], text: str) -> tuple[int, int] | None:
        """The lines within its place on which exactly `text` stands, if it does so once."""
        wanted = whole_lines(text)
        n, place = len(wanted), lines[self.first : self.end]
        if not wanted:
            return None if place else (self.first, self.first)
        found = [at for at in range(len(place) - n + 1) if tuple(place[at : at + n]) == wanted]
        return (self.first + found[0], self.first + found[0] + n) if len(found) == 1 else None

    # -- where it stands -------------------------------------------------------------------------

    def range_in(self, lines: Sequence[str]) -> Range:
        """Its place in code points of the current text."""
        return range_of(lines, self.first, self.end)

    def replacement(self, document: TextDocument, text: str) -> Replacement:
        """`text` in its place."""
        place = self.range_in(document.lines)
        return Replacement(document.offset_at(place.start), document.offset_at(place.end), text)
