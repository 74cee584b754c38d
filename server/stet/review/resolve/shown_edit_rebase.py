"""An edit that was made for the text that was shown, moved to the text as it is now."""

from collections.abc import Iterator
from dataclasses import dataclass

from stet.review.resolve.edit_instruction import InvalidInstruction
from stet.review.tracking.anchor import Anchor
from stet.text.change import TextChange
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end, split_lines


@dataclass(frozen=True, slots=True)
class _RebasedLines:
    """Whole lines of the text that was shown, and what they become.

    Attributes:
        first: The first of them, from 0.
        end: The one behind the last.
        new: What they become.
        is_after: Whether that is all they hold, with more behind it.
    """

    first: int
    end: int
    new: str
    is_after: bool = False


def rebase_edit(
    edit: TextEdit, shown: TextDocument, changes: tuple[TextChange, ...], current: TextDocument
) -> TextEdit:
    """`edit`, made for the text that was shown, moved to the text as it is now.

    Raises:
        InvalidInstruction: If the user has changed the very lines since.
    """
    pieces = [
        piece for replacement in edit.replacements for piece in _changed_lines(replacement, shown)
    ]
    anchors = [_anchor(piece, shown) for piece in pieces]
    for anchor in anchors:
        for change in changes:
            for effect in change.effects:
                _ = anchor.apply_change(effect)
        _ = anchor.refresh(current.lines)
    found = zip(pieces, anchors, strict=True)
    return TextEdit(tuple(_replacement(piece, anchor, current) for piece, anchor in found))


def _changed_lines(one: Replacement, shown: TextDocument) -> Iterator[_RebasedLines]:
    """Yield the lines that a replacement changes; lines that are left unchanged may be the user's."""
    # A difference of lines might move lines that are put in past others that read alike, and so past
    # what else is put in there.
    place, is_insertion = shown.position_at(one.start), one.start == one.end
    if is_insertion and place.character == 0 and line_end(one.text):
        yield _RebasedLines(place.line, place.line, one.text)
    elif is_insertion and one.start == len(shown.text) and one.text[:1] in ("\r", "\n"):
        new = shown.lines[place.line] + one.text
        yield _RebasedLines(place.line, place.line + 1, new, is_after=True)
    else:
        after = split_lines(TextEdit((one,)).apply(shown.text))
        for hunk in diff_lines(shown.lines, after):
            yield _RebasedLines(hunk.old_start, hunk.old_start + len(hunk.old), "".join(hunk.new))


def _anchor(piece: _RebasedLines, shown: TextDocument) -> Anchor:
    old = "".join(shown.lines[piece.first : piece.end])
    return Anchor("", shown.lines, (piece.first, piece.end), old, piece.new)


def _replacement(piece: _RebasedLines, anchor: Anchor, current: TextDocument) -> Replacement:
    if anchor.merged is None:
        raise InvalidInstruction(
            "The user has changed these lines since you were shown them. Read the file again."
        )
    one = anchor.replacement(current, anchor.merged)
    stands = current.text[one.start : one.end]
    if piece.is_after and one.text.startswith(stands):
        # The last line is left to whoever else edits it.
        return Replacement(one.end, one.end, one.text.removeprefix(stands))
    return one
