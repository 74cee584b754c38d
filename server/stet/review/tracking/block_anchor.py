"""Where a hunk stands that is shown as a block in the text itself.

The block's own lines are its place, found again by the hunk's id. What the user writes between the
marks is an amendment; where they take the marks away, the decision is theirs and made
(`stet.review.inline_sync`); where only some are left, it is a conflict until they have finished.
"""

from collections.abc import Sequence
from dataclasses import replace

from stet.review.tracking.anchor import Anchor
from stet.text.block_codec import InlineBlock, find_blocks, has_leftovers
from stet.text.change import LineChange
from stet.text.stripped_document import imported_at

_NEAR = 100
"""How many lines round its place a block that is not whole may reach: marks that come back do so at
the edge, or a few lines on where their neighbours were taken away with them."""
_FAR = 50_000
"""How many lines round its place a block is looked for that was moved as a whole: more take too long."""


class BlockAnchor(Anchor):
    """The anchor of a live hunk that stands in the text as a block.

    As long as the block is whole, `current` is what it stands for and `merged` what it would become.

    Attributes:
        block: The id that an imported block has; "" for a block of Stet's own, which has the hunk's.
        is_alone: Whether no other block of the text has that id: only then is it looked for elsewhere.
        left: What stands in its place since the user took the block away; None while it is there.
        strayed: Whether the block was found in another place than where it was.
        conflict: The anchor that the hunk had, if it was in conflict when the block was put in.
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
        self._around = None  # even one that stands for nothing has lines of its own
        self.merged = after
        self.left: str | None = None
        self.conflict: Anchor | None = None
        self.strayed = False

    @property
    def is_done(self) -> bool:
        """Never: as long as the block is there, nothing is decided."""
        return False

    def apply_change(
        self,
        change: LineChange,
        floor: int = 0,
        *,
        is_others: bool = False,  # noqa: ARG002 - see below
    ) -> bool:
        """Move with a change; a block that is not whole is looked for after any change above it, and
        after one a few lines below: what comes back may be told of there, among marks that read alike.

        Args:
            change: In lines of the text before it.
            floor: In lines of the text behind it, where the anchor before this one ends.
            is_others: Makes no difference: a block is found again by its id.
        """
        first, removed, added = change
        after, delta = first + removed, added - removed
        self._is_due |= self.may_regain_line(first)
        if first > self.end:
            return self._is_due
        if self._is_inside_block(first, after):
            self._is_due = True
            self.first = max(min(self.first, first), floor)
            self.end = max(max(self.end, after) + delta, self.first)
        elif after <= self.first:
            self.first += delta
            self.end += delta
            return delta != 0 or self._is_due
        return self._is_due

    def may_regain_line(self, line: int) -> bool:
        """Whether lines put there may make it whole."""
        return self.merged is None and line <= self.end + _NEAR

    def _is_inside_block(self, first: int, after: int) -> bool:
        """Whether a change of these lines is one of the block's own."""
        if self._growing:
            return after >= self.first
        if first == after:
            return self.first < first < self.end
        return first < self.end and after > self.first

    def refresh(self, lines: Sequence[str]) -> bool:
        """See what has become of the block."""
        if not self._is_due or self._growing:
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

    def text_now(self, lines: Sequence[str]) -> str:  # noqa: ARG002 - a block is found again by its id
        """Return the text that the block replaces, as it was last read."""
        return self.current

    def _refresh_restored(self, lines: Sequence[str]) -> None:
        """See what has become of a block that was put there."""
        _ = self.refresh(lines)

    def _find(self, lines: Sequence[str], first: int, end: int) -> bool:
        """Find the block on some lines."""
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
        found = find_blocks(lines[first:end], (self.hunk,)).blocks
        if not found:
            return None
        return replace(found[0], first=found[0].first + first, end=found[0].end + first)
