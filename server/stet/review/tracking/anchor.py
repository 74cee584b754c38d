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

from stet.review.tracking.line_span import (
    ChangeRecord,
    LineSpan,
    is_distinctive,
    last_gap,
    lines_around,
    redo_sequence,
    without_ends,
)
from stet.review.tracking.tracked_span import TrackedSpan
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import Replacement
from stet.text.lines import line_end, line_ends, whole_lines, without_end
from stet.text.merge import Merger
from stet.text.sequence import find_line_runs

_NOWHERE = ("\n\n", "\n\n")
"""Lines that no text has: an insertion that is lost and can't be found by what was round it."""


class Anchor(TrackedSpan):
    """One hunk's place; owned and changed by its `TrackedDocument` only.

    Attributes:
        hunk: The hunk's id.
        proposed: What is to stand there.
        is_mixed: Whether `merged` has a line that both the user and the agent have changed.
    """

    __slots__ = (
        "_base",
        "_base_words",
        "_merger",
        "_original_neighbours",
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
            hunk: Its id.
            lines: The text it is made in.
            place: Its first line there, and the one behind its last.
            base: What it was made against, which is what stands there.
            proposed: What it would write.
            is_lost: Whether it is an insertion whose place was lost there before.
            was_written: Whether that has stood there before, and comes back as it was: an insertion then
                keeps its line ends unless those beside it are others now.
        """
        first, end = place
        if not base and tuple(lines[first:end]) in {(), ("",)}:
            # What is there holds nothing, and what comes last comes before the line that holds nothing.
            first = end = min(first, last_gap(lines))
        super().__init__(lines, first, end, is_lost=is_lost)
        self.hunk = hunk
        self.proposed = proposed
        self.is_mixed = False
        self._base = whole_lines(base)
        self._base_words: frozenset[str] | None = None
        self._merger: Merger | None = None
        self._original_neighbours = lines_around(lines, first, first) if was_written else None
        stands = tuple(lines[first:end])
        if is_lost:
            self._around = _NOWHERE
            return
        if stands == (*self._base, "") or (base and stands[-1:] == ("",)):
            self._base += ("",)  # what is behind the last line end is a line of the text too
        elif not base:
            self._around = lines_around(lines, first, first)
        self.current = base
        self.merged = self._inserted_text()

    @property
    def base(self) -> str:
        """What it was made against."""
        return "".join(self._base)

    @property
    def base_words(self) -> frozenset[str]:
        """The lines of `base`, each once and without its line end; empty if there are fewer than two."""
        if self._base_words is None:
            last = len(self._base) - (self._base[-1:] == ("",))
            self._base_words = frozenset(map(without_end, self._base[:last] if last > 1 else ()))
        return self._base_words

    @property
    def is_done(self) -> bool:
        """Whether the text says already what it would write."""
        return self.merged == self.current

    def refresh(self, lines: Sequence[str]) -> bool:
        """See what stands there; called behind the changes of one message.

        Args:
            lines: The text as it is now.

        Returns:
            Whether that may be another text than before; else only its neighbours are.
        """
        if self._growing:
            return False
        if not self._is_due:
            if self._has_new_neighbour:
                self._see_neighbours(lines)
            return False
        self._find_lines(lines)
        self._read_lines(lines)
        return True

    def _read_lines(self, lines: Sequence[str]) -> None:
        """Read the lines that are its own, and those beside them."""
        self._is_due = self._is_touched = False
        self._see_neighbours(lines)
        before, self.current = self.current, self._text_in(lines)
        self.merged = self._merge(lines, before)

    def _find_lines(self, lines: Sequence[str]) -> None:
        """Find the lines that are its own, now that those beside them can be read."""
        if self._candidates:
            self._choose_candidate(lines)
        merged_to = self.first
        self._absorb_edge_lines(lines)
        if self._around is not None:
            self._refresh_insertion(lines, self._around)
        else:
            self._trim_edge_lines(lines)
        self._shift_records(self.first - merged_to)

    def find_base(self, lines: Sequence[str], floor: int, ceiling: int) -> None:
        """End a conflict where what it was made against stands whole again, more of it than the changes
        have led to; only between lines `floor` and `ceiling`, which may be other hunks'.
        """
        n = len(self._base)
        if self.merged is not None or not n or self._growing:
            return
        # Only where all that it has by now is part of it, unless the lines can be told from others.
        lower, upper = self.end - n, self.first
        if is_distinctive(self._base):
            lower, upper = min(lower, self.first - n), max(upper, self.end)
        starts = range(max(lower, floor), min(upper, ceiling - n) + 1)
        found = [at for at in starts if self._is_base_at(lines, at)]
        if len(found) == 1:
            self.restore_span(LineSpan(found[0], found[0] + n, is_lost=False), lines)

    def _is_base_at(self, lines: Sequence[str], first: int) -> bool:
        return all(
            without_end(lines[first + at]) == without_end(line)
            for at, line in enumerate(self._base)
        )

    def _merge(self, lines: Sequence[str], before: str) -> str | None:
        """Return the text to write in place of the current lines; None if there is a conflict.

        Args:
            lines: The text as it is now.
            before: What stood there when it was last looked at.
        """
        if self._is_lost:
            return None
        if self._around is not None and not self.current:
            return None if self.is_after_unterminated_line(lines) else self._inserted_text()
        if self._merger is None:
            self._merger = Merger(self.base, self.proposed)
        elif self._around is None and self.current == before and not self.merged:
            return self.merged  # a conflict as before, or nothing
        found = self._merger.merge_detailed(self.current)
        self.is_mixed = found is not None and found.is_mixed
        merged = None if found is None else found.text
        if merged and self.end < len(lines) and not line_end(merged):
            merged += line_end(self.current) or "\n"  # lines have come to stand behind it
        return merged

    def _inserted_text(self) -> str:
        """Return the proposed text. An insertion is fitted to its neighbouring lines, which may
        have changed since the anchor was made.
        """
        if self._around is None or not self.proposed:
            return self.proposed
        before, after = self._around
        ends = {line_end(before), line_end(after)} - {""}
        proposed_ends = line_ends(self.proposed) if self._may_have_other_ends() else frozenset()
        end = (
            next(iter(ends or proposed_ends or {"\n"}))
            if len(ends) < 2 and len(proposed_ends) < 2
            else ""
        )
        text = (
            self.proposed.replace(next(iter(proposed_ends)), end)
            if end and proposed_ends
            else self.proposed
        )
        return text if not after or line_end(text) else text + (end or "\n")

    def _may_have_other_ends(self) -> bool:
        """Whether an insertion takes over the line ends beside it: not if it stood there before, and
        they are still the same.

        Either a line that was beside it has got another end, or none that is there now has the old one.
        """
        if self._original_neighbours is None or self._around is None:
            return True
        neighbours = [
            (line, then)
            for line, then in zip(self._around, self._original_neighbours, strict=True)
            if line_end(then)
        ]
        return any(
            line != then and without_end(line) == without_end(then) and line_end(line)
            for line, then in neighbours
        ) or (
            bool(neighbours) and all(line_end(line) != line_end(then) for line, then in neighbours)
        )

    @property
    def theirs(self) -> str:
        """What is proposed, whatever the user wrote, with the line ends that its lines have got."""
        ends, was = line_ends(self.current), line_ends(self.base)
        if len(ends) != 1 or len(was) != 1 or line_ends(self.proposed) != was:
            return self.proposed
        [old], [new] = was, ends
        return self.proposed.replace(old, new)

    def is_after_unterminated_line(self, lines: Sequence[str]) -> bool:
        """Whether it is an insertion behind a last line that has lost its line end."""
        return self.is_gap and self.first == self.end == len(lines) and bool(lines[-1])

    def _refresh_insertion(self, lines: Sequence[str], around: tuple[str, str]) -> None:
        """Find an insertion's place again, and see whether the text was put there by hand."""
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
                self._around = lines_around(lines, self.first, self.end)  # with the ends of now
        elif self.first == self.end:
            expected = whole_lines(self.proposed) if self._was_filled else ()
            if expected and tuple(lines[self.first : self.first + len(expected)]) == expected:
                self.end += len(expected)
            else:
                self._around = lines_around(lines, self.first, self.end)
        self._was_filled = False

    def _absorb_edge_lines(self, lines: Sequence[str]) -> None:
        """Lines put before or behind its own are its inside where that makes what was to stand there."""
        (n_before, n_after), self._edges = self._edges, (0, 0)
        first, end = max(self.first - n_before, 0), self.end + n_after
        if n_before + n_after and "".join(lines[first:end]) == self.proposed:
            self.first, self.end = first, end

    def _trim_edge_lines(self, lines: Sequence[str]) -> None:
        """Lines that were only put before or behind its own are not its inside."""
        base_lines = [without_end(line) for line in self._base]
        while (n_lines := self.end - self.first) > len(base_lines):
            if self._text_in(lines) == self.proposed:
                return
            hunks = diff_lines(
                base_lines, [without_end(line) for line in lines[self.first : self.end]]
            )
            if hunks and hunks[-1].old_start == len(base_lines):
                self.end -= len(hunks[-1].new)
            if hunks and hunks[0].old_start == 0 and not hunks[0].old and self.end > self.first:
                self.first += len(hunks[0].new)
            if self.end - self.first == n_lines:
                return  # else the difference to what is left may show more of them

    # -- while the editor applies it -------------------------------------------------------------

    def resume_waiting(self, lines: Sequence[str]) -> None:
        """Make the anchor pending again after the editor did not apply the edit."""
        self._growing = False
        self._is_due = True
        self._is_lost |= self._around is not None and self.first != self.end
        _ = self.refresh(lines)

    def start_no_earlier(self, line: int, lines: Sequence[str]) -> None:
        """Move the anchor's start to `line`; the lines before `line` belong to another anchor."""
        self.restore_span(LineSpan(line, max(self.end, line), self._is_lost), lines)

    def restore_span(
        self, span: LineSpan, lines: Sequence[str], records: tuple[ChangeRecord, ...] | None = None
    ) -> None:
        """Put the anchor back on `span` and read its lines anew.

        Args:
            span: Where.
            lines: The text as it is now.
            records: If given, what has been remembered before changes that looked like the inverse of
                some of it, but were none.
        """
        self._shift_records(span.first - self.first)
        if records is not None:
            self._undo_records, self._redo_records = (
                (*records, *redo_sequence(self._redo_records)),
                (),
            )
        self.first, self.end, self._is_lost = span
        self._is_due = True
        if not self._growing:
            self._refresh_restored(lines)

    def _refresh_restored(self, lines: Sequence[str]) -> None:
        """See what it means to stand where it was put: all lines there are its own."""
        put_at = self.first
        if self._around is not None:
            self._refresh_insertion(lines, self._around)
            self._shift_records(self.first - put_at)
        self._read_lines(lines)

    def find_text(self, lines: Sequence[str], text: str) -> tuple[int, int] | None:
        """Return the lines within the anchor that are exactly `text`, if there is exactly one
        match.
        """
        expected = whole_lines(text)
        n, place = len(expected), lines[self.first : self.end]
        if not expected:
            return None if place else (self.first, self.first)
        found = find_line_runs(place, expected)
        return (self.first + found[0], self.first + found[0] + n) if len(found) == 1 else None

    def replacement(self, document: TextDocument, text: str) -> Replacement:
        """`text` in its place."""
        place = self.range_in(document.lines)
        return Replacement(document.offset_at(place.start), document.offset_at(place.end), text)
