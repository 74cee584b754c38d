"""Texts that a document had before it was rewritten in several places at once, and where hunks stood then.

An editor that tells whole texts, a file that is opened again: only the difference of two texts tells
what has happened, and it need not be the inverse of the one that led away. A line moved up and down
again may be told as another line moved. So the text itself tells: where it is the same, all is where it
was.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.standing import Fold, Standing
from stet.text.change import TextChange

MAX_TEXTS = 16
"""How many texts of a document are known again."""


_TYPED = 3
"""Lines, those before and those behind, that one change of somebody who types touches."""


class _Stood(NamedTuple):
    """An anchor as it stood in a text, and what it remembered of the changes before."""

    anchor: Anchor
    standing: Standing
    folds: tuple[Fold, ...]


class Returns:
    """The texts one document had; owned and changed by its `Track` only."""

    def __init__(self) -> None:
        self._texts: dict[bytes, tuple[_Stood, ...]] = {}

    def leave(
        self, changes: Sequence[TextChange], lines: Sequence[str], anchors: Iterable[Anchor]
    ) -> None:
        """Note where anchors stand in the text that these changes lead away from.

        Args:
            changes: What has happened to it, in order.
            lines: The text behind them.
            anchors: Those that have not followed yet.
        """
        splices = [change.splice for change in changes if change.splice is not None]
        if not _is_rewrite(changes) or len(splices) < len(changes):
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
        self, changes: Sequence[TextChange], lines: Sequence[str], live: Sequence[Anchor]
    ) -> bool:
        """Put the live anchors that stood in this text before where they stood then; whether any moved.

        They stay where the changes have led them if another that has come since is in between.
        """
        if not self._texts or not _is_rewrite(changes):
            return False
        known = {one.anchor: one for one in self._texts.get(_key(lines), ())}
        floor = 0
        for anchor in live:
            first, end, _ = known[anchor].standing if anchor in known else anchor.standing
            if first < floor:
                return False
            floor = end
        strayed = [
            known[anchor]
            for anchor in live
            if anchor in known and known[anchor].standing != anchor.standing
        ]
        for anchor, standing, folds in strayed:
            anchor.put_back(standing, lines, folds)
        return bool(strayed)


def _is_rewrite(changes: Sequence[TextChange]) -> bool:
    """Whether more may have happened than what is typed: another text is looked at as a whole."""
    return len(changes) > 1 or any(
        len(change.effects) > 1
        or (change.splice and len(change.splice.before) + len(change.splice.after) > _TYPED)
        for change in changes
    )


def _key(lines: Sequence[str]) -> bytes:
    return blake2b("".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).digest()
