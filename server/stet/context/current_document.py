"""The document a question is about, and where in it the user is."""

from dataclasses import dataclass

from stet.context.context_values import EditorLocation
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.snapshot import NotShown, Snapshot


@dataclass(frozen=True, slots=True)
class CurrentDocument:
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


def find_current_document(snapshot: Snapshot, location: EditorLocation) -> CurrentDocument | None:
    """Return the document at `location`, or the active document. Return None if there is no
    document or the document may not be shown.
    """
    uri = snapshot.activity.active if location.uri is None else location.uri
    if uri is None:
        return None
    try:
        document = snapshot.show(uri)
    except NotShown:
        return None  # the filter's decision: nothing of it is sent, not even its name
    cursor, ranges = _cursor_and_selections(snapshot, uri, location)
    # A question that names a place is about that, whatever the user sees meanwhile.
    names_place = location.range is not None and not location.selections
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
    return CurrentDocument(
        document,
        snapshot.name_of(uri),
        None if cursor is None else document.clamp(cursor),
        tuple(selected),
        visible,
    )


def _cursor_and_selections(
    snapshot: Snapshot, uri: str, location: EditorLocation
) -> tuple[Position | None, tuple[Range, ...]]:
    """Caret and selections: those asked about, else those the editor last told or let infer."""
    if location.range is not None:
        return location.caret or location.range.caret, location.selections or (location.range,)
    selection = snapshot.activity.selection_of(uri)
    return (None, ()) if selection is None else (selection.caret, selection.ranges)
