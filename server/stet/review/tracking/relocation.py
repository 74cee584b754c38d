"""Places of hunks that the reported changes do not determine, but the text itself does.

- A text that the document had before (`RevisionCheckpoints`). An editor that sends whole texts, and
  a file that is opened again, give only the difference of two texts. This difference need not be
  the inverse of the earlier one: a line moved up and down again may be reported as another line
  moved. If the whole text is the same, each hunk is where it was.
- Lines that were removed with hunks on them and inserted elsewhere (`MovedLineTracker`): moved by a
  key, cut and pasted, sorted. A hunk moves with its lines if all of them were removed at once, and
  so does an insertion with the lines on both its sides. The other removed lines select one of
  several matching places.
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
"""A line that was put in more often than this tells where an anchor begins only at the anchor's edge."""
MAX_TEXTS = 32
"""How many texts of a document are known."""
_SHORT = 1_000
"""Lines of a text that is noted whenever it gets more lines or fewer."""
_TYPED = 3
"""Lines, before and after, that one change touches at most while somebody types."""
MAX_REMOVED = 1_000
"""How many anchors whose lines were removed are known in a document."""
MAX_REMOVED_LINES = 120_000
"""How many lines are known with them, counted for every anchor; the oldest are forgotten first."""
_ROUND = 50
"""How many of the removed lines are known on each side of an anchor's own."""
_FIRST = attrgetter("first")


class _AnchorState(NamedTuple):
    """An anchor's place in a text, with its records of the changes before."""

    span: LineSpan
    records: tuple[ChangeRecord, ...]
    is_conflict: bool

    def is_better_than(self, now: Anchor) -> bool:
        """Return whether an anchor belongs here, not where it is now."""
        return self.span != now.span and (now.merged is None or not self.is_conflict)


class _Checkpoint(NamedTuple):
    """The anchors in a text, in order of place.

    What is known of them is in a list for each value: a tuple for each anchor would take twice the time,
    and the garbage collector would visit them all.
    """

    anchors: Sequence[Anchor]
    firsts: Sequence[int]
    ends: Sequence[int]
    lost: Sequence[bool]
    records: Sequence[tuple[ChangeRecord, ...]]
    conflicts: frozenset[Anchor]

    def rows(self) -> Iterator[tuple[Anchor, int, int, bool, tuple[ChangeRecord, ...]]]:
        """Return each anchor with its first line, the line after its last one, whether it only tells
        where an insertion's place was lost, and the changes that it remembers.
        """
        return zip(self.anchors, self.firsts, self.ends, self.lost, self.records, strict=True)

    def anchor_states(self) -> dict[Anchor, _AnchorState]:
        """Return the anchors with their states, in order of place."""
        return {
            one: _AnchorState(LineSpan(first, end, is_lost), records, one in self.conflicts)
            for one, first, end, is_lost, records in self.rows()
        }


class RevisionCheckpoints:
    """The texts that one document had; owned and changed by its `TrackedDocument` only.

    A text is known by its number of lines and a hash of them (64 bits, with a key of this process): whole
    texts would take megabytes.
    """

    def __init__(self) -> None:
        """No text is known yet."""
        self._texts: dict[tuple[int, int], _Checkpoint] = {}

    def record(
        self, changes: Sequence[TextChange], lines: Sequence[str], anchors: Sequence[Anchor]
    ) -> None:
        """Note where anchors are in the text before these changes.

        Args:
            changes: The changes, in order.
            lines: The text after them.
            anchors: The anchors, not yet moved, in order of place.
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
        """Put live anchors back where they were in this text before. Return whether any moved.

        They stay where the changes have led them if a newer anchor is in between.

        Args:
            changes: The changes, in order.
            lines: The text after them.
            live: The live anchors in order of place; still in order afterwards.
        """
        is_typed = all(e.removed == e.added == 1 for one in changes for e in one.effects)
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
            # One in conflict here has found its lines since, but they are another's too.
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
    """Return the live anchors in order of place once `moving` are back in their places. Also return
    the anchors that would then share lines with others.
    """
    # At one point the anchors that were there before come first, in their order.
    ranks = {one: nth for nth, one in enumerate(dict.fromkeys((*known, *live)))}
    stands = {one: known[one].span if one in moving else one.span for one in live}
    order = sorted(live, key=lambda one: (*stands[one][:2], ranks[one]))
    in_the_way = {
        anchor
        for pair in pairwise(order)
        if stands[pair[0]].end > stands[pair[1]].first and not moving.isdisjoint(pair)
        for anchor in pair
    }
    return order, in_the_way


def _merge_checkpoints(before: _Checkpoint, now: _Checkpoint) -> _Checkpoint:
    """Return places of anchors in an already known text: the first places, unless in conflict.

    Lines that read alike may have misled the anchors since.
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
    """Return whether more may have changed than is typed at once."""
    return len(changes) > 1 or any(
        len(change.effects) > 1
        or (change.splice and len(change.splice.before) + len(change.splice.after) > _TYPED)
        for change in changes
    )


def _moves_lines(changes: Sequence[TextChange], lines: Sequence[str]) -> bool:
    """Return whether lines were removed, which may be pasted elsewhere; in a short text also if added.

    Lines that read alike may come and go anywhere.
    """
    is_short = len(lines) <= _SHORT
    return any(
        effect.removed != effect.added and (is_short or not effect.added)
        for change in changes
        for effect in change.effects
    )


class _RemovedLines(NamedTuple):
    """Lines that were removed at once, without line ends, and an anchor among them with its records.

    Attributes:
        lines: The removed lines.
        span: The lines among them that are the anchor's.
        anchor: The anchor.
        records: The changes that the anchor remembered.
        is_torn: Whether the lines were not removed at once, and may come together one by one.
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
        """Return whether the anchor has none of its removed lines back."""
        anchor, anchor_lines = self.anchor, self.anchor_lines
        if not anchor_lines:
            return anchor.span.is_lost
        is_open = not anchor.current or anchor.merged is None
        return is_open and _without_ends(lines[anchor.first : anchor.end]) != anchor_lines

    def locate(
        self, put: Mapping[str, Sequence[int]], lines: Sequence[str]
    ) -> tuple[int | None, int]:
        """Return where the anchor's lines begin now, None if in doubt; and how many lines match there.

        Args:
            put: Where each inserted line is; of torn lines also where each line has a new neighbour.
            lines: The text.
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
        """Return where the anchor's lines may begin: a line at their edge, or any line of torn lines,
        was inserted there.
        """
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
        stop = at + end - first
        if at < 0 or stop > len(lines):
            return None
        # In long repetitive lines, most places are determined by the first and the last line.
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
        """No lines were removed yet."""
        self._removed: dict[str, _RemovedLines] = {}
        self._replaced: list[ReplacedLines] = []
        self._fresh: set[str] = set()

    def record_removed(
        self, blocks: Sequence[ReplacedLines], live: Sequence[Anchor], settled: Sequence[Anchor]
    ) -> None:
        """Note the anchors that lose all their lines.

        Args:
            blocks: What the next step does.
            live: The live anchors in order of place, as they are before the step.
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
                        continue  # a block is found again by its hunk's id
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
        """Yield each anchor whose lines a step has put in elsewhere, its new span and its change
        records.

        Args:
            blocks: What the step did.
            lines: The text after it.
            live: The live anchors.
        """
        if not blocks:
            return
        self._replaced = [*(_shift_block(one, blocks) for one in self._replaced), *blocks]
        self._removed = {hunk: one for hunk, one in self._removed.items() if one.is_missing(lines)}
        conflicts = [one for one in live if one.merged is None]
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
                yield cut.anchor, cut.span.shifted(at - cut.span.first), cut.records

    def reset_message(self) -> None:
        """Reset the tracker after a message; its replaced lines do not count for the next message."""
        self._replaced.clear()
        self._fresh.clear()

    def forget(self, hunk: str) -> None:
        """Forget the removed lines of `hunk`, which belong to the hunk again."""
        _ = self._removed.pop(hunk, None)


def _anchors_removed_by(anchors: Sequence[Anchor], block: ReplacedLines) -> Iterator[Anchor]:
    """Yield the anchors, in order of place, all of whose lines a block removes."""
    stop = block.first_before + len(block.removed)
    for anchor in islice(anchors, bisect_left(anchors, block.first_before, key=_FIRST), None):
        if anchor.first >= stop:
            return
        # A gap at the edge has a neighbour that stays.
        if anchor.end <= stop and not (anchor.first == anchor.end == block.first_before):
            yield anchor


def _is_torn(anchor: Anchor, beside: Mapping[str, Sequence[int]]) -> bool:
    """Return whether the base of an anchor in conflict may have come together in a step."""
    if isinstance(anchor, BlockAnchor):
        return False  # the block is found again by the id of its hunk
    return not anchor.base_words.isdisjoint(beside)


def _conflict_as_removed(anchor: Anchor) -> _RemovedLines:
    """Return an anchor in conflict as if its whole base had been removed. Its lines may have been
    put together again one by one.
    """
    lines = _without_ends(whole_lines(anchor.base))
    span = LineSpan(0, len(lines), is_lost=False)
    return _RemovedLines(lines, span, anchor, anchor.undo_records, is_torn=True)


def _shift_block(put: ReplacedLines, blocks: Sequence[ReplacedLines]) -> ReplacedLines:
    """Return where inserted or removed lines are after another step that left them alone."""
    shift = sum(
        len(block.added) - len(block.removed)
        for block in blocks
        if block.first_before < put.first_after
    )
    return put._replace(first_after=put.first_after + shift)


def _inserted_places(replaced: Sequence[ReplacedLines]) -> dict[str, list[int]]:
    """Return where each line was inserted."""
    put: dict[str, list[int]] = defaultdict(list)
    for block in replaced:
        for nth, line in enumerate(_without_ends(block.added), block.first_after):
            put[line].append(nth)
    return put


def _joined_places(
    replaced: Sequence[ReplacedLines], put: Mapping[str, Sequence[int]], lines: Sequence[str]
) -> dict[str, list[int]]:
    """Return where each line was inserted or has a new neighbour.

    Args:
        replaced: The replacements of whole lines.
        put: The place where each line was inserted.
        lines: The text after the replacements.
    """
    beside = defaultdict(list, {line: [*places] for line, places in put.items()})
    for block in replaced:
        for at in (block.first_after - 1, block.first_after + len(block.added)):
            if 0 <= at < len(lines):
                beside[without_end(lines[at])].append(at)
    return beside


def _without_ends(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without line ends: a last line gets one when it moves up."""
    return tuple(map(without_end, lines))


def _common_prefix(known: Sequence[str], lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that both sequences begin with."""
    pairs = zip(known, _without_ends(lines), strict=False)
    return tuple(line for line, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def relocate(anchor: Anchor, lines: Sequence[str]) -> tuple[int, int] | None:
    """Return the lines that are the whole base of an anchor, with any line ends.

    Return None if the base has too few letters, is there more than once, or is a gap between lines.
    """
    wanted = with_one_end(whole_lines(anchor.base))
    if anchor.is_insertion or not is_distinctive(wanted):
        return None
    places = find_line_runs(with_one_end(lines), wanted)
    return (places[0], places[0] + len(wanted)) if len(places) == 1 else None
