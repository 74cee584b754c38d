"""Finding an edit that an editor applied to another text than it was made for.

Some editors check no version. If their user types while an edit is on its way, they apply it where
its line and column numbers lead by then. That shows in the text that comes back: somewhere in what
has happened since, the edit did to a later text what its numbers say, and never what it was meant to
do. Then it can be taken back.
"""

from collections.abc import Sequence
from itertools import accumulate, product

from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end, n_breaks
from stet.text.position import Position

MAX_CHANGES = 50
"""Of what was typed meanwhile, the most that is played through."""
MAX_LINES = 5_000
"""Of a very long text, the most lines that are played through."""


def find_misapplied(
    document: TextDocument, edit: TextEdit, changes: Sequence[TextChange]
) -> TextDocument | None:
    """The text that the user had when an edit was applied to it in the wrong place.

    None where that is not what happened, or more was typed behind it.

    Args:
        document: What the edit was made for.
        edit: As it was sent.
        changes: All that has happened to the text since, in order.
    """
    if not 2 <= len(changes) <= MAX_CHANGES:
        return None
    if document.is_large:
        return _find_misapplied_nearby(document, edit, changes)
    texts = list(accumulate(changes, _text_after, initial=document))
    for n, comes_first in product(range(len(changes)), (False, True)):
        meant = _rebase_edit(edit, texts[:n], changes[:n], comes_first=comes_first)
        later = {text.text for text in texts[n + 1 :]}
        if meant is not None and meant.apply(texts[n].text) in later:
            return None  # it stood where it was meant to stand
    now = texts[-1].text
    original = (
        text
        for text in texts[1:-1]
        if _reinterpret_positions(document, edit, text).apply(text.text) == now
    )
    return next(original, None)


def _find_misapplied_nearby(
    document: TextDocument, edit: TextEdit, changes: Sequence[TextChange]
) -> TextDocument | None:
    """The same for a very long text: only the lines about what has happened are looked at.

    None too where these are many: the edit counts as not applied then.
    """
    places = [document.position_at(at) for one in edit.replacements for at in (one.start, one.end)]
    places += [at for change in changes for at in (change.range.start, change.range.end)]
    n_typed = sum(n_breaks(change.text) for change in changes)
    n_written = sum(n_breaks(one.text) for one in edit.replacements)
    n_taken = sum(change.range.end.line - change.range.start.line for change in changes)
    first = max(0, min(place.line for place in places) - n_typed - n_written - 1)
    last = max(place.line for place in places) + n_taken + 1
    end = min(len(document.lines), last + 1)
    if not edit.replacements or end - first > MAX_LINES:
        return None
    start = document.offset_at(Position(first, 0))
    about = TextDocument(document.uri, "".join(document.lines[first:end]))
    moved = (Replacement(one.start - start, one.end - start, one.text) for one in edit.replacements)
    shifted = [TextChange(change.range.shifted(-first), change.text) for change in changes]
    original = find_misapplied(about, TextEdit(tuple(moved)), shifted)
    if original is None:
        return None
    text = (*document.lines[:first], original.text, *document.lines[end:])
    return TextDocument(document.uri, "".join(text))


def _text_after(document: TextDocument, change: TextChange) -> TextDocument:
    start, end = document.offset_at(change.range.start), document.offset_at(change.range.end)
    edit = TextEdit((Replacement(start, end, change.text),))
    return TextDocument(document.uri, edit.apply(document.text))


def _reinterpret_positions(document: TextDocument, edit: TextEdit, other: TextDocument) -> TextEdit:
    """`edit` with its lines and columns read in another text, beyond whose ends they are cut."""
    return TextEdit(
        tuple(
            Replacement(
                other.offset_at(_clamp_position(other, document.position_at(replacement.start))),
                other.offset_at(_clamp_position(other, document.position_at(replacement.end))),
                replacement.text,
            )
            for replacement in edit.replacements
        )
    )


def _clamp_position(document: TextDocument, place: Position) -> Position:
    last = len(document.lines) - 1
    if place.line > last:
        return Position(last, len(document.lines[last]))
    body = document.lines[place.line].rstrip("\r\n")
    return Position(place.line, min(place.character, len(body)))


def _rebase_edit(
    edit: TextEdit,
    texts: Sequence[TextDocument],
    changes: Sequence[TextChange],
    *,
    comes_first: bool,
) -> TextEdit | None:
    """`edit` carried through changes that leave its places alone; None where one does not.

    Args:
        edit: For the first of `texts`.
        texts: Those that the changes were made in.
        changes: What happened, in order.
        comes_first: Whether lines that it puts between two come before what was typed there.
    """
    replacements = edit.replacements
    for text, change in zip(texts, changes, strict=True):
        start, end = text.offset_at(change.range.start), text.offset_at(change.range.end)
        shift = len(change.text) - (end - start)
        if any(start < replacement.end and end > replacement.start for replacement in replacements):
            return None
        between = end if comes_first and text.position_at(end).character == 0 else -1
        replacements = tuple(
            one
            if end > one.start or (one.start == one.end == between and line_end(one.text))
            else Replacement(one.start + shift, one.end + shift, one.text)
            for one in replacements
        )
    return TextEdit(replacements)
