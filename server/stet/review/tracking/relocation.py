"""Places of hunks that the text determines, but not the reported changes.

- A text that the document had before (`RevisionCheckpoints`). An editor that sends whole texts, and
  a file that is opened again, give only the difference of two texts. This difference need not be
  the inverse of the earlier one: a line moved up and down again may be reported as another line
  moved. If the whole text is the same, each hunk is where it was.
- Lines of hunks that were removed and inserted elsewhere (`MovedLineTracker`): moved by a
  key, cut and pasted, sorted. A hunk moves with its lines if all of them were removed at once. An
  insertion moves with the lines on both its sides. The other removed lines select one of several
  matching places.
- The base of a hunk that was decided long ago (`relocate`).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple

from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.replay import ReplacedLines, fingerprint_of, lines_before
from stet.review.tracking.tracked_span import ChangeRecord, LineSpan, is_distinctive, with_one_end
from stet.text.edit import TextChange
from stet.text.lines import whole_lines, without_end
from stet.text.sequence import find_line_runs

_ALIKE = 8
"""A line that was inserted more often than this locates an anchor only by its edges."""
MAX_TEXTS = 32
"""The number of remembered texts of a document."""
_SHORT = 1_000
"""A text of at most so many lines is recorded at each change of the number of lines."""
_TYPED = 3
"""The most lines, old and new together, of a change that counts as typing."""
MAX_REMOVED = 1_000
"""The most anchors with removed lines that are remembered for a document."""
MAX_REMOVED_LINES = 120_000
"""The most removed lines of all these anchors; the oldest are dropped first."""
_ROUND = 50
"""The removed lines that are remembered on each side of an anchor's lines."""
_FIRST = attrgetter("first")


class _AnchorState(NamedTuple):
    """An anchor's place in a text, with its change records."""

    span: LineSpan
    records: tuple[ChangeRecord, ...]
    is_conflict: bool

    def is_better_than(self, now: Anchor) -> bool:
        """Return whether an anchor should move from its present place to this one."""
        return self.span != now.span and (now.merged is None or not self.is_conflict)


class _Checkpoint(NamedTuple):
    """The anchors in a text, in order of place.

    The values of the anchors are in one list for each kind of value: a tuple for each anchor would
    take twice the time, and the garbage collector would visit them all.
    """

    anchors: Sequence[Anchor]
    firsts: Sequence[int]
    ends: Sequence[int]
    lost: Sequence[bool]
    records: Sequence[tuple[ChangeRecord, ...]]
    conflicts: frozenset[Anchor]

    def rows(self) -> Iterator[tuple[Anchor, int, int, bool, tuple[ChangeRecord, ...]]]:
        """Return each anchor with its first line, the line after its last line, `is_lost`, and its
        change records.
        """
        return zip(self.anchors, self.firsts, self.ends, self.lost, self.records, strict=True)

    def anchor_states(self) -> dict[Anchor, _AnchorState]:
        """Return the anchors with their states, in order of place."""
        return {
            one: _AnchorState(LineSpan(first, end, is_lost), records, one in self.conflicts)
            for one, first, end, is_lost, records in self.rows()
        }


class RevisionCheckpoints:
    """The earlier texts of one document; owned and changed by its `TrackedDocument` only.

    A text is identified by its number of lines and a 64-bit hash of the lines, with a key of this
    process: whole texts would take megabytes.
    """

    def __init__(self) -> None:
        """Create an empty collection."""
        self._texts: dict[tuple[int, int], _Checkpoint] = {}

    def record(
        self, changes: Sequence[TextChange], lines: Sequence[str], anchors: Sequence[Anchor]
    ) -> None:
        """Record the places of anchors in the text before these changes.

        Args:
            changes: The changes, in order.
            lines: The text after the changes.
            anchors: The anchors before the changes, in order of place.
        """
        if not (_is_rewrite(changes) or _moves_lines(changes, lines)):
            return
        if (before := lines_before(changes, lines)) is None:
            return
        conflicts = frozenset([anchor for anchor in anchors if anchor.merged is None])
        firsts, ends = [one.first for one in anchors], [one.end for one in anchors]
        lost = [one._is_lost for one in anchors]  # noqa: SLF001 - read in a loop
        records = [one.undo_records for one in anchors]
        text = _Checkpoint(tuple(anchors), firsts, ends, lost, records, conflicts)
        key = len(before), fingerprint_of(before)
        known = self._texts.pop(key, None)
        self._texts[key] = text if known is None else _merge_checkpoints(known, text)
        if len(self._texts) > MAX_TEXTS:
            del self._texts[next(iter(self._texts))]

    def restore(
        self, changes: Sequence[TextChange], lines: Sequence[str], live: list[Anchor]
    ) -> bool:
        """Move live anchors to their earlier places in this text; return whether any moved.

        No anchor moves if a newer anchor is in between.

        Args:
            changes: The changes, in order; none if an edit of Stet has arrived.
            lines: The text after the changes.
            live: The live anchors in order of place; still in order afterwards.
        """
        is_typed = bool(changes) and all(
            e.removed == e.added == 1 for one in changes for e in one.effects
        )
        text = None if is_typed and not _is_rewrite(changes) else self._find(lines)
        if text is None:
            return False
        known = text.anchor_states()
        moving = {one for one in live if one in known and known[one].is_better_than(one)}
        while moving:
            order, in_the_way = _order_restored(live, known, moving)
            if not in_the_way:
                live[:] = order
                for one in order:
                    if one in moving:
                        one.restore_span(known[one].span, lines, known[one].records)
                return True
            # An anchor in conflict here has found lines since that overlap with another anchor's.
            if not (also := {one for one in in_the_way if one in known} - moving):
                return False
            moving |= also
        return False

    def _find(self, lines: Sequence[str]) -> _Checkpoint | None:
        """Return the checkpoint of an earlier text that had exactly these lines, if any."""
        n_lines = len(lines)
        is_as_long = any(known == n_lines for known, _ in self._texts)
        return self._texts.get((n_lines, fingerprint_of(lines))) if is_as_long else None


def _order_restored(
    live: Sequence[Anchor], known: Mapping[Anchor, _AnchorState], moving: Set[Anchor]
) -> tuple[list[Anchor], set[Anchor]]:
    """Return the live anchors in order after `moving` have moved, and those that overlap."""
    # At one point, the anchors of the checkpoint come first, in their order.
    ranks = {one: nth for nth, one in enumerate(dict.fromkeys((*known, *live)))}
    spans = {one: known[one].span if one in moving else one.span for one in live}
    order = sorted(live, key=lambda one: (*spans[one][:2], ranks[one]))
    in_the_way = {
        anchor
        for pair in pairwise(order)
        if spans[pair[0]].end > spans[pair[1]].first and not moving.isdisjoint(pair)
        for anchor in pair
    }
    return order, in_the_way


def _merge_checkpoints(before: _Checkpoint, now: _Checkpoint) -> _Checkpoint:
    """Return two checkpoints of one text as one: the earlier places, unless in conflict.

    Lines that read alike may have moved the anchors wrongly since.
    """
    states = {row[0]: row for row in now.rows()}
    earlier = {
        row[0]: row
        for row in before.rows()
        if row[0] in states and (row[0] in now.conflicts or row[0] not in before.conflicts)
    }
    both = earlier | {anchor: row for anchor, row in states.items() if anchor not in earlier}
    conflicts = now.conflicts & before.conflicts | (now.conflicts - earlier.keys())
    columns = zip(*both.values(), strict=True) if both else now[:5]
    return _Checkpoint._make([*columns, conflicts])


def _is_rewrite(changes: Sequence[TextChange]) -> bool:
    """Return whether the changes are more than typing."""
    return len(changes) > 1 or any(
        len(change.effects) > 1
        or (change.splice and len(change.splice.before) + len(change.splice.after) > _TYPED)
        for change in changes
    )


def _moves_lines(changes: Sequence[TextChange], lines: Sequence[str]) -> bool:
    """Return whether lines were removed, which may be pasted again; in a short text also if added.

    Lines that read alike may be removed and added anywhere.
    """
    is_short = len(lines) <= _SHORT
    return any(
        effect.removed != effect.added and (is_short or not effect.added)
        for change in changes
        for effect in change.effects
    )


class _RemovedLines(NamedTuple):
    """Lines that were removed at once, without line ends, and an anchor among these lines.

    Attributes:
        lines: The removed lines.
        span: The anchor's lines, as indices of `lines`.
        anchor: The anchor.
        records: The change records of the anchor.
        is_torn: Whether the lines were not removed at once, and may come back one by one.
    """

    lines: tuple[str, ...]
    span: LineSpan
    anchor: Anchor
    records: tuple[ChangeRecord, ...]
    is_torn: bool = False

    @property
    def anchor_lines(self) -> tuple[str, ...]:
        """The removed lines of the anchor."""
        return self.lines[self.span.first : self.span.end]

    def is_missing(self, lines: Sequence[str]) -> bool:
        """Return whether the anchor has none of its removed lines back."""
        anchor, anchor_lines = self.anchor, self.anchor_lines
        if not anchor_lines:
            return anchor.span.is_lost
        is_open = self.is_torn or not anchor.current or anchor.merged is None
        return is_open and _without_ends(lines[anchor.first : anchor.end]) != anchor_lines

    def locate(
        self, put: Mapping[str, Sequence[int]], lines: Sequence[str]
    ) -> tuple[int | None, int]:
        """Return the first line of the anchor now (None if ambiguous), and how many lines match.

        Args:
            put: The places of each inserted line; for torn lines also the places with a new
                neighbour.
            lines: The current text.
        """
        found = {
            at: context
            for at in self._candidates(put)
            if (context := self._matching_context(lines, at))
        }
        most = max(map(len, found.values()), default=0)
        best = [at for at, matching in found.items() if len(matching) == most]
        if len(best) != 1:
            return None, 0
        return best[0], most if is_distinctive(found[best[0]]) else 0

    def _candidates(self, put: Mapping[str, Sequence[int]]) -> set[int]:
        """Return the possible first lines of the anchor.

        A line at its edge was inserted there; of torn lines, any line of the anchor.
        """
        first, end, _ = self.span
        edges = {first, max(end - 1, first)}
        inside = range(first + 1, end - 1) if self.is_torn else ()
        known = [*edges, *(of for of in inside if len(put.get(self.lines[of], ())) <= _ALIKE)]
        return {at - of + first for of in known for at in put.get(self.lines[of], ())}

    def _matching_context(self, lines: Sequence[str], at: int) -> tuple[str, ...] | None:
        """Return the matching lines at and around `at`; None if the anchor's lines do not match."""
        first, end, _ = self.span
        stop = at + end - first
        if at < 0 or stop > len(lines):
            return None
        # In long repetitive texts, the first and the last line exclude most places.
        ends = ((at, first), (stop - 1, end - 1)) if at < stop else ()
        if any(without_end(lines[now]) != self.lines[was] for now, was in ends):
            return None
        if _without_ends(lines[at:stop]) != self.anchor_lines:
            return None
        above = _common_prefix(self.lines[:first][::-1], lines[max(at - first, 0) : at][::-1])
        below = _common_prefix(self.lines[end:], lines[stop : stop + len(self.lines) - end])
        if first == end and not (above and below):
            return None
        return (*above[::-1], *self.anchor_lines, *below)


class MovedLineTracker:
    """The lines removed from one document; owned and changed by its `TrackedDocument` only."""

    def __init__(self) -> None:
        """Create a tracker without lines."""
        self._removed: dict[str, _RemovedLines] = {}
        self._replaced: list[ReplacedLines] = []
        self._fresh: set[str] = set()

    def record_removed(
        self, blocks: Sequence[ReplacedLines], live: Sequence[Anchor], settled: Sequence[Anchor]
    ) -> None:
        """Record the anchors that lose all their lines.

        Args:
            blocks: The replaced lines of the next step.
            live: The live anchors before the step, in order of place.
            settled: The anchors of decided hunks, in any order.
        """
        if not blocks:
            return
        is_move = len(blocks) > 1 or len(blocks[0].removed) > len(blocks[0].added)
        for anchors in (live, sorted(settled, key=_FIRST) if is_move else ()):
            for block in blocks:
                within = tuple(_anchors_removed_by(anchors, block))
                removed = _without_ends(block.removed) if within else ()
                for anchor in within:
                    if isinstance(anchor, BlockAnchor):
                        continue  # a block is found by its hunk's id
                    span = anchor.span.shifted(-block.first_before)
                    top = max(span.first - _ROUND, 0)
                    lines, place = removed[top : span.end + _ROUND], span.shifted(-top)
                    _ = self._removed.pop(anchor.hunk, None)
                    cut = _RemovedLines(lines, place, anchor, anchor.undo_records)
                    self._removed[anchor.hunk] = cut
                    self._fresh.add(anchor.hunk)
        n_lines = sum(len(cut.lines) for cut in self._removed.values())
        while len(self._removed) > MAX_REMOVED or n_lines > MAX_REMOVED_LINES:
            oldest = next(iter(self._removed))
            n_lines -= len(self._removed.pop(oldest).lines)

    def find_moved(
        self, blocks: Sequence[ReplacedLines], lines: Sequence[str], live: Iterable[Anchor]
    ) -> Iterator[tuple[Anchor, LineSpan, tuple[ChangeRecord, ...]]]:
        """Yield each anchor whose lines a step has inserted again, its new span and its records.

        Args:
            blocks: The replaced lines of the step.
            lines: The text after the step.
            live: The live anchors.
        """
        if not blocks:
            return
        self._replaced = [*(_shift_block(one, blocks) for one in self._replaced), *blocks]
        self._removed = {hunk: one for hunk, one in self._removed.items() if one.is_missing(lines)}
        parted = [one for one in live if _lacks_lines(one)]
        if not (parted or self._removed):
            return
        put = _inserted_places(self._replaced)
        beside = _joined_places(self._replaced, put, lines) if parted else put
        wholes = {_without_ends(one.added) for one in self._replaced if not one.removed}
        removed = self._removed.values() if put else ()
        torn = [_base_as_removed(one) for one in parted if _is_torn(one, beside)]
        for cut in (*removed, *torn):
            if not cut.is_missing(lines):
                continue
            at, n_matching = cut.locate(beside if cut.is_torn else put, lines)
            is_moved = cut.anchor.hunk in self._fresh and is_distinctive(cut.anchor_lines)
            if at is None or not (is_moved or n_matching > 1 or cut.lines in wholes):
                continue
            span = cut.span.shifted(at - cut.span.first)
            if not cut.is_torn or _may_move_to(cut.anchor, span):
                yield cut.anchor, span, cut.records

    def reset_message(self) -> None:
        """Forget the replaced lines of a message, which do not matter for the next message."""
        self._replaced.clear()
        self._fresh.clear()

    def forget(self, hunk: str) -> None:
        """Forget the removed lines of `hunk`, which have been found."""
        _ = self._removed.pop(hunk, None)


def _anchors_removed_by(anchors: Sequence[Anchor], block: ReplacedLines) -> Iterator[Anchor]:
    """Yield the anchors that lose all their lines to a block, in order of place."""
    stop = block.first_before + len(block.removed)
    for anchor in islice(anchors, bisect_left(anchors, block.first_before, key=_FIRST), None):
        if anchor.first >= stop:
            return
        # A gap at the edge keeps one of its neighbours.
        if anchor.end <= stop and not (anchor.first == anchor.end == block.first_before):
            yield anchor


def _lacks_lines(anchor: Anchor) -> bool:
    """Return whether an anchor is in conflict, or the user has removed or moved lines of its base.

    A removed line is not in conflict with a change of its line end only.
    """
    n_base = len(anchor._base)  # noqa: SLF001 - read in a loop
    return anchor.merged is None or anchor.end - anchor.first < n_base


def _may_move_to(anchor: Anchor, span: LineSpan) -> bool:
    """Return whether an anchor that lacks lines may move to its whole base in the text.

    Its present lines stay its own, unless they are in conflict.
    """
    return anchor.merged is None or (span.first <= anchor.first and anchor.end <= span.end)


def _is_torn(anchor: Anchor, beside: Mapping[str, Sequence[int]]) -> bool:
    """Return whether a step may have completed the base of an anchor that lacks lines."""
    if isinstance(anchor, BlockAnchor):
        return False  # the block is found by the id of its hunk
    return not anchor.base_words.isdisjoint(beside)


def _base_as_removed(anchor: Anchor) -> _RemovedLines:
    """Return an anchor that lacks lines as if its whole base had been removed.

    Its lines may come back one by one.
    """
    lines = _without_ends(whole_lines(anchor.base))
    span = LineSpan(0, len(lines), is_lost=False)
    return _RemovedLines(lines, span, anchor, anchor.undo_records, is_torn=True)


def _shift_block(put: ReplacedLines, blocks: Sequence[ReplacedLines]) -> ReplacedLines:
    """Return replaced lines with their place after a later step."""
    shift = sum(
        len(block.added) - len(block.removed)
        for block in blocks
        if block.first_before < put.first_after
    )
    return put._replace(first_after=put.first_after + shift)


def _inserted_places(replaced: Sequence[ReplacedLines]) -> dict[str, list[int]]:
    """Return the lines at which each text was inserted."""
    put: dict[str, list[int]] = defaultdict(list)
    for block in replaced:
        for nth, line in enumerate(_without_ends(block.added), block.first_after):
            put[line].append(nth)
    return put


def _joined_places(
    replaced: Sequence[ReplacedLines], put: Mapping[str, Sequence[int]], lines: Sequence[str]
) -> dict[str, list[int]]:
    """Return the lines at which each text was inserted or has a new neighbour.

    Args:
        replaced: The replacements of whole lines.
        put: The lines at which each text was inserted.
        lines: The text after the replacements.
    """
    beside = defaultdict(list, {line: [*places] for line, places in put.items()})
    for block in replaced:
        for at in (block.first_after - 1, block.first_after + len(block.added)):
            if 0 <= at < len(lines):
                beside[without_end(lines[at])].append(at)
    return beside


def _without_ends(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without line ends: a last line gets a line end when it moves up."""
    return tuple(map(without_end, lines))


def _common_prefix(known: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the common lines at the start of both sequences."""
    pairs = zip(known, _without_ends(lines), strict=False)
    return tuple(line for line, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def relocate(anchor: Anchor, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the place of the whole base of an anchor, with any line ends.

    Return None for an insertion, and if the base is not distinctive or not found exactly once.
    """
    return None if anchor.is_insertion else find_lines(anchor.base, lines)


def find_lines(text: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the place of the lines of a text, with any line ends.

    Return None if the text is not distinctive or not found exactly once.
    """
    wanted = with_one_end(whole_lines(text))
    if not is_distinctive(wanted):
        return None
    places = find_line_runs(with_one_end(lines), wanted)
    return (places[0], places[0] + len(wanted)) if len(places) == 1 else None
