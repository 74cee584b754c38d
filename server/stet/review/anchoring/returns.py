"""Texts that a document had before it was rewritten in several places at once or lines were cut out, and
where hunks stood then.

An editor that tells whole texts, a file that is opened again: only the difference of two texts tells
what has happened, and it need not be the inverse of the one that led away. A line moved up and down
again may be told as another line moved. So the text itself tells: where it is the same, all is where it
was.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.standing import Fold, Standing
from stet.text.change import TextChange

MAX_TEXTS = 16
"""How many texts of a document are known again."""


_LAST = (1 << 30,)
_TYPED = 3
"""Lines, those before and those behind, that one change of somebody who types touches."""


_Key = tuple[int, bytes]
"""How many lines a text has, and its hash."""


class _Stood(NamedTuple):
    """An anchor as it stood in a text, and what it remembered of the changes before."""

    anchor: Anchor
    standing: Standing
    folds: tuple[Fold, ...]


class Returns:
    """The texts one document had; owned and changed by its `Track` only."""

    def __init__(self) -> None:
        self._texts: dict[_Key, tuple[_Stood, ...]] = {}

    def leave(
        self,
        changes: Sequence[TextChange],
        lines: Sequence[str],
        anchors: Iterable[Anchor],
    ) -> None:
        """Note where anchors stand in the text that these changes lead away from.

        Args:
            changes: What has happened to it, in order.
            lines: The text behind them.
            anchors: Those that have not followed yet.
        """
        splices = [change.splice for change in changes if change.splice is not None]
        if not (_is_rewrite(changes) or _is_cut(changes)) or len(splices) < len(changes):
            return
        before = list(lines)
        for splice in reversed(splices):
            before[splice.first : splice.first + len(splice.after)] = splice.before
        key = _key(before)
        _ = self._texts.pop(key, None)
        self._texts[key] = tuple(_Stood(one, one.standing, one.folds) for one in anchors)
        while len(self._texts) > MAX_TEXTS:
            del self._texts[next(iter(self._texts))]

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
        if not self._may_be_known(changes, lines):
            return False
        stood = self._texts.get(_key(lines), ())
        known = {one.anchor: (nth, one) for nth, one in enumerate(stood)}
        # What is typed is followed exactly, whatever the text was before.
        is_rewrite = _is_rewrite(changes)
        strayed = [
            known[one][1]
            for one in live
            if one in known
            and known[one][1].standing != one.standing
            and (is_rewrite or one.merged is None)
        ]
        if not strayed:
            return False
        # At one point those that stood there then come first, in the order they had.
        places = {one: (*one.standing[:2], known.get(one, _LAST)[0]) for one in live} | {
            one.anchor: (*one.standing[:2], known[one.anchor][0]) for one in strayed
        }
        order = sorted(live, key=places.__getitem__)
        if any(places[one][1] > places[other][0] for one, other in pairwise(order)):
            return False
        live[:] = order
        for anchor, standing, folds in strayed:
            anchor.put_back(standing, lines, folds)
        return True

    def _may_be_known(self, changes: Sequence[TextChange], lines: Sequence[str]) -> bool:
        """Whether it is worth reading all of a text: not while somebody types in a line."""
        is_typed = all(e.removed == e.added == 1 for one in changes for e in one.effects)
        if is_typed and not _is_rewrite(changes):
            return False
        return any(n_lines == len(lines) for n_lines, _ in self._texts)


def _is_rewrite(changes: Sequence[TextChange]) -> bool:
    """Whether more may have happened than what is typed: another text is looked at as a whole."""
    return len(changes) > 1 or any(
        len(change.effects) > 1
        or (change.splice and len(change.splice.before) + len(change.splice.after) > _TYPED)
        for change in changes
    )


def _is_cut(changes: Sequence[TextChange]) -> bool:
    """Whether whole lines were taken out, which may be pasted elsewhere."""
    return any(e.removed and not e.added for change in changes for e in change.effects)


def _key(lines: Sequence[str]) -> _Key:
    text = "".join(lines).encode("utf-8", "surrogatepass")
    return len(lines), blake2b(text, digest_size=16).digest()
