"""An edit on its way to the editor: how to tell that it has arrived, and where it takes the others."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from typing import NamedTuple

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.edit_plan import EditPlan
from stet.review.tracking.expected_text import ExpectedText
from stet.review.tracking.line_span import (
    ChangeRecord,
    LineSpan,
    edge_hashes,
    lines_around,
    text_hash,
)
from stet.text.change import LineChange, TextChange
from stet.text.document import TextDocument
from stet.text.lines import whole_lines
from stet.text.sequence import find_line_runs

_MAX_WAYS = 64
"""How many readings of lines as hunks that came or did not are weighed."""


class EditRun(NamedTuple):
    """What an edit does on lines none of which it leaves alone.

    Attributes:
        first: The first of these lines, in the text the edit was made for.
        end: The line behind the last.
        hunks: Those of them, in order of place.
    """

    first: int
    end: int
    hunks: tuple[str, ...]


class InFlightEdit:
    """One edit on its way; owned and changed by its `TrackedDocument` only.

    Attributes:
        plan: What it does.
        lines: Those of the text it was made for.
        before: Where every other anchor stood when it was sent, and its folds then.
        present: The hunks whose text stood within their place already: it proves nothing there.
    """

    __slots__ = (
        "_effects",
        "_ends",
        "_runs",
        "_shadow",
        "_shifts",
        "before",
        "lines",
        "plan",
        "present",
    )

    def __init__(
        self,
        plan: EditPlan,
        document: TextDocument,
        anchors: Sequence[Anchor],
        others: Sequence[Anchor],
    ) -> None:
        """`plan` goes out for `document`; `anchors` are of its hunks, `others` are not."""
        self.plan = plan
        self.lines = document.lines
        self.before = {anchor.hunk: (anchor.span, anchor.undo_records) for anchor in others}
        self.present = frozenset(
            anchor.hunk
            for anchor in anchors
            if anchor.find_text(document.lines, plan.texts[anchor.hunk])
        )
        self._shadow = ExpectedText(document, plan.edit)
        self._effects = plan.effects[::-1]
        self._runs = {hunk: run for run in _runs(self._effects) for hunk in run.hunks if hunk}
        self._ends = [change.first + change.removed for _, change in self._effects]
        deltas = (change.added - change.removed for _, change in self._effects)
        self._shifts = list(accumulate(deltas, initial=0))

    def is_expected(self, lines: Sequence[str]) -> bool:
        """Whether a text of these lines is that with the edit, and nothing else has happened to it."""
        return self._shadow.is_expected(lines)

    def completed_by(self, changes: Sequence[TextChange]) -> tuple[int, Sequence[str]] | None:
        """Behind how many of the next `changes` the edit is complete, and the lines then.

        None if behind none of them: the edit is then expected with a later message.
        """
        for count, change in enumerate(changes, 1):
            if self._shadow.completes_with(change):
                return count, self._shadow.lines
        return None

    def run_of(self, hunk: str) -> EditRun | None:
        """Return the run of hunks that contains `hunk` and has no line between its hunks. None
        where only the difference is known of the edit.
        """
        return self._runs.get(hunk)

    def find_run(self, run: EditRun, lines: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Where in `lines` what the hunks of a run write stands, if all of it does so once, and nowhere
        in the place that they had when it was sent; none if not.

        A hunk that writes nothing is left out where what it takes away stands beside that.
        """
        texts = [whole_lines(self.plan.texts[hunk]) for hunk in run.hunks]
        wanted = whole_lines("".join(self.plan.texts[hunk] for hunk in run.hunks))
        found = find_line_runs(lines, wanted) if wanted else ()
        if len(found) != 1 or find_line_runs(self.lines[run.first : run.end], wanted):
            return {}
        at = accumulate(map(len, texts), initial=found[0])
        places = dict(zip(run.hunks, pairwise(at), strict=True))
        adjacent = (*lines[: found[0]], *lines[found[0] + len(wanted) :])
        taken = self._replaced_lines()
        return {
            hunk: place
            for hunk, place in places.items()
            if self.plan.texts[hunk] or not (taken[hunk] and find_line_runs(adjacent, taken[hunk]))
        }

    def match_run(
        self, run: EditRun, lines: Sequence[str]
    ) -> Mapping[str, tuple[int, int] | None] | None:
        """Where in `lines` the hunks of a run stand, each as it was or as it is to be: None for one
        that did not come. None where `lines` read otherwise, or so in more than one way.
        """
        taken, there = self._replaced_lines(), list(lines)
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

    def _replaced_lines(self) -> Mapping[str, Sequence[str]]:
        """Return the lines that each hunk replaces."""
        return {
            hunk: self.lines[one.first : one.first + one.removed] for hunk, one in self._effects
        }

    def span_after(self, anchor: Anchor, earlier: Set[str]) -> LineSpan | None:
        """Where the edit itself takes another anchor: editors report the smallest difference, which
        need not be the change that was sent.

        Args:
            anchor: As it was when the edit was sent.
            earlier: The hunks that come before it where both stand at one point.

        Returns:
            None if the edit reaches into its place, or all that is known is the difference.
        """
        (first, end, is_lost), _ = self.before[anchor.hunk]
        at = bisect_left(self._ends, first)
        shift = self._shifts[at]
        for hunk, (start, removed, added) in self._effects[at:]:
            stop = start + removed
            if not hunk or (stop > first and start < end):
                return None
            if stop > first:
                break
            if removed or first < end or hunk in earlier:
                shift += added - removed
        # A last line that held nothing is gone where text without a line end came to stand in it.
        return LineSpan(first + shift, end + shift, is_lost).clamped(self._shadow.n_lines)

    def edge_record(self, anchor: Anchor, span: LineSpan) -> ChangeRecord | None:
        """Return what the edit itself did at the edge of another anchor. None if there is no
        change, or more than one change.

        Args:
            anchor: As it was when the edit was sent.
            span: Where the edit has taken it.
        """
        before, _ = self.before[anchor.hunk]
        at = bisect_left(self._ends, before.first)
        adjacent = [
            (shift, change)
            for shift, (_, change) in zip(
                self._shifts[at:], self._effects[at : at + 2], strict=False
            )
            if change.first <= before.end and change.added != change.removed
        ]
        if len(adjacent) != 1:
            return None
        [(shift, (first, removed, added))] = adjacent
        was = LineSpan(before.first - first, before.end - first, before.is_lost)
        back = span.first - first - shift
        around = edge_hashes(lines_around(self.lines, before.first, before.end))
        return ChangeRecord(was, text_hash(anchor.current), removed, added, back, around)


def _runs(effects: Sequence[tuple[str, LineChange]]) -> Iterator[EditRun]:
    """Yield runs of touching changes; `effects` are in order of place, each with its hunk."""
    hunks: list[str] = []
    first = end = 0
    for hunk, change in effects:
        if hunks and change.first != end:
            yield EditRun(first, end, tuple(hunks))
            hunks = []
        if not hunks:
            first = change.first
        hunks.append(hunk)
        end = change.first + change.removed
    if hunks:
        yield EditRun(first, end, tuple(hunks))
