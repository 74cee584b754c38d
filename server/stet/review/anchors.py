"""Keeping hunks in place while their document changes.

A hunk's anchor is followed through every change as a range (`stet.text.change.map_position`). Text
that a user writes exactly at an edge stays outside. Text written inside makes a conflict: never
guessed, and gone by itself when the old text stands there again. The idea is that of Zed's action
log (an agent's edit as a range that user edits shift); the code is not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stet.text.change import Bias, TextChange, map_position
from stet.text.lines import end_of
from stet.text.position import Position, Range

ReadText = Callable[[Range], str]
"""The current text of a range; ranges beyond the text are clamped."""


@dataclass(slots=True)
class Anchor:
    """Where one live hunk stands; owned and changed by the ledger only.

    Attributes:
        hunk: The hunk's id.
        range: The place in the current text.
        old: What must stand there for the hunk to apply.
        broken: Whether something else stands there now.
        growing: Whether text at the edges belongs to it: true while the editor applies the hunk.
    """

    hunk: str
    range: Range
    old: str
    broken: bool = False
    growing: bool = False

    def follow(self, change: TextChange) -> bool:
        """Move with `change`; tells whether the change touched the inside."""
        start, end = self.range.start, self.range.end
        if change.range.start > end:
            return False
        if self.growing or self.broken:
            touched = change.range.end >= start
            biases = (Bias.LEFT, Bias.RIGHT)
        elif self.old:
            touched = change.range.start < end and change.range.end > start
            biases = (Bias.RIGHT, Bias.LEFT)
        else:
            touched = change.range.start < start < change.range.end
            biases = (Bias.LEFT, Bias.LEFT)
        self.range = Range(
            map_position(start, change, biases[0]), map_position(end, change, biases[1])
        )
        return touched

    def check(self, read: ReadText) -> None:
        """Compare what stands at the anchor with what must; called after a touching change."""
        if read(self.range) == self.old:
            # An insertion point has no text of its own to compare: what was round it is gone.
            self.broken = self.broken if self.old == "" else False
            return
        if self.growing:
            return
        snapped = self._whole_lines()
        if self.old and read(snapped) == self.old:
            # Editors that send the smallest difference may cut a line change in the middle of two
            # lines that begin alike; the hunk's own lines are still there, whole.
            self.range, self.broken = snapped, False
        else:
            self.broken = True

    def _whole_lines(self) -> Range:
        start = Position(self.range.start.line, 0)
        return Range(start, end_of(start, self.old))


def follow_all(anchors: list[Anchor], changes: tuple[TextChange, ...], read: ReadText) -> bool:
    """Move every anchor through `changes`; tells whether one moved, broke or mended."""
    before = [(anchor.range, anchor.broken) for anchor in anchors]
    touched: dict[int, Anchor] = {}
    for change in changes:
        for anchor in anchors:
            if anchor.follow(change):
                touched[id(anchor)] = anchor
    for anchor in touched.values():
        if not anchor.old and not anchor.growing:
            anchor.broken = True
        anchor.check(read)
    return before != [(anchor.range, anchor.broken) for anchor in anchors]
