"""After a restart: the texts that the editor's undo and redo may lead back to.

The editor keeps its undo when the server ends. The last accepted hunks are taken back one after the other
on a copy, and those that the editor has undone are accepted there again: the texts on the way are known
then (`stet.review.tracking.text_states`).
"""

from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from stet.review.editor_undo import follow_editor
from stet.review.errors import UndoConflict
from stet.review.hunk_store import HunkStore
from stet.review.outbox import Outbox
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkState
from stet.review.rebase import reopen_undone
from stet.review.state_restore import copy_of
from stet.review.text_notes import note_text
from stet.review.tracking.text_states import TextStates
from stet.review.tracking.tracked_document import TrackedDocument
from stet.text.buffer import TextBuffer
from stet.text.diff import changes_between
from stet.text.document import TextDocument

MAX_STEPS = 4
"""How many hunks are taken back, and how many are accepted again."""
MAX_LINES = 2_000
"""In longer texts none are: each step takes as long as an accept, while the event loop waits."""
_PLACE = attrgetter("first", "end")


def restore_undo_texts(store: HunkStore, tracked: TrackedDocument) -> None:
    """Note the texts around the last accepted hunks of a document.

    If texts of it are known already, only its present text is noted: the document was closed, and its
    hunks may have come to that text by another way than the editor's undo.

    Args:
        store: All hunks.
        tracked: The document, which has just been opened.
    """
    if tracked.undone.texts.is_any:
        note_text(store, tracked)
        return
    if tracked.in_flight or len(tracked.lines) > MAX_LINES or store.has_blocks(tracked.uri):
        return
    hunks = [store[anchor.hunk] for anchor in (*tracked.live, *tracked.settled)]
    undone = [
        one for one in hunks if one.state is HunkState.PENDING and one.reason == UNDONE_IN_EDITOR
    ]
    # The difference tells of a hunk that touches no other.
    accepted = [one for one in hunks if one.state is HunkState.ACCEPTED] if _touch(tracked) else []
    for chain, back in ((undone, False), (accepted, True)):
        # Undone last is redone first, and accepted last is undone first.
        latest = sorted(chain, key=lambda one: -one.changed)[:MAX_STEPS]
        if latest and (copy := copy_of(store, tracked.uri)) is not None:
            tracked.undone.texts.adopt(_texts_between(copy, latest, back=back), tracked.lines)


def _touch(tracked: TrackedDocument) -> bool:
    """Return whether any of the hunks of a document touch."""
    in_order = sorted(tracked.anchors(), key=_PLACE)
    return any(one.end >= other.first for one, other in pairwise(in_order))


def _texts_between(store: HunkStore, hunks: Sequence[Hunk], *, back: bool) -> TextStates:
    """Return the texts that a document has as its hunks are accepted, or taken back, one by one.

    Args:
        store: A copy, whose hunks change.
        hunks: In the order of the steps.
        back: Whether they are taken back.
    """
    outbox, uri = Outbox(store), hunks[0].uri
    tracked = store.tracked(uri)
    assert tracked is not None, "the copy has the hunks of this document"
    tracked.undone.texts.add_edited(hunk.id for hunk in hunks)
    for hunk in hunks:
        document = TextDocument(tracked.uri, tracked.text, version=1)
        ranks = {one.hunk: nth for nth, one in enumerate(sorted(tracked.anchors(), key=_PLACE))}
        try:
            edit = outbox.send(document, (hunk.id,), back=back)
        except UndoConflict:
            break
        buffer = TextBuffer(document.text)
        changes = changes_between(document.text, edit.apply(document.text))
        tracked.lines = buffer.lines
        made = tuple(buffer.apply(change) for change in changes)
        follow_editor(store, tracked, made, buffer.lines)
        if store[hunk.id].state is not (HunkState.UNDONE if back else HunkState.ACCEPTED):
            break
        if back:
            tracked.undone.due = [hunk.id]
            if not reopen_undone(store, tracked):
                break
            # Several insertions may be at one point now: they keep their order.
            tracked.live.sort(key=lambda one: (*_PLACE(one), ranks[one.hunk]))
            note_text(store, tracked)
    return tracked.undone.texts
