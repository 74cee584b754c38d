"""The place of a hunk while its document changes, and the text that the hunk would write.

An anchor is a range of whole lines, with the text it was made against and the text to be written
there. It moves with every change of the document's lines. Lines inserted exactly at its edge stay
outside. The user's changes inside are merged with the agent's text (`stet.text.merge`), always from
the two original texts: so a conflict ends without further action when the old text is there again.

An agent's edit as a range that the user's edits shift and are merged into is an idea of Zed's
action log; the code is not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from stet.review.tracking.tracked_span import (
    ChangeRecord,
    LineSpan,
    TrackedSpan,
    is_distinctive,
    last_gap,
    lines_around,
    redo_sequence,
    with_one_end,
    without_ends,
)
from stet.text.block_codec import InlineBlock, find_blocks, has_leftovers
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import LineChange, Replacement
from stet.text.lines import line_end, line_ends, strip_ends, whole_lines, without_end
from stet.text.merge import Merger
from stet.text.position import Position
from stet.text.sequence import find_line_runs
from stet.text.stripped_document import imported_at

_NOWHERE = ("\n\n", "\n\n")
"""Lines that no text contains: the neighbours of a lost insertion that can't be found."""
_NEAR = 100
"""The lines around its place in which an incomplete block is searched: marks come back at the edge,
or a few lines further if their neighbours were removed with them."""
_FAR = 50_000
"""The lines around its place in which a whole moved block is searched; more take too long."""


class Anchor(TrackedSpan):
    """The place of one hunk; owned and changed by its `TrackedDocument` only.

    A live anchor leads from the text that the agent saw (`base`) to the agent's text (`proposed`).
    The anchor of an accepted hunk leads back, from the written text to the text before.
    `merged` is None if nothing can be written now: the user's change conflicts, the place of an
    insertion is lost, a last line without a line end would be joined, or a block is incomplete.

    Attributes:
        hunk: The id of the hunk.
        proposed: The text to write in the place.
        is_mixed: Whether `merged` has a line that both the user and the agent have changed.
    """

    __slots__ = (
        "_base",
        "_base_words",
        "_merger",
        "_neighbours_at_creation",
        "hunk",
        "is_mixed",
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
        was_written: bool = False,
    ) -> None:
        """Create the anchor of a hunk.

        Args:
            hunk: The id of the hunk.
            lines: The text of the document.
            place: The first line of the anchor, 0-based, and the line after its last.
            base: The text that the hunk was made against, which is in its place.
            proposed: The text to write in the place.
            is_lost: Whether the hunk is an insertion whose place is lost.
            was_written: Whether `proposed` was in the place before: an insertion then keeps its
                line ends unless those of its neighbours have changed.
        """
        first, end = place
        if not base and tuple(lines[first:end]) in {(), ("",)}:
            # The place is empty; an insertion at the end comes before an empty last line.
            first = end = min(first, last_gap(lines))
        current, around = "".join(lines[first:end]), lines_around(lines, first, end)
        super().__init__(first, end, current, around, is_lost)
        self.hunk = hunk
        self.proposed = proposed
        self.is_mixed = False
        self._base = whole_lines(base)
        self._base_words: frozenset[str] | None = None
        self._merger: Merger | None = None
        self._neighbours_at_creation = lines_around(lines, first, first) if was_written else None
        present = tuple(lines[first:end])
        if is_lost:
            self._gap_neighbours = _NOWHERE
            return
        if present == (*self._base, "") or (base and present[-1:] == ("",)):
            self._base += ("",)  # the empty line after the last line end is part of it
        elif not base:
            self._gap_neighbours = lines_around(lines, first, first)
        self.current = base
        self.merged = self._inserted_text()

    @property
    def base(self) -> str:
        """The text that the hunk was made against."""
        return "".join(self._base)

    @property
    def base_words(self) -> frozenset[str]:
        """The distinct lines of `base` without line ends; empty if fewer than two lines."""
        if self._base_words is None:
            last = len(self._base) - (self._base[-1:] == ("",))
            self._base_words = frozenset(map(without_end, self._base[:last] if last > 1 else ()))
        return self._base_words

    @property
    def is_done(self) -> bool:
        """Whether the text to write is in the place already."""
        return self.merged == self.current

    def refresh(self, lines: Sequence[str]) -> bool:
        """Find and read the anchor's lines after the changes of one message.

        Args:
            lines: The current text.

        Returns:
            Whether the anchor's text may have changed; otherwise only its neighbours have.
        """
        if self.is_in_flight:
            return False
        if not self._is_due:
            if self._has_new_neighbour:
                self._see_neighbours(lines)
            return False
        self._find_lines(lines)
        self._read_lines(lines)
        return True

    def read_changed(self, lines: Sequence[str]) -> None:
        """Read lines that have changed since the agent read them, without those added at edges."""
        self._is_due = True
        _ = self.refresh(lines)

    def _read_lines(self, lines: Sequence[str]) -> None:
        """Read the anchor's lines and their neighbours."""
        self._is_due = self._is_touched = False
        self._see_neighbours(lines)
        last_read, self.current = self.current, self._text_in(lines)
        self.merged = self._merge(lines, last_read)

    def _find_lines(self, lines: Sequence[str]) -> None:
        """Find the anchor's lines by their neighbours."""
        if self._candidates:
            self._choose_candidate(lines)
        merged_to = self.first
        self._absorb_edge_lines(lines)
        if self._gap_neighbours is not None:
            self._refresh_insertion(lines, self._gap_neighbours)
        else:
            self._trim_edge_lines(lines)
        self._shift_records(self.first - merged_to)

    def find_base(self, lines: Sequence[str], min_first: int, max_end: int) -> None:
        """End a conflict if the whole base is again in the lines from `min_first` to `max_end`."""
        n = len(self._base)
        if self.merged is not None or not n or self.is_in_flight:
            return
        # The base must include all present lines, unless it is distinctive.
        lower, upper = self.end - n, self.first
        if is_distinctive(self._base):
            lower, upper = min(lower, self.first - n), max(upper, self.end)
        first = max(lower, min_first)
        near = with_one_end(lines[first : min(upper + n, max_end)])
        found = find_line_runs(near, with_one_end(self._base))
        if len(found) == 1:
            at = first + found[0]
            self.restore_span(LineSpan(at, at + n, is_lost=False), lines)

    @property
    def may_yield(self) -> bool:
        """Whether the place is that of a conflict, whose lines may be those of another hunk."""
        return self.merged is None and bool(self._base) and not self.is_in_flight

    def count_foreign(self, lines: Iterable[str]) -> int:
        """Return how many lines, from the first one on, read like no line of the base."""
        base = frozenset(map(without_end, self._base))
        return sum(1 for _ in takewhile(lambda line: without_end(line) not in base, lines))

    def _merge(self, lines: Sequence[str], last_read: str) -> str | None:
        """Return the text to write in place of the current lines; None if there is a conflict.

        Args:
            lines: The current text.
            last_read: The text of the lines when they were last read.
        """
        if self._is_lost:
            return None
        # A last line that has lost its line end would be joined with text after it.
        is_joined = self.first == self.end == len(lines) and bool(lines[-1])
        if self._gap_neighbours is not None and not self.current:
            return None if is_joined else self._inserted_text()
        if self._merger is None:
            self._merger = Merger(self.base, self.proposed)
        elif self._gap_neighbours is None and self.current == last_read and not self.merged:
            return self.merged  # a conflict as before, or an empty text
        found = self._merger.merge_detailed(self.current)
        self.is_mixed = found is not None and found.is_mixed
        merged = None if found is None or (is_joined and found.text) else found.text
        if merged and self.end < len(lines) and not line_end(merged):
            merged += line_end(self.current) or "\n"  # no longer at the end of the text
        return merged

    def _inserted_text(self) -> str:
        """Return the proposed text; fit an insertion to the line ends of its present neighbours."""
        if self._gap_neighbours is None or not self.proposed:
            return self.proposed
        above, below = self._gap_neighbours
        ends = {line_end(above), line_end(below)} - {""}
        proposed_ends = line_ends(self.proposed) if self._may_have_other_ends() else frozenset()
        text, end = self.proposed, "\n"
        if len(ends) < 2 and len(proposed_ends) < 2:
            [end] = ends or proposed_ends or {end}
            for old_end in proposed_ends:
                text = text.replace(old_end, end)
        return text if not below or line_end(text) else text + end

    def _may_have_other_ends(self) -> bool:
        """Return whether an insertion adopts the line ends of its neighbours.

        An insertion whose text was in its place before does so only if a neighbour has another line
        end now, or if no neighbour has its old line end.
        """
        if self._neighbours_at_creation is None or self._gap_neighbours is None:
            return True
        pairs = zip(self._gap_neighbours, self._neighbours_at_creation, strict=True)
        neighbours = [(line, then) for line, then in pairs if line_end(then)]
        return any(
            line != then and without_end(line) == without_end(then) and line_end(line)
            for line, then in neighbours
        ) or (
            bool(neighbours) and all(line_end(line) != line_end(then) for line, then in neighbours)
        )

    @property
    def theirs(self) -> str:
        """The proposed text without the user's changes, with the line ends of the current text."""
        ends, was = line_ends(self.current), line_ends(self.base)
        if len(ends) != 1 or len(was) != 1 or line_ends(self.proposed) != was:
            return self.proposed
        [old], [new] = was, ends
        return self.proposed.replace(old, new)

    def _refresh_insertion(self, lines: Sequence[str], around: tuple[str, str]) -> None:
        """Find an insertion's place again, and check whether the user typed its text."""
        last = last_gap(lines)
        if self.first > last:
            self.first = self.end = last
        if self._is_lost:
            known = without_ends(around)
            places = range(self.first, min(self.end, last) + 1)
            gaps = [at for at in places if without_ends(lines_around(lines, at, at)) == known]
            self._is_lost = len(gaps) != 1
            if not self._is_lost:
                self.first = self.end = gaps[0]
                # Store the present line ends.
                self._gap_neighbours = lines_around(lines, self.first, self.end)
        elif self.first == self.end:
            expected = whole_lines(self.proposed) if self._was_filled else ()
            if expected and tuple(lines[self.first : self.first + len(expected)]) == expected:
                self.end += len(expected)
            else:
                self._gap_neighbours = lines_around(lines, self.first, self.end)
        self._was_filled = False

    def _absorb_edge_lines(self, lines: Sequence[str]) -> None:
        """Include lines inserted at the edges if the whole is then the proposed text."""
        (n_before, n_after), self._edges = self._edges, (0, 0)
        first, end = max(self.first - n_before, 0), self.end + n_after
        if n_before + n_after and "".join(lines[first:end]) == self.proposed:
            self.first, self.end = first, end

    def _trim_edge_lines(self, lines: Sequence[str]) -> None:
        """Exclude lines that were only inserted at the edges."""
        base_lines = strip_ends(self._base)
        while (n_lines := self.end - self.first) > len(base_lines):
            if self._text_in(lines) == self.proposed:
                return
            place = lines[self.first : self.end]
            hunks = diff_lines(base_lines, strip_ends(place))
            if hunks and hunks[-1].old_start == len(base_lines):
                self.end -= len(hunks[-1].new)
            if hunks and hunks[0].old_start == 0 and not hunks[0].old and self.end > self.first:
                self.first += len(hunks[0].new)
            if self.end - self.first == n_lines:
                return  # otherwise the remaining lines may show more inserted lines

    # -- moves by the document -------------------------------------------------------------------

    def resume_pending(self, lines: Sequence[str]) -> None:
        """Make the anchor pending again after the editor did not apply the edit."""
        self.is_in_flight = False
        self._is_due = True
        self._is_lost |= self._gap_neighbours is not None and self.first != self.end
        _ = self.refresh(lines)

    def restore_span(
        self, span: LineSpan, lines: Sequence[str], records: tuple[ChangeRecord, ...] | None = None
    ) -> None:
        """Move the anchor to `span` and read its lines again.

        Args:
            span: The lines of the anchor.
            lines: The current text.
            records: If given, the records before changes that looked like inverses of some of the
                records, but were not.
        """
        self._shift_records(span.first - self.first)
        if records is not None:
            self.undo_records = (*records, *redo_sequence(self.redo_records))
            self.redo_records = ()
        self.first, self.end, self._is_lost = span
        self._is_due = True
        if not self.is_in_flight:
            self._refresh_restored(lines)

    def _refresh_restored(self, lines: Sequence[str]) -> None:
        """Read the lines of the restored span, all of which belong to the anchor."""
        put_at = self.first
        if self._gap_neighbours is not None:
            self._refresh_insertion(lines, self._gap_neighbours)
            self._shift_records(self.first - put_at)
        self._read_lines(lines)

    def find_text(self, lines: Sequence[str], text: str) -> tuple[int, int] | None:
        """Return the lines within the anchor that equal `text`; None if there is not one match."""
        expected = whole_lines(text)
        n, place = len(expected), lines[self.first : self.end]
        if not expected:
            return None if place else (self.first, self.first)
        found = find_line_runs(place, expected)
        return (self.first + found[0], self.first + found[0] + n) if len(found) == 1 else None

    def replacement(self, document: TextDocument, text: str) -> Replacement:
        """Return the replacement of the anchor's lines by `text`."""
        start, end = Position(self.first, 0), Position(self.end, 0)
        return Replacement(document.offset_at(start), document.offset_at(end), text)


class BlockAnchor(Anchor):
    """The anchor of a live hunk that is shown as an inline block.

    The place is the lines of the block, found by the hunk's id. Text that the user writes between
    the marks is an amendment. If the user removes all marks, the hunk is decided
    (`stet.review.inline_sync`); if only some, there is a conflict until the user has finished.
    While the block is whole, `current` is the text that it replaces and `merged` the text to write.

    Attributes:
        block: The id of an imported block; "" for a block of Stet's, which has the hunk's id.
        is_alone: Whether no other block of the text has the same id: only then is the block
            searched outside of its place.
        left: The text in the place after the user removed the block; None while the block exists.
        strayed: Whether the block was found in another place than before.
        conflict: The anchor before the block was inserted, if the hunk was in conflict then.
    """

    __slots__ = ("block", "conflict", "is_alone", "left", "strayed")

    def __init__(  # noqa: PLR0913, PLR0917 - where, and between which texts
        self,
        hunk: str,
        lines: Sequence[str],
        place: tuple[int, int],
        before: str,
        after: str,
        block: str = "",
    ) -> None:
        """Create the anchor of `hunk`, whose block for `before` and `after` is on lines `place`."""
        super().__init__(hunk, lines, place, before, after)
        self.block = block
        self.is_alone = True
        self._gap_neighbours = None  # a block has lines even if it shows an insertion
        self.merged = after
        self.left: str | None = None
        self.conflict: Anchor | None = None
        self.strayed = False

    @property
    def is_done(self) -> bool:
        """Always False: while the block exists, the hunk is not decided."""
        return False

    @property
    def may_yield(self) -> bool:
        """Always False: the lines of a block are its own."""
        return False

    def apply_change(
        self,
        change: LineChange,
        min_first: int = 0,
        *,
        is_others: bool = False,  # noqa: ARG002 - see below
    ) -> bool:
        """Move with a change.

        A block that is not whole is searched after any change above it, and after a change a few
        lines below: if marks read alike, a returning mark may be reported there.

        Args:
            change: In lines of the text before the change.
            min_first: The end of the anchor above, in lines of the text after the change.
            is_others: Not used: a block is found by its id.
        """
        first, removed, added = change
        stop, delta = first + removed, added - removed
        self._is_due |= self.may_regain_line(first)
        if first > self.end:
            return self._is_due
        if self._is_inside_block(first, stop):
            self._is_due = True
            self.first = max(min(self.first, first), min_first)
            self.end = max(max(self.end, stop) + delta, self.first)
        elif stop <= self.first:
            self.shift(delta)
            return delta != 0 or self._is_due
        return self._is_due

    def may_regain_line(self, line: int) -> bool:
        """Return whether lines inserted at `line` may complete the block."""
        return self.merged is None and line <= self.end + _NEAR

    def _is_inside_block(self, first: int, stop: int) -> bool:
        """Return whether a change of these lines is inside of the block."""
        if self.is_in_flight:
            return stop >= self.first
        if first == stop:
            return self.first < first < self.end
        return first < self.end and stop > self.first

    def refresh(self, lines: Sequence[str]) -> bool:
        """Find the block again; return whether the block may have changed."""
        if not self._is_due or self.is_in_flight:
            return False
        self._is_due = False
        self.left = None
        if self._find(lines, self.first, self.end):
            return True
        rest = lines[self.first : self.end]
        is_finished = not has_leftovers(rest, self.current, self.proposed)
        reach = _FAR if is_finished else _NEAR
        if self.is_alone and self._find(lines, max(self.first - reach, 0), self.end + reach):
            self.strayed = True
        elif is_finished:
            self.left = "".join(rest)
        else:
            self.merged = None
        return True

    def text_now(self, lines: Sequence[str]) -> str:  # noqa: ARG002 - a block is found by its id
        """Return the text that the block replaces, as last read."""
        return self.current

    def _refresh_restored(self, lines: Sequence[str]) -> None:
        """Find the block again after a move."""
        _ = self.refresh(lines)

    def _find(self, lines: Sequence[str], first: int, end: int) -> bool:
        """Find the block between two lines; return whether it was found."""
        block = self._block_between(lines, first, end)
        if block is None:
            return False
        self.first, self.end = block.first, block.end
        self.current = block.before
        self.merged = self.proposed = block.after
        return True

    def _block_between(self, lines: Sequence[str], first: int, end: int) -> InlineBlock | None:
        """Return the first block with the anchor's id between lines `first` and `end`."""
        if self.block:
            return next(iter(imported_at(lines, (self.block,), first, end)), None)
        found = find_blocks(lines[first:end], (self.hunk,))
        if not found:
            return None
        return replace(found[0], first=found[0].first + first, end=found[0].end + first)
