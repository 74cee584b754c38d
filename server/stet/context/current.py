"""The document a question is about, and where in it the user is."""

from dataclasses import dataclass

from stet.context.values import Place
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.snapshot import NotShown, Snapshot


@dataclass(frozen=True, slots=True)
class Current:
    """The document a question is about.

    Attributes:
        document: As it was when asked.
        name: What the model calls it.
        cursor: Where the caret is: with a selection, its active end; None where nobody said that.
        selected: What is selected, in the order of the text; empty for none.
        visible: What the user sees of it; None where nobody said that.
    """

    document: TextDocument
    name: str
    cursor: Position | None
    selected: tuple[Range, ...]
    visible: Range | None = None


def find_current(snapshot: Snapshot, place: Place) -> Current | None:
    """The document at `place`, or the active one; None if there is none or it may not be shown."""
    uri = snapshot.activity.active if place.uri is None else place.uri
    if uri is None:
        return None
    try:
        document = snapshot.show(uri)
    except NotShown:
        return None  # the filter's decision: nothing of it is sent, not even its name
    cursor, ranges = _where(snapshot, uri, place)
    # A question that names a place is about that, whatever the user sees meanwhile.
    names_place = place.range is not None and not place.selections
    visible = None if names_place else snapshot.activity.visible_of(uri)
    real = snapshot.document(uri)
    if real is not None:
        ranges = tuple(snapshot.shown_range(real, range_) for range_ in ranges)
        cursor = cursor and snapshot.shown_range(real, Range(cursor, cursor)).start
        visible = visible and snapshot.shown_range(real, visible)
    selected = sorted(
        Range(start, end)
        for range_ in ranges
        if (start := document.clamp(range_.start)) < (end := document.clamp(range_.end))
    )
    return Current(
        document,
        snapshot.name_of(uri),
        None if cursor is None else document.clamp(cursor),
        tuple(selected),
        visible,
    )


def _where(snapshot: Snapshot, uri: str, asked: Place) -> tuple[Position | None, tuple[Range, ...]]:
    """Caret and selections: those asked about, else those the editor last told or let infer."""
    if asked.range is not None:
        return asked.caret or asked.range.caret, asked.selections or (asked.range,)
    selection = snapshot.activity.selection_of(uri)
    return (None, ()) if selection is None else (selection.caret, selection.ranges)
