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
        cursor: None where nobody said where it is.
        selected: What is selected, in the order of the text; empty for none.
    """

    document: TextDocument
    name: str
    cursor: Position | None
    selected: tuple[Range, ...]


def find_current(snapshot: Snapshot, place: Place) -> Current | None:
    """The document at `place`, or the active one; None if there is none or it may not be shown."""
    uri = snapshot.activity.active if place.uri is None else place.uri
    if uri is None:
        return None
    try:
        document = snapshot.show(uri)
    except NotShown:
        return None  # the filter's decision: nothing of it is sent, not even its name
    cursor, ranges = _where(snapshot, uri, place.range)
    real = snapshot.document(uri)
    if real is not None:
        ranges = tuple(snapshot.shown_range(real, range_) for range_ in ranges)
        cursor = cursor and snapshot.shown_range(real, Range(cursor, cursor)).start
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
    )


def _where(
    snapshot: Snapshot, uri: str, asked: Range | None
) -> tuple[Position | None, tuple[Range, ...]]:
    """Cursor and selections: those asked about, else those the editor last told or let infer."""
    if asked is not None:
        return asked.start, (asked,)
    selection = snapshot.activity.selection_of(uri)
    return (None, ()) if selection is None else (selection.cursor, selection.ranges)
