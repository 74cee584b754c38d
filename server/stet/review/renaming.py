"""A file gets another name, perhaps that of another file: what waits in either goes on waiting."""

from stet.review.anchoring.anchor import Anchor
from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.book import Book, goes_with
from stet.review.following import catch_up
from stet.review.inline import InlineBlocks
from stet.review.outbox import Outbox
from stet.review.proposal import LIVE, OPEN, Hunk, HunkKind, HunkState
from stet.review.returning import join
from stet.text.document import TextDocument

_MOVED = "its file got another name meanwhile: accept it again"
_REPLACED = "another file has taken the name of this one"


def rename(book: Book, outbox: Outbox, uri: str, new_uri: str) -> None:
    """The file `uri` is called `new_uri` now: its hunks go with it.

    Hunks of a file that had that name before follow to the text that it has now, as they would if the
    file had been written anew; what was to become of that file as such is of no use any more. A new
    file that is to be made as `uri` is another: that has room now.
    """
    for one, reason in ((uri, _MOVED), (new_uri, _REPLACED)):
        # What is on its way goes to a document that there is no more; if it comes, it is known.
        outbox.unsend(one, reason)
    moved, there = book.track(uri), book.track(new_uri)
    # An editor may tell of a move that Stet itself has asked for: then all have gone already.
    if moved is not None or any(goes_with(hunk, new_uri) for hunk in book.of_file(uri)):
        _drop_whole(book, new_uri)
    to_make = [] if moved is None else _take_off_new(book, moved)
    if moved is None or there is None:
        book.renamed(uri, new_uri)
    else:
        _become(book, there, moved.text)
        _ = book.take_off(new_uri)
        book.renamed(uri, new_uri)
        join(book, there, moved, moved.text)
    for hunk in to_make:
        _wait_for_file(book, hunk)


def _drop_whole(book: Book, uri: str) -> None:
    """Moves and removals that wait for a file which another one has replaced."""
    gone = [
        book.closed(hunk, HunkState.SUPERSEDED, _REPLACED)
        for hunk in book.of_file(uri)
        if hunk.kind in {HunkKind.MOVE, HunkKind.REMOVE} and hunk.state in OPEN
    ]
    book.put(*gone)


def _take_off_new(book: Book, track: TrackedDocument) -> list[Hunk]:
    """Take new files that are not there out of the track of the file that has their name; gives them."""
    hunks = [book[anchor.hunk] for anchor in track.anchors()]
    found = [hunk for hunk in hunks if hunk.kind is HunkKind.CREATE and hunk.is_of_absent_file]
    for hunk in found:
        track.drop(hunk.id)
    return found


def _wait_for_file(book: Book, hunk: Hunk) -> None:
    """A new file that is not there yet, or was taken back, has a name of its own again."""
    track = book.track_for(TextDocument(hunk.uri, ""))
    anchor = Anchor(hunk.id, track.lines, (0, 0), "", hunk.new)
    if hunk.state in LIVE:
        track.add(anchor)
    else:
        track.settle(anchor)


def _become(book: Book, track: TrackedDocument, text: str) -> None:
    """A file has become `text`."""
    InlineBlocks(book).fold_missing(track, text)
    catch_up(book, track, text)
