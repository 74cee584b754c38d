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

from stet.review.anchoring.along import lines_before
from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.many_places import Placement, placement_of
from stet.review.anchoring.standing import Fold, Standing
from stet.text.change import TextChange

MAX_TEXTS = 32
"""How many texts of a document are known again."""
_SHORT = 1_000
"""Lines of a text that is noted whenever it gets more lines or fewer."""
_TYPED = 3
"""Lines, those before and those behind, that one change of somebody who types touches."""


class _Stood(NamedTuple):
    """An anchor as it stood in a text, and what it remembered of the changes before."""

    anchor: Anchor
    standing: Standing
    folds: tuple[Fold, ...]
    is_conflict: bool

    def is_better_than(self, now: Anchor) -> bool:
        """Whether an anchor belongs here, not where it is by now."""
        return self.standing != now.standing and (now.merged is None or not self.is_conflict)


class _Text(NamedTuple):
    """A text, and its anchors in order of place.

    The text is known by how many lines it has and by a hash of them, which has 64 bits and a key of this
    process: whole texts that share no line would take megabytes.
    """

    n_lines: int
    fingerprint: int
    anchors: Sequence[Anchor]
    stood: Placement
    conflicts: frozenset[Anchor]

    def known(self) -> dict[Anchor, _Stood]:
        """The anchors, in order of place."""
        return {
            anchor: _Stood(anchor, Standing(first, end, is_lost), folds, anchor in self.conflicts)
            for anchor, (first, end, is_lost, folds) in zip(
                self.anchors, self.stood.rows(), strict=True
            )
        }


class Returns:
    """The texts one document had; owned and changed by its `Track` only."""

    def __init__(self) -> None:
        """None yet."""
        self._texts: list[_Text] = []

    def leave(
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
        conflicts = frozenset([one for one in anchors if one.merged is None])
        stood = placement_of(anchors)
        text = _Text(len(before), _fingerprint(before), tuple(anchors), stood, conflicts)
        known = next((one for one in self._texts if one[:2] == text[:2]), None)
        if known is not None:
            self._texts.remove(known)
            text = _with_those_before(known, text)
        self._texts.append(text)
        del self._texts[:-MAX_TEXTS]

    def come_back(
        self, changes: Sequence[TextChange], lines: Sequence[str], live: list[Anchor]
    ) -> bool:
        """Put the live anchors that stood in this text before where they stood then; whether any moved.

        They stay where the changes have led them if another that has come since is in between.

        Args:
            changes: What has happened, in order.
            lines: The text behind them.
            live: In order of place, as they are left too.
        """
        is_typed = all(e.removed == e.added == 1 for one in changes for e in one.effects)
        text = None if is_typed and not _is_rewrite(changes) else self._find(lines)
        if text is None:
            return False
        known = text.known()
        moving = {one for one in live if one in known and known[one].is_better_than(one)}
        while moving:
            order, in_the_way = _put_back(live, known, moving)
            if not in_the_way:
                live[:] = order
                for one in order:
                    if one in moving:
                        one.put_back(known[one].standing, lines, known[one].folds)
                return True
            # One in conflict here has found its lines since, but they are another's too.
            if not (also := {one for one in in_the_way if one in known} - moving):
                return False
            moving |= also
        return False

    def _find(self, lines: Sequence[str]) -> _Text | None:
        """A text that it has had, if this is one."""
        as_long = [one for one in self._texts if one.n_lines == len(lines)]
        fingerprint = _fingerprint(lines) if as_long else 0
        return next((one for one in as_long if one.fingerprint == fingerprint), None)


def _fingerprint(lines: Sequence[str]) -> int:
    return hash(tuple(lines))


def _put_back(
    live: Sequence[Anchor], known: Mapping[Anchor, _Stood], moving: Set[Anchor]
) -> tuple[list[Anchor], set[Anchor]]:
    """The live anchors in order of place once `moving` are back where they stood, and which of them
    would have lines with others.
    """
    # At one point those that stood there then come first, in the order they had.
    ranks = {one: nth for nth, one in enumerate(dict.fromkeys((*known, *live)))}
    stands = {one: known[one].standing if one in moving else one.standing for one in live}
    order = sorted(live, key=lambda one: (*stands[one][:2], ranks[one]))
    in_the_way = {
        anchor
        for pair in pairwise(order)
        if stands[pair[0]].end > stands[pair[1]].first and not moving.isdisjoint(pair)
        for anchor in pair
    }
    return order, in_the_way


def _with_those_before(before: _Text, now: _Text) -> _Text:
    """Where anchors stand in a text that was known already: where they stood first, unless in conflict.

    What reads alike may have led them astray since.
    """
    stood = dict(zip(now.anchors, now.stood.rows(), strict=True))
    kept = {
        anchor: was
        for anchor, was in zip(before.anchors, before.stood.rows(), strict=True)
        if anchor in stood and (anchor in now.conflicts or anchor not in before.conflicts)
    }
    both = kept | {anchor: at for anchor, at in stood.items() if anchor not in kept}
    conflicts = now.conflicts & before.conflicts | (now.conflicts - kept.keys())
    merged = Placement(*zip(*both.values(), strict=True)) if both else now.stood
    return now._replace(anchors=tuple(both), stood=merged, conflicts=conflicts)


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
