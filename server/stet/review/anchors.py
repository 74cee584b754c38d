"""Keeping hunks in place while their document changes.

A hunk's anchor is followed through every change as a range (`stet.text.change.map_position`). Text
that a user writes exactly at an edge stays outside. Text written inside makes a conflict: never
guessed, and gone by itself when the old text stands there again. The idea is that of Zed's action
log (an agent's edit as a range that user edits shift); the code is not.
"""

from collections.abc import Callable
from dataclasses import dataclass

from stet.text.change import Bias, TextChange, map_position
from stet.text.document import TextDocument
from stet.text.lines import end_of, split_lines
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
        around: The lines before and behind an insertion when it was made, `""` at the text's ends:
            what an insertion is found again by.
        broken: Whether something else stands there now.
        growing: Whether text at the edges belongs to it: true while the editor applies the hunk.
    """

    hunk: str
    range: Range
    old: str
    around: tuple[str, str] = ("", "")
    broken: bool = False
    growing: bool = False

    @classmethod
    def at(cls, hunk: str, document: TextDocument, place: Range) -> "Anchor":
        """The anchor of a hunk that replaces `place` of `document` as it is now."""
        line = place.start.line
        before = document.lines[line - 1] if line else ""
        return cls(hunk, place, document.text_in(place), (before, document.lines[line]))

    def follow(self, change: TextChange, new_end: Position) -> bool:
        """Move with `change`, whose new end is given; tells whether it touched the inside."""
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
            map_position(start, change, biases[0], new_end),
            map_position(end, change, biases[1], new_end),
        )
        if not self.old and start.character == 0 and self.range.start.character:
            return True  # whole lines have no place in the middle of one
        return touched

    def check(self, read: ReadText) -> None:
        """Compare what stands at the anchor with what must; called after a touching change."""
        if self.old and read(self.range) == self.old:
            self.broken = False
            return
        if self.growing:
            return
        # Editors that send the smallest difference may cut a change of lines in the middle of two
        # lines that begin alike; then the hunk's own lines still stand there, whole.
        place = whole_lines(self.old, self.range, read) if self.old else self._gap_again(read)
        self.broken = place is None
        self.range = place or self.range

    def _gap_again(self, read: ReadText) -> Range | None:
        """Where the gap between the lines around it is, if it is there once."""
        start = Position(self.range.start.line, 0)
        text = read(Range(start, Position(self.range.end.line + 2, 0)))
        before, behind = self.around
        gaps = [at + len(before) for at in _line_starts(before + behind, text)]
        first = split_lines(text)[0]
        if not gaps and before != behind and first in self.around:
            # One of the two was deleted, the cut going through the other.
            gaps = [len(first) if first == before else 0]
        if len(gaps) != 1 or not first:
            return None
        gap = end_of(start, text[: gaps[0]])
        return Range(gap, gap) if gap.character == 0 else None


def whole_lines(wanted: str, place: Range, read: ReadText) -> Range | None:
    """Where `wanted` stands as whole lines within the lines of `place`, if it does so once."""
    start = Position(place.start.line, 0)
    end = Position(place.end.line + 1, 0) if place.end.character else place.end
    text = read(Range(start, max(end, end_of(start, wanted))))
    found = _line_starts(wanted, text)
    if len(found) != 1:
        return None
    first = end_of(start, text[: found[0]])
    return Range(first, end_of(first, wanted))


def _line_starts(wanted: str, text: str) -> list[int]:
    """The offsets in `text` at which `wanted` stands as whole lines."""
    found, at = [], text.find(wanted) if wanted else -1
    while at >= 0:
        behind = text[at + len(wanted) :][:1]
        if text[:at][-1:] in ("", "\n", "\r") and (
            wanted[-1] in "\r\n" or behind in ("", "\n", "\r")
        ):
            found.append(at)
        at = text.find(wanted, at + 1)
    return found


def follow_all(anchors: list[Anchor], changes: tuple[TextChange, ...], read: ReadText) -> bool:
    """Move every anchor through `changes`; tells whether one moved, broke or mended."""
    before = [(anchor.range, anchor.broken) for anchor in anchors]
    touched: dict[int, Anchor] = {}
    for change in changes:
        new_end = change.new_end
        for anchor in anchors:
            if anchor.follow(change, new_end):
                touched[id(anchor)] = anchor
    for anchor in touched.values():
        anchor.check(read)
    return before != [(anchor.range, anchor.broken) for anchor in anchors]
