"""After a restart: the texts that the editor's undo and redo may lead back to.

The editor keeps its undo when the server ends. The last accepted hunks are taken back one after the other
on a copy, and those that the editor has undone are accepted there again: the texts on the way are known
then (`stet.review.anchoring.text_states`).
"""

from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from stet.review.anchoring.text_states import TextStates
from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.editor_undo import follow_editor
from stet.review.errors import UndoConflict
from stet.review.hunk_store import HunkStore
from stet.review.outbox import Outbox
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkState
from stet.review.rebase import reopen_undone
from stet.review.state_restore import copy_of
from stet.review.text_notes import note_text
from stet.text.buffer import TextBuffer
from stet.text.diff import changes_between
from stet.text.document import TextDocument

MAX_STEPS = 4
"""How many hunks are taken back, and how many are accepted again."""
MAX_LINES = 2_000
"""In longer texts none are: each step takes as long as an accept, while the event loop waits."""
_PLACE = attrgetter("first", "end")


def recall_texts(book: HunkStore, track: TrackedDocument) -> None:
    """Note the texts around the last accepted hunks of a document, if none of its texts is known.

    Args:
        book: All hunks.
        track: The document, which has just been opened.
    """
    is_known = track.undone.texts.is_any
    if is_known or track.in_flight or len(track.lines) > MAX_LINES or book.has_blocks(track.uri):
        return
    hunks = [book[anchor.hunk] for anchor in (*track.live, *track.settled)]
    undone = [
        one for one in hunks if one.state is HunkState.PENDING and one.reason == UNDONE_IN_EDITOR
    ]
    # The difference tells of a hunk that touches no other.
    accepted = [one for one in hunks if one.state is HunkState.ACCEPTED] if _touch(track) else []
    for chain, back in ((undone, False), (accepted, True)):
        # Undone last is redone first, and accepted last is undone first.
        latest = sorted(chain, key=lambda one: -one.changed)[:MAX_STEPS]
        if latest and (copy := copy_of(book, track.uri)) is not None:
            track.undone.texts.adopt(_texts_along(copy, latest, back=back))


def _touch(track: TrackedDocument) -> bool:
    """Return whether any of the hunks of a document touch."""
    in_order = sorted(track.anchors(), key=_PLACE)
    return any(one.end >= other.first for one, other in pairwise(in_order))


def _texts_along(book: HunkStore, hunks: Sequence[Hunk], *, back: bool) -> TextStates:
    """Return the texts that a document has as its hunks are accepted, or taken back, one by one.

    Args:
        book: A copy, which is played with.
        hunks: In the order of the steps.
        back: Whether they are taken back.
    """
    outbox, uri = Outbox(book), hunks[0].uri
    track = book.tracked(uri)
    assert track is not None, "the copy has the hunks of this document"
    track.undone.texts.add_edited(hunk.id for hunk in hunks)
    for hunk in hunks:
        document = TextDocument(track.uri, track.text, version=1)
        ranks = {one.hunk: nth for nth, one in enumerate(sorted(track.anchors(), key=_PLACE))}
        try:
            edit = outbox.send(document, (hunk.id,), back=back)
        except UndoConflict:
            break
        buffer = TextBuffer(document.text)
        changes = changes_between(document.text, edit.apply(document.text))
        track.lines = buffer.lines
        made = tuple(buffer.apply(change) for change in changes)
        follow_editor(book, track, made, buffer.lines)
        if book[hunk.id].state is not (HunkState.UNDONE if back else HunkState.ACCEPTED):
            break
        if back:
            track.undone.due = [hunk.id]
            if not reopen_undone(book, track):
                break
            # Several insertions may be at one point now: they keep their order.
            track.live.sort(key=lambda one: (*_PLACE(one), ranks[one.hunk]))
            note_text(book, track)
    return track.undone.texts
