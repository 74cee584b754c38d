"""A file gets another name, perhaps that of another file: what waits in either goes on waiting."""

from stet.review.hunk_store import HunkStore, follows_rename
from stet.review.inline.inline_blocks import InlineBlocks
from stet.review.outbox import Outbox
from stet.review.proposal import LIVE, OPEN, Hunk, HunkKind, HunkState
from stet.review.rebase import catch_up
from stet.review.state_restore import merge_tracked
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.tracked_document import TrackedDocument
from stet.text.document import TextDocument

_MOVED = "its file got another name meanwhile: accept it again"
_REPLACED = "another file has taken the name of this one"


def rename_file(store: HunkStore, outbox: Outbox, uri: str, new_uri: str) -> None:
    """Move the hunks of a file after its rename from `uri` to `new_uri`.

    Hunks of a file that had that name before follow to the text that it has now, as they would if the
    file had been written anew; what was to become of that file as such is of no use any more. A new
    file that is to be made as `uri` is another: that has room now.
    """
    for one, reason in ((uri, _MOVED), (new_uri, _REPLACED)):
        # What is on its way goes to a document that there is no more; if it comes, it is known.
        outbox.cancel(one, reason)
    moved, there = store.tracked(uri), store.tracked(new_uri)
    # An editor may tell of a move that Stet itself has asked for: then all have gone already.
    if moved is not None or any(follows_rename(hunk, new_uri) for hunk in store.of_file(uri)):
        _drop_whole(store, new_uri)
    to_make = [] if moved is None else _detach_new(store, moved)
    if moved is None or there is None:
        store.renamed(uri, new_uri)
    else:
        _catch_up_blocks(store, there, moved.text)
        _ = store.detach(new_uri)
        store.renamed(uri, new_uri)
        merge_tracked(store, there, moved, moved.text)
    for hunk in to_make:
        _wait_for_file(store, hunk)


def _drop_whole(store: HunkStore, uri: str) -> None:
    """Supersede the pending moves and removals of a file that another file has replaced."""
    gone = [
        store.close_hunk(hunk, HunkState.SUPERSEDED, _REPLACED)
        for hunk in store.of_file(uri)
        if hunk.kind in {HunkKind.MOVE, HunkKind.REMOVE} and hunk.state in OPEN
    ]
    store.save(*gone)


def _detach_new(store: HunkStore, tracked: TrackedDocument) -> list[Hunk]:
    """Take new files that are not there out of the track of the file that has their name; gives them."""
    hunks = [store[anchor.hunk] for anchor in tracked.anchors()]
    found = [hunk for hunk in hunks if hunk.kind is HunkKind.CREATE and hunk.is_of_absent_file]
    for hunk in found:
        tracked.drop(hunk.id)
    return found


def _wait_for_file(store: HunkStore, hunk: Hunk) -> None:
    """Track a new file that does not exist yet, or was undone, under its own name again."""
    tracked = store.ensure_tracked(TextDocument(hunk.uri, ""))
    anchor = Anchor(hunk.id, tracked.lines, (0, 0), "", hunk.new)
    if hunk.state in LIVE:
        tracked.add(anchor)
    else:
        tracked.settle(anchor)


def _catch_up_blocks(store: HunkStore, tracked: TrackedDocument, text: str) -> None:
    """Update the hunks and blocks of a file after its text has become `text`."""
    InlineBlocks(store).apply_missing(tracked, text)
    catch_up(store, tracked, text)
