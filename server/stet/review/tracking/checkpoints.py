"""Texts that a document had before it was rewritten in several places at once or lines were cut out, and
where hunks stood then.

An editor that tells whole texts, a file that is opened again: only the difference of two texts tells
what has happened, and it need not be the inverse of the one that led away. A line moved up and down
again may be told as another line moved. So the text itself tells: where it is the same, all is where it
was.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

from stet.review.tracking.anchor import Anchor
from stet.review.tracking.line_span import ChangeRecord, LineSpan
from stet.review.tracking.many_places import Placement, placement_of
from stet.review.tracking.replay import lines_before
from stet.text.change import TextChange

MAX_TEXTS = 32
"""How many texts of a document are known again."""
_SHORT = 1_000
"""Lines of a text that is noted whenever it gets more lines or fewer."""
_TYPED = 3
"""Lines, those before and those behind, that one change of somebody who types touches."""


class _AnchorState(NamedTuple):
    """An anchor as it stood in a text, and what it remembered of the changes before."""

    anchor: Anchor
    span: LineSpan
    records: tuple[ChangeRecord, ...]
    is_conflict: bool

    def is_better_than(self, now: Anchor) -> bool:
        """Whether an anchor belongs here, not where it is by now."""
        return self.span != now.span and (now.merged is None or not self.is_conflict)


class _Checkpoint(NamedTuple):
    """A text, and its anchors in order of place.

    The text is known by how many lines it has and by a hash of them, which has 64 bits and a key of this
    process: whole texts that share no line would take megabytes.
    """

    n_lines: int
    fingerprint: int
    anchors: Sequence[Anchor]
    states: Placement
    conflicts: frozenset[Anchor]

    def anchor_states(self) -> dict[Anchor, _AnchorState]:
        """Return the anchors with their states, in order of place."""
        return {
            anchor: _AnchorState(
                anchor, LineSpan(first, end, is_lost), records, anchor in self.conflicts
            )
            for anchor, (first, end, is_lost, records) in zip(
                self.anchors, self.states.rows(), strict=True
            )
        }


class RevisionCheckpoints:
    """The texts one document had; owned and changed by its `TrackedDocument` only."""

    def __init__(self) -> None:
        """None yet."""
        self._texts: list[_Checkpoint] = []

    def record(
        self, changes: Sequence[TextChange], lines: Sequence[str], anchors: Sequence[Anchor]
    ) -> None:
        """Note where anchors stand in the text that these changes lead away from.

        Args:
            changes: What has happened to it, in order.
            lines: The text behind them.
            anchors: Those that have not followed yet, in order of place.
        """
        splices = [change.splice for change in changes if change.splice is not None]
        if not (_is_rewrite(changes) or _moves_lines(changes, lines)) or len(splices) < len(
            changes
        ):
            return
        before = lines_before(splices, lines)
        conflicts = frozenset([anchor for anchor in anchors if anchor.merged is None])
        states = placement_of(anchors)
        text = _Checkpoint(len(before), _fingerprint(before), tuple(anchors), states, conflicts)
        known = next((one for one in self._texts if one[:2] == text[:2]), None)
        if known is not None:
            self._texts.remove(known)
            text = _merge_checkpoints(known, text)
        self._texts.append(text)
        del self._texts[:-MAX_TEXTS]

    def restore(
        self, changes: Sequence[TextChange], lines: Sequence[str], pending: list[Anchor]
    ) -> bool:
        """Put the live anchors that stood in this text before where they stood then; whether any moved.

        They stay where the changes have led them if another that has come since is in between.

        Args:
            changes: What has happened, in order.
            lines: The text behind them.
            pending: In order of place, as they are left too.
        """
        is_typed = all(e.removed == e.added == 1 for one in changes for e in one.effects)
        text = None if is_typed and not _is_rewrite(changes) else self._find(lines)
        if text is None:
            return False
        known = text.anchor_states()
        moving = {one for one in pending if one in known and known[one].is_better_than(one)}
        while moving:
            order, in_the_way = _order_restored(pending, known, moving)
            if not in_the_way:
                pending[:] = order
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
        as_long = [text for text in self._texts if text.n_lines == len(lines)]
        fingerprint = _fingerprint(lines) if as_long else 0
        return next((one for one in as_long if one.fingerprint == fingerprint), None)


def _fingerprint(lines: Sequence[str]) -> int:
    return hash(tuple(lines))


def _order_restored(
    pending: Sequence[Anchor], known: Mapping[Anchor, _AnchorState], moving: Set[Anchor]
) -> tuple[list[Anchor], set[Anchor]]:
    """Return the live anchors in order of place once `moving` are back in their places. Also return
    the anchors that would then share lines with others.
    """
    # At one point those that stood there then come first, in the order they had.
    ranks = {one: nth for nth, one in enumerate(dict.fromkeys((*known, *pending)))}
    stands = {one: known[one].span if one in moving else one.span for one in pending}
    order = sorted(pending, key=lambda one: (*stands[one][:2], ranks[one]))
    in_the_way = {
        anchor
        for pair in pairwise(order)
        if stands[pair[0]].end > stands[pair[1]].first and not moving.isdisjoint(pair)
        for anchor in pair
    }
    return order, in_the_way


def _merge_checkpoints(before: _Checkpoint, now: _Checkpoint) -> _Checkpoint:
    """Where anchors stand in a text that was known already: where they stood first, unless in conflict.

    What reads alike may have led them astray since.
    """
    states = dict(zip(now.anchors, now.states.rows(), strict=True))
    earlier = {
        anchor: was
        for anchor, was in zip(before.anchors, before.states.rows(), strict=True)
        if anchor in states and (anchor in now.conflicts or anchor not in before.conflicts)
    }
    both = earlier | {anchor: at for anchor, at in states.items() if anchor not in earlier}
    conflicts = now.conflicts & before.conflicts | (now.conflicts - earlier.keys())
    merged = Placement(*zip(*both.values(), strict=True)) if both else now.states
    return now._replace(anchors=tuple(both), states=merged, conflicts=conflicts)


def _is_rewrite(changes: Sequence[TextChange]) -> bool:
    """Whether more may have happened than what is typed: another text is looked at as a whole."""
    return len(changes) > 1 or any(
        len(change.effects) > 1
        or (change.splice and len(change.splice.before) + len(change.splice.after) > _TYPED)
        for change in changes
    )


def _moves_lines(changes: Sequence[TextChange], lines: Sequence[str]) -> bool:
    """Whether lines were taken out, which may be pasted elsewhere; in a short text also if lines came:
    what reads alike may come and go anywhere.
    """
    is_short = len(lines) <= _SHORT
    return any(
        effect.removed != effect.added and (is_short or not effect.added)
        for change in changes
        for effect in change.effects
    )
