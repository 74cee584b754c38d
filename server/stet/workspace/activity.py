"""The user's location: the active document, the cursor, the selection and the visible lines.

Editors differ in their reports. Some send all of them by notification, some only when the user
presses a key, most only by the positions in their ordinary requests. The rules:

- **The active document is a pointer**, moved by events, never read from a list. An explicit report
  always moves the pointer. An inference (a document was opened, typed in, asked about) moves it
  only while the editor has never sent a notification of its own: an editor that reports the user's
  location does not need inferences, and documents are opened and edited in the background too.
- **Closing** the active document moves the pointer to the most recently used other open one. An
  editor that reloads a file closes and opens it: that document becomes active again.
- **Explicit beats inferred, per document.** A notified selection is valid until the next one. A
  selection from a command is valid until the document is edited or another one becomes active,
  because after that the user has moved on without a report.
- **Everything follows the text.** Places are mapped through each change, so none is ever stale. A
  selection that is typed over is gone. Without notifications, a single change leaves the cursor
  after the changed text.

Positions are code points. Documents are compared by their canonical URI; results have the editor's
spelling.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from stet.text.edit import Bias, TextChange, map_position, map_range
from stet.text.position import Position, Range
from stet.workspace.uris import canonical, is_tracked


class ActivitySource(Enum):
    """The source of a report on the user's location."""

    NOTIFIED = "notified"
    """The editor reports every change (`$/stet/didFocus`, `didChangeSelection`)."""
    COMMAND = "command"
    """The user gave the place once: by `stet.focus`, or with `stet.ask`."""
    REQUEST = "request"
    """Inferred from the position in an ordinary request: code action, highlight ..."""
    HOVER = "hover"
    """Inferred from a hover, which in some editors is at the mouse, not at the cursor."""
    EDIT = "edit"
    """Inferred from the place of an edit."""
    OPENED = "opened"
    """Inferred from the opening of a document."""

    @property
    def is_explicit(self) -> bool:
        """Whether the location was reported, not inferred."""
        return self in (ActivitySource.NOTIFIED, ActivitySource.COMMAND)


@dataclass(frozen=True, slots=True)
class Selection:
    """The user's location in one document.

    Attributes:
        ranges: The selected ranges, at least one, the main one first; an empty range is a cursor.
        cursor: The caret, at one end of the main range.
        source: The source of the selection.
        at: The time of the report, in seconds of the monotonic clock.
    """

    ranges: tuple[Range, ...]
    cursor: Position
    source: ActivitySource
    at: float

    @classmethod
    def at_cursor(cls, cursor: Position, source: ActivitySource, at: float) -> "Selection":
        """Return a selection that is a bare cursor."""
        return cls((Range(cursor, cursor),), cursor, source, at)

    @property
    def caret(self) -> Position:
        """The position of the caret: the reported one, else at the end of the main range.

        The position is not clamped to the text.
        """
        has_caret = self.source is ActivitySource.NOTIFIED or self.ranges[0].is_empty
        return self.cursor if has_caret else self.ranges[0].caret

    @property
    def is_bare(self) -> bool:
        """Whether there is only a cursor and nothing is selected."""
        return len(self.ranges) == 1 and self.ranges[0].start == self.ranges[0].end

    def after(self, change: TextChange) -> "Selection":
        """Return the selection moved to the corresponding places of the text after `change`.

        A range that was typed into is no longer selected: it becomes a cursor after the new text.
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
    """Return whether `change` may have moved a place of `range_`, by a quick check for every
    keystroke.
    """
    start = change.range.start.line
    if start > range_.end.line:
        return False
    return not stays_in_line(change) or range_.start.line <= start


def stays_in_line(change: TextChange) -> bool:
    """Return whether `change` moves no line."""
    text = change.text
    return change.range.start.line == change.range.end.line and not ("\n" in text or "\r" in text)


def inferred_range(range_: Range) -> Range:
    """Return the selection that the range of a request implies.

    Some editors (Helix, Kakoune) always send at least the character under the cursor, so one
    character on one line is a cursor before it.
    """
    start, end = range_.start, range_.end
    if start.line == end.line and end.character - start.character <= 1:
        return Range(start, start)
    return range_


def _range_after(range_: Range, change: TextChange) -> Range:
    """Return `range_` in the text after `change`; empty if its text was replaced."""
    if range_.start == range_.end:
        place = map_position(range_.start, change, Bias.RIGHT)
        return Range(place, place)
    if change.range.start < range_.end and range_.start < change.range.end:
        return Range(change.new_end, change.new_end)
    return map_range(range_, (change,))


@dataclass(frozen=True, slots=True)
class ActivityView:
    """The user's location at one moment.

    Attributes:
        active: URI of the active document; None if no document is open or focused.
        recent: URIs of the open documents, the most recently used first.
        selections: The selections, by canonical URI.
        visible_ranges: The visible ranges, by canonical URI.
    """

    active: str | None = None
    recent: tuple[str, ...] = ()
    selections: Mapping[str, Selection] = field(default_factory=dict)
    visible_ranges: Mapping[str, Range] = field(default_factory=dict)

    def selection_of(self, uri: str) -> Selection | None:
        """Return the user's present or last selection in a document; None if never reported."""
        return self.selections.get(canonical(uri))

    def visible_of(self, uri: str) -> Range | None:
        """Return the visible range of a document, or None if the range was never reported."""
        return self.visible_ranges.get(canonical(uri))


class Activity:
    """The mutable location, owned by the `Workspace`, which reports every event on the event loop.

    Attributes:
        moved: A callback for when another document is active, opened or closed, or the selection
            changes; not for a move of a bare cursor. On the hot path.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """Start with no documents; `now` is a monotonic clock, in seconds."""
        self._now = now
        self.moved: Callable[[], None] = lambda: None
        self._active: str | None = None
        self._spelling: dict[str, str] = {}  # of every known document, the least recent first
        self._open: set[str] = set()
        self._selections: dict[str, Selection] = {}
        self._positions: set[str] = set()  # documents whose explicit selection inferences respect
        self._visible: dict[str, Range] = {}
        self._is_reported = False  # the editor sends notifications of its own
        self._is_unfocused = False  # the editor reported that nothing is focused
        self._closed_active: str | None = None

    @property
    def active(self) -> str | None:
        """URI of the active document, in the editor's spelling."""
        return None if self._active is None else self._spelling[self._active]

    def focus(self, uri: str | None, source: ActivitySource = ActivitySource.NOTIFIED) -> None:
        """Set the document that the user is in; None if the user is in no document.

        A document need not be open: editors may focus before they open, or never open what they
        have no language for.
        """
        self._is_reported = self._is_reported or source is ActivitySource.NOTIFIED
        if uri is None:
            self._point_at(None)
            self._is_unfocused = True
        elif is_tracked(uri):
            self._note(uri, source)

    def select(
        self,
        uri: str,
        selections: Sequence[Range],
        source: ActivitySource,
        cursor: Position | None = None,
    ) -> None:
        """Record the selected ranges, the main range first. `cursor` is the moving end of the main
        range.
        """
        if not is_tracked(uri) or not selections:
            return
        self._is_reported = self._is_reported or source is ActivitySource.NOTIFIED
        key = self._note(uri, source)
        at = selections[0].end if cursor is None else cursor
        self._select(key, Selection(tuple(selections), at, source, self._now()))
        seen = self._visible.get(key)
        is_seen = seen is None or seen.start.line <= at.line <= seen.end.line
        if source is ActivitySource.NOTIFIED and not is_seen:
            # Editors scroll to the caret: a visible range without the caret is outdated.
            del self._visible[key]
        if source.is_explicit:
            self._positions.add(key)

    def touched(
        self, uri: str, range_: Range | None, source: ActivitySource = ActivitySource.REQUEST
    ) -> None:
        """Record the range of a request as the user's likely place. None means somewhere in the
        document.
        """
        if not is_tracked(uri) or canonical(uri) not in self._open:
            return
        key = self._note(uri, source)
        known = self._selections.get(key)
        if range_ is None or key in self._positions:
            return
        if source is ActivitySource.HOVER and known is not None and known.source is not source:
            return
        selected = inferred_range(range_)
        self._select(key, Selection((selected,), selected.end, source, self._now()))

    def visible(self, uri: str, range_: Range) -> None:
        """Record the visible range of a document."""
        if is_tracked(uri):
            self._spelling.setdefault(canonical(uri), uri)
            self._visible[canonical(uri)] = range_

    def opened(self, uri: str) -> None:
        """Handle a document that was opened, or opened again with different text."""
        key = canonical(uri)
        self._open.add(key)
        is_new = key not in self._spelling
        self._spelling[key] = uri
        if key == self._closed_active or (self._active is None and not self._is_unfocused):
            self._point_at(key)
        elif is_new:
            self._note(uri, ActivitySource.OPENED)
        self.moved()

    def edited(self, uri: str, changes: Sequence[TextChange]) -> None:
        """Handle `changes` to a document, in order."""
        key = canonical(uri)
        if key != self._active:
            self._note(uri, ActivitySource.EDIT)
        known = self._selections.get(key)
        if known is None or known.source is not ActivitySource.NOTIFIED:
            self._positions.discard(key)
            if len(changes) == 1:
                known = Selection.at_cursor(changes[0].new_end, ActivitySource.EDIT, self._now())
                self._select(key, known)
        else:
            for change in changes:
                known = known.after(change)
            self._select(key, known)
        if key in self._visible:
            self._visible[key] = _follow(self._visible[key], changes)

    def closed(self, uri: str) -> None:
        """Handle a document that was closed: discard everything recorded about the document."""
        key = canonical(uri)
        self._open.discard(key)
        was_active = key == self._active
        self._forget(key)
        if was_active:
            self._active = next(
                (other for other in reversed(self._spelling) if other in self._open), None
            )
            self._closed_active = key
        self.moved()

    def view(self) -> ActivityView:
        """Return the user's present location."""
        recent = tuple(uri for key, uri in reversed(self._spelling.items()) if key in self._open)
        selections = MappingProxyType(dict(self._selections))
        return ActivityView(self.active, recent, selections, MappingProxyType(dict(self._visible)))

    def _note(self, uri: str, source: ActivitySource) -> str:
        """Record an event in a document, and move the pointer if the rules require this."""
        key = canonical(uri)
        if key not in self._open:
            self._spelling[key] = uri
        if source.is_explicit or self._may_move(source):
            self._point_at(key)
        elif source is ActivitySource.OPENED:
            # In the background: known, but as the least recently used.
            self._spelling = {key: uri} | self._spelling
        return key

    def _select(self, key: str, selection: Selection) -> None:
        """Store the selection in a known document."""
        before = self._selections.get(key)
        self._selections[key] = selection
        if not (selection.is_bare and (before is None or before.is_bare)):
            self.moved()

    def _may_move(self, source: ActivitySource) -> bool:
        """Return whether an inferred event moves the pointer."""
        return not self._is_reported and source is not ActivitySource.HOVER

    def _point_at(self, key: str | None) -> None:
        """Make a known document the active one."""
        self._is_unfocused = False
        self._closed_active = None
        previous, self._active = self._active, key
        if previous is not None and previous != key:
            known = self._selections.get(previous)
            if known is not None and known.source is ActivitySource.COMMAND:
                self._positions.discard(previous)
            if previous not in self._open:
                self._forget(previous)  # no report follows when it is closed
        if key is not None:
            self._spelling[key] = self._spelling.pop(key)
        if key != previous:
            self.moved()

    def _forget(self, key: str) -> None:
        self._spelling.pop(key, None)
        self._selections.pop(key, None)
        self._visible.pop(key, None)
        self._positions.discard(key)
        if self._active == key:
            self._active = None


def _follow(range_: Range, changes: Sequence[TextChange]) -> Range:
    """Return a visible range after `changes`. Only the lines of the range matter."""
    for change in changes:
        if not stays_in_line(change):
            start = map_position(range_.start, change)
            range_ = Range(start, max(start, map_position(range_.end, change, Bias.RIGHT)))
    return range_
