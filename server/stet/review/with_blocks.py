"""An edit of a text without its blocks, as one of the text with them.

The agent reads and edits what a note says. Blocks of other programs stay in it until the user decides
them, so the edit is carried to the text as it stands, line by line.
"""

from dataclasses import replace

from stet.review.anchoring.line_span import range_of
from stet.review.drafts import EditDraft
from stet.review.errors import BlockInTheWay
from stet.review.readying import Ready
from stet.text.edit import Replacement, TextEdit
from stet.text.stripped_document import StrippedDocument
from stet.workspace.snapshot import Snapshot


def with_blocks(ready: Ready, snapshot: Snapshot) -> Ready:
    """What the gate has let through, for the text with its blocks.

    Raises:
        BlockInTheWay: If it changes lines that a block stands for.
    """
    draft = ready.draft
    if not isinstance(draft, EditDraft):
        return ready
    real = snapshot.document(draft.document.uri) or draft.document.real
    stripped = None if real is None else snapshot.stripped(real)
    if stripped is None:
        return ready
    document = stripped.real
    places = [
        _place(stripped, hunk.old_start, hunk.old_start + len(hunk.old))
        for hunk in ready.admitted.hunks
    ]
    ranges = [range_of(document.lines, *place) for place in places]
    edit = TextEdit(
        tuple(
            Replacement(document.offset_at(at.start), document.offset_at(at.end), hunk.new)
            for at, hunk in zip(ranges, ready.hunks, strict=True)
        )
    )
    hunks = tuple(replace(hunk, range=at) for hunk, at in zip(ready.hunks, ranges, strict=True))
    line_hunks = tuple(
        replace(hunk, old_start=first)
        for hunk, (first, _) in zip(ready.admitted.hunks, places, strict=True)
    )
    return replace(
        ready,
        draft=replace(draft, document=document, edit=edit, notes=()),
        admitted=replace(ready.admitted, hunks=line_hunks),
        hunks=hunks,
    )


def _place(stripped: StrippedDocument, first: int, end: int) -> tuple[int, int]:
    place = stripped.to_real_lines(first, end)
    if place is None:
        raise BlockInTheWay(first, end)
    return place
