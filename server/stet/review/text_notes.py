"""Which hunks are noted with a text, so that the editor's undo leads them back to it."""

from collections.abc import Iterable, Iterator

from stet.review.hunk_store import HunkStore
from stet.review.proposal import LIVE, HunkKind, HunkState
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.block_anchor import BlockAnchor
from stet.review.tracking.line_span import text_hash
from stet.review.tracking.text_states import HunkInText
from stet.review.tracking.tracked_document import TrackedDocument

_FEW = 200
"""If no more hunks than this are pending, all of them are noted; else those of recent edits."""


def note_text(store: HunkStore, tracked: TrackedDocument, edited: Iterable[str] = ()) -> None:
    """Note the text of a document as it is now, with the states and places of its hunks.

    Args:
        store: All hunks.
        tracked: The document.
        edited: Hunks whose edit goes to the editor now.
    """
    texts = tracked.undone.texts
    texts.add_edited(edited)
    texts.note(tracked.lines, hunks_in_text(store, tracked))


def hunks_in_text(store: HunkStore, tracked: TrackedDocument) -> list[HunkInText]:
    """Return the hunks that are noted with a text, the pending ones in their order."""
    return [
        HunkInText(
            hunk, hunk.state is HunkState.ACCEPTED, one.first, one.end, text_hash(one.current)
        )
        for one in _noted_anchors(tracked)
        if one.merged is not None
        and not one.span.is_lost
        and not isinstance(one, BlockAnchor)
        and (hunk := store[one.hunk]).kind is not HunkKind.CREATE
        and not hunk.inline
        and (hunk.state is HunkState.ACCEPTED or hunk.state in LIVE)
    ]


def _noted_anchors(tracked: TrackedDocument) -> Iterator[Anchor]:
    """Yield the anchors of the hunks whose state may be noted."""
    edited = dict.fromkeys(tracked.undone.texts.edited)
    is_few = len(tracked.live) <= _FEW
    known = {one.hunk for one in tracked.live if is_few or one.hunk in edited}
    yield from (one for one in tracked.live if one.hunk in known)
    for hunk in edited:
        if hunk not in known and (anchor := tracked.anchor(hunk)) is not None:
            yield anchor
