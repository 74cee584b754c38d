"""What is selected in a document, and how that follows the user's typing. Code points, 0-based."""

from dataclasses import dataclass
from enum import Enum

from stet.text.change import Bias, TextChange, map_position
from stet.text.position import Position, Range


class ActivitySource(Enum):
    """How we came to know where the user is."""

    NOTIFIED = "notified"
    """The editor says so by itself whenever it changes (`$/stet/didFocus`, `didChangeSelection`)."""
    COMMAND = "command"
    """The user said so once: `stet.focus`, or the place given with `stet.ask`."""
    REQUEST = "request"
    """Inferred from where an ordinary request points: code action, highlight ..."""
    HOVER = "hover"
    """Inferred from a hover, which in some editors is where the mouse is, not the cursor."""
    EDIT = "edit"
    """Inferred from where the user typed."""
    OPENED = "opened"
    """Inferred from a document having been opened."""

    @property
    def is_explicit(self) -> bool:
        """Whether somebody said it, as opposed to our having inferred it."""
        return self in (ActivitySource.NOTIFIED, ActivitySource.COMMAND)


@dataclass(frozen=True, slots=True)
class Selection:
    """Where the user is in one document.

    Attributes:
        ranges: At least one, the main one first; an empty range is a bare cursor.
        cursor: Where the caret stands, at one end of the main range.
        source: How it is known.
        at: When it was reported, in seconds of the monotonic clock.
    """

    ranges: tuple[Range, ...]
    cursor: Position
    source: ActivitySource
    at: float

    @classmethod
    def at_cursor(cls, cursor: Position, source: ActivitySource, at: float) -> "Selection":
        """A bare cursor."""
        return cls((Range(cursor, cursor),), cursor, source, at)

    @property
    def caret(self) -> Position:
        """Return where the caret is: as the editor said, else at the end of the main range.

        Clamp it to the text.
        """
        is_said = self.source is ActivitySource.NOTIFIED or self.ranges[0].is_empty
        return self.cursor if is_said else self.ranges[0].caret

    @property
    def is_bare(self) -> bool:
        """Whether there is only a cursor and nothing is selected."""
        return len(self.ranges) == 1 and self.ranges[0].start == self.ranges[0].end

    def after(self, change: TextChange) -> "Selection":
        """The same places in the text after `change`.

        A range that was typed into is no longer selected: it becomes a cursor behind the new text.
        """
        # Typing at a bare cursor is by far the most frequent.
        if self.is_bare and change.range.end == self.cursor:
            return Selection.at_cursor(change.new_end, self.source, self.at)
        if not any(may_move(range_, change) for range_ in self.ranges):
            return self
        ranges = tuple(_range_after(range_, change) for range_ in self.ranges)
        cursor = map_position(self.cursor, change, Bias.RIGHT)
        if ranges[0].is_empty:
            cursor = ranges[0].start
        return Selection(ranges, cursor, self.source, self.at)


def may_move(range_: Range, change: TextChange) -> bool:
    """Whether `change` can have moved a place of `range_`; a quick look, for every keystroke."""
    start = change.range.start.line
    if start > range_.end.line:
        return False
    return not stays_in_line(change) or range_.start.line <= start


def stays_in_line(change: TextChange) -> bool:
    """Whether `change` moves no line."""
    text = change.text
    return change.range.start.line == change.range.end.line and not ("\n" in text or "\r" in text)


def inferred_range(range_: Range) -> Range:
    """What a request's range says of the selection.

    Some editors (Helix, Kakoune) always send at least the character under the cursor, so one
    character on one line is a cursor before it.
    """
    start, end = range_.start, range_.end
    if start.line == end.line and end.character - start.character <= 1:
        return Range(start, start)
    return range_


def _range_after(range_: Range, change: TextChange) -> Range:
    """`range_` in the text after `change`; empty where its text was typed over."""
    if range_.start == range_.end:
        place = map_position(range_.start, change, Bias.RIGHT)
        return Range(place, place)
    if change.range.start < range_.end and range_.start < change.range.end:
        return Range(change.new_end, change.new_end)
    start = map_position(range_.start, change, Bias.RIGHT)
    return Range(start, max(start, map_position(range_.end, change, Bias.LEFT)))
