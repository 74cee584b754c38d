"""An edit of a text without its blocks, as one of the text with them.

The agent reads and edits what a note says. Blocks of other programs stay in it until the user decides
them, so the edit is carried to the text as it stands, line by line.
"""

from dataclasses import replace

from stet.review.drafts import EditDraft
from stet.review.errors import BlockInTheWay
from stet.review.resolve.prepared_edit import PreparedEdit
from stet.review.tracking.tracked_span import range_of
from stet.text.edit import Replacement, TextEdit
from stet.text.stripped_document import StrippedDocument
from stet.workspace.snapshot import Snapshot


def rebase_onto_blocks(prepared: PreparedEdit, snapshot: Snapshot) -> PreparedEdit:
    """Return the authorized edit, rebased onto the text with its blocks.

    Raises:
        BlockInTheWay: If it changes lines that a block stands for.
    """
    draft = prepared.draft
    if not isinstance(draft, EditDraft):
        return prepared
    real = snapshot.document(draft.document.uri) or draft.document.real
    stripped = None if real is None else snapshot.stripped(real)
    if stripped is None:
        return prepared
    document = stripped.real
    places = [
        _place(stripped, hunk.old_start, hunk.old_start + len(hunk.old))
        for hunk in prepared.authorized.hunks
    ]
    ranges = [range_of(document.lines, *place) for place in places]
    edit = TextEdit(
        tuple(
            Replacement(document.offset_at(at.start), document.offset_at(at.end), hunk.new)
            for at, hunk in zip(ranges, prepared.hunks, strict=True)
        )
    )
    hunks = tuple(replace(hunk, range=at) for hunk, at in zip(prepared.hunks, ranges, strict=True))
    line_hunks = tuple(
        replace(hunk, old_start=first)
        for hunk, (first, _) in zip(prepared.authorized.hunks, places, strict=True)
    )
    return replace(
        prepared,
        draft=replace(draft, document=document, edit=edit, notes=()),
        authorized=replace(prepared.authorized, hunks=line_hunks),
        hunks=hunks,
    )


def _place(stripped: StrippedDocument, first: int, end: int) -> tuple[int, int]:
    place = stripped.to_real_lines(first, end)
    if place is None:
        raise BlockInTheWay(first, end)
    return place
