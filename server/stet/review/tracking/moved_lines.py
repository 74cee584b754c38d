"""Lines that were taken out with hunks on them, and come back elsewhere: moved by a key, cut and
pasted, sorted.

A hunk is a wish for its lines. Where all of them were taken out at once and are put in again at
another place, it goes with them, and so does an insertion with the lines on both its sides. What else
was taken out with them tells which of several places that read alike it is.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.block_anchor import BlockAnchor
from stet.review.tracking.line_span import ChangeRecord, LineSpan, is_distinctive
from stet.text.change import TextChange
from stet.text.lines import whole_lines, without_end

MAX_REMOVED = 1_000
"""How many anchors whose lines were taken out a document knows."""
MAX_LINES = 120_000
"""How many lines it knows with them, each counted with every anchor; the oldest are forgotten first."""
_ROUND = 50
"""How many of the lines taken out are known on each side of an anchor's own."""
_ALIKE = 8
"""A line that was put in more often than this tells where an anchor begins only at the anchor's edge."""
_FIRST = attrgetter("first")


class ReplacedLines(NamedTuple):
    """Whole lines that a step has taken away, and those it has put there.

    Attributes:
        before: Where they stood in the text before the step, 0-based.
        after: Where they stand in the text behind it.
        removed: The lines that are gone.
        added: Those that are there now.
    """

    before: int
    after: int
    removed: Sequence[str]
    added: Sequence[str]


class _RemovedLines(NamedTuple):
    """What was taken out at once, without line ends; where in it an anchor stood, what that remembered.

    Attributes:
        lines: What was taken out.
        span: The lines of it that are the anchor's.
        anchor: The anchor.
        records: The changes that the anchor remembered.
        is_torn: Whether the lines were not taken out at once, and may come together one by one.
    """

    lines: tuple[str, ...]
    span: LineSpan
    anchor: Anchor
    records: tuple[ChangeRecord, ...]
    is_torn: bool = False

    @property
    def anchor_lines(self) -> tuple[str, ...]:
        """The lines that are the anchor's."""
        return self.lines[self.span.first : self.span.end]

    def is_missing(self, lines: Sequence[str]) -> bool:
        """Whether the anchor stands on nothing of what was taken from it."""
        anchor, anchor_lines = self.anchor, self.anchor_lines
        if not anchor_lines:
            return anchor.span.is_lost
        is_open = not anchor.current or anchor.merged is None
        return is_open and _without_ends(lines[anchor.first : anchor.end]) != anchor_lines

    def locate(
        self, put: Mapping[str, Sequence[int]], lines: Sequence[str]
    ) -> tuple[int | None, int]:
        """Where the anchor's lines begin by now, None if that is in doubt; and how many lines tell that.

        Args:
            put: Where each line was put that was; of torn lines also where each line has a new neighbour.
            lines: The text.
        """
        found = {
            at: context
            for at in self._candidates(put)
            if (context := self._matching_context(lines, at))
        }
        most = max(map(len, found.values()), default=0)
        best = [at for at, matching in found.items() if len(matching) == most]
        return (
            (best[0], most if is_distinctive(found[best[0]]) else 0)
            if len(best) == 1
            else (None, 0)
        )

    def _candidates(self, put: Mapping[str, Sequence[int]]) -> set[int]:
        """Where the anchor's lines may begin: one at their edge was put there, or any of torn lines."""
        first, end, _ = self.span
        edges = {first, max(end - 1, first)}
        inside = range(first + 1, end - 1) if self.is_torn else ()
        known = [*edges, *(of for of in inside if len(put.get(self.lines[of], ())) <= _ALIKE)]
        return {at - of + first for of in known for at in put.get(self.lines[of], ())}

    def _matching_context(self, lines: Sequence[str], at: int) -> tuple[str, ...] | None:
        """Return the lines at and around `at` that match the removed lines. None if the anchor's
        own lines do not match.
        """
        first, end, _ = self.span
        after = at + end - first
        if at < 0 or after > len(lines):
            return None
        # Of long lines that repeat themselves most places are told by the first one and the last one.
        ends = ((at, first), (after - 1, end - 1)) if at < after else ()
        if any(without_end(lines[now]) != self.lines[was] for now, was in ends):
            return None
        if _without_ends(lines[at:after]) != self.anchor_lines:
            return None
        above = _common_prefix(self.lines[:first][::-1], lines[max(at - first, 0) : at][::-1])
        below = _common_prefix(self.lines[end:], lines[after : after + len(self.lines) - end])
        if first == end and not (above and below):
            return None
        return (*above[::-1], *self.anchor_lines, *below)


class MovedLineTracker:
    """What was taken out of one document; owned and changed by its `TrackedDocument` only."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._removed: dict[str, _RemovedLines] = {}
        self._replaced: list[ReplacedLines] = []
        self._fresh: set[str] = set()

    def record_removed(
        self, blocks: Sequence[ReplacedLines], pending: Sequence[Anchor], settled: Sequence[Anchor]
    ) -> None:
        """Note the anchors that lose all their lines.

        Args:
            blocks: What the next step does.
            pending: Those that wait, in order of place, as they stand before it.
            settled: Those of decided hunks, in any order.
        """
        if not blocks:
            return
        is_move = len(blocks) > 1 or len(blocks[0].removed) > len(blocks[0].added)
        for anchors in (pending, sorted(settled, key=_FIRST) if is_move else ()):
            for block in blocks:
                within = tuple(_anchors_removed_by(anchors, block))
                removed = _without_ends(block.removed) if within else ()
                for anchor in within:
                    if isinstance(anchor, BlockAnchor):
                        continue  # it is found again by its hunk's id
                    first, end, is_lost = anchor.span
                    a, b = first - block.before, end - block.before
                    top = max(a - _ROUND, 0)
                    place = LineSpan(a - top, b - top, is_lost)
                    _ = self._removed.pop(anchor.hunk, None)
                    cut = _RemovedLines(
                        removed[top : b + _ROUND], place, anchor, anchor.undo_records
                    )
                    self._removed[anchor.hunk] = cut
                    self._fresh.add(anchor.hunk)
        n_lines = sum(len(cut.lines) for cut in self._removed.values())
        while len(self._removed) > MAX_REMOVED or n_lines > MAX_LINES:
            oldest = next(iter(self._removed))
            n_lines -= len(self._removed.pop(oldest).lines)

    def find_moved(
        self, blocks: Sequence[ReplacedLines], lines: Sequence[str], pending: Iterable[Anchor]
    ) -> Iterator[tuple[Anchor, LineSpan, tuple[ChangeRecord, ...]]]:
        """Yield each anchor whose lines a step has put in elsewhere, its new span and its change
        records.

        Args:
            blocks: What the step did.
            lines: The text behind it.
            pending: Those that wait.
        """
        if not blocks:
            return
        self._replaced = [*(_shift_block(one, blocks) for one in self._replaced), *blocks]
        self._removed = {hunk: one for hunk, one in self._removed.items() if one.is_missing(lines)}
        conflicts = [one for one in pending if one.merged is None]
        if not (conflicts or self._removed):
            return
        put = _inserted_places(self._replaced)
        beside = _joined_places(self._replaced, put, lines) if conflicts else put
        wholes = {_without_ends(one.added) for one in self._replaced if not one.removed}
        removed = self._removed.values() if put else ()
        torn = [_conflict_as_removed(one) for one in conflicts if _is_torn(one, beside)]
        for cut in (*removed, *torn):
            if not cut.is_missing(lines):
                continue
            at, n_matching = cut.locate(beside if cut.is_torn else put, lines)
            is_moved = cut.anchor.hunk in self._fresh and is_distinctive(cut.anchor_lines)
            if at is not None and (is_moved or n_matching > 1 or cut.lines in wholes):
                first, end, is_lost = cut.span
                yield cut.anchor, LineSpan(at, at + end - first, is_lost), cut.records

    def reset_message(self) -> None:
        """Reset the tracker after a message; its replaced lines do not count for the next message."""
        self._replaced.clear()
        self._fresh.clear()

    def forget(self, hunk: str) -> None:
        """Forget the removed lines of `hunk`, which belong to the hunk again."""
        _ = self._removed.pop(hunk, None)


def _anchors_removed_by(anchors: Sequence[Anchor], block: ReplacedLines) -> Iterator[Anchor]:
    """Those, in order of place, all of whose lines a block takes away."""
    after = block.before + len(block.removed)
    for anchor in islice(anchors, bisect_left(anchors, block.before, key=_FIRST), None):
        if anchor.first >= after:
            return
        # A gap at the edge has a neighbour who stays.
        if anchor.end <= after and not (anchor.first == anchor.end == block.before):
            yield anchor


def _is_torn(anchor: Anchor, beside: Mapping[str, Sequence[int]]) -> bool:
    """Whether what an anchor in conflict was made against may have come together in a step."""
    if isinstance(anchor, BlockAnchor):
        return False  # it is found again by its hunk's id
    return not anchor.base_words.isdisjoint(beside)


def _conflict_as_removed(anchor: Anchor) -> _RemovedLines:
    """Return an anchor in conflict as if its whole base had been removed. Its lines may have been
    put together again one by one.
    """
    lines = _without_ends(whole_lines(anchor.base))
    span = LineSpan(0, len(lines), is_lost=False)
    return _RemovedLines(lines, span, anchor, anchor.undo_records, is_torn=True)


def _shift_block(put: ReplacedLines, blocks: Sequence[ReplacedLines]) -> ReplacedLines:
    """Where lines that were put, or taken out, stand after another step that left them alone."""
    shift = sum(
        len(block.added) - len(block.removed) for block in blocks if block.before < put.after
    )
    return put._replace(after=put.after + shift)


def _inserted_places(replaced: Sequence[ReplacedLines]) -> dict[str, list[int]]:
    """Return where each line was put in."""
    put: dict[str, list[int]] = defaultdict(list)
    for block in replaced:
        for nth, line in enumerate(_without_ends(block.added), block.after):
            put[line].append(nth)
    return put


def _joined_places(
    replaced: Sequence[ReplacedLines], put: Mapping[str, Sequence[int]], lines: Sequence[str]
) -> dict[str, list[int]]:
    """Return where each line was put in or has got a new neighbour.

    Args:
        replaced: What was done to whole lines.
        put: Where each line was put in.
        lines: The text after it.
    """
    beside = defaultdict(list, {line: [*places] for line, places in put.items()})
    for block in replaced:
        for at in (block.after - 1, block.after + len(block.added)):
            if 0 <= at < len(lines):
                beside[without_end(lines[at])].append(at)
    return beside


def is_typing(changes: Sequence[TextChange]) -> bool:
    """Whether a message does no more than change one line."""
    effects = [effect for change in changes for effect in change.effects]
    return all(effect.removed == effect.added == 1 for effect in effects) and len(effects) < 2


def replaced_lines(changes: Sequence[TextChange]) -> tuple[ReplacedLines, ...]:
    """Return what the changes of one step, in order of place, have done to whole lines."""
    parts = [part for change in changes for part in _parts(change)]
    deltas = [len(added) - len(removed) for _, removed, added in parts]
    done, total = 0, sum(deltas)
    is_bottom_up = all(one[0] >= later[0] for one, later in pairwise(parts))
    blocks = []
    for (first, removed, added), delta in zip(parts, deltas, strict=True):
        above = (0, total - done - delta) if is_bottom_up else (-done, 0)
        blocks.append(ReplacedLines(first + above[0], first + above[1], removed, added))
        done += delta
    return tuple(blocks)


def _parts(change: TextChange) -> Iterator[tuple[int, Sequence[str], Sequence[str]]]:
    """Yield the first line of each effect of a change, the lines removed and the lines added."""
    if change.splice is None:
        return
    top, before, after = change.splice
    below = sum(effect.added - effect.removed for effect in change.effects)
    for first, removed, added in change.effects:
        below -= added - removed
        at = first - top
        yield first, before[at : at + removed], after[at + below : at + below + added]


def _without_ends(lines: Sequence[str]) -> tuple[str, ...]:
    """Without line ends: a last line gets one where it goes up."""
    return tuple(map(without_end, lines))


def _common_prefix(known: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that both sequences begin with."""
    pairs = zip(known, _without_ends(lines), strict=False)
    return tuple(line for line, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
