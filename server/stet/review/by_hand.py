"""Blocks in the text that the user decides, moves and brings back by hand."""

import dataclasses
from collections.abc import Iterable

from stet.review.anchoring.anchors import Anchor
from stet.review.anchoring.block_anchor import BlockAnchor
from stet.review.anchoring.track import Track
from stet.review.book import Book
from stet.review.proposal import Hunk, HunkState
from stet.text.blocks import find_blocks, may_hold_blocks
from stet.text.change import TextChange
from stet.text.lines import line_end

_BY_HAND = "amended by hand"


def after_change(book: Book, track: Track, changes: Iterable[TextChange]) -> bool:
    """See what the user did to blocks by hand; tells whether a hunk is another now.

    Args:
        book: All hunks.
        track: The document; its anchors have followed.
        changes: What happened to its text.
    """
    put = [
        _decided(book[anchor.hunk], track, anchor)
        for anchor in tuple(track.live)
        if isinstance(anchor, BlockAnchor)
        and (anchor.strayed or anchor.left is not None)
        and _is_gone(track, anchor)
    ]
    book.put(*put, decision=True, stands=track.uri)
    came_back = any(may_hold_blocks(change.text) for change in changes) and _find_again(book, track)
    return bool(put) or came_back


def as_block(hunk: Hunk, before: str, after: str) -> Hunk:
    """A hunk that waits in a block for `before` and `after`."""
    return dataclasses.replace(
        hunk, state=HunkState.PENDING, old=before, new=after, inline=True, reason=""
    )


def replace_anchor(track: Track, anchor: Anchor) -> None:
    """Let a hunk wait at another place, or in another way."""
    track.drop(anchor.hunk)
    track.add(anchor)


def become_block(track: Track, anchor: BlockAnchor) -> None:
    """Let a hunk wait in a block, which stands in the text."""
    replace_anchor(track, anchor)
    anchor.put_back(anchor.standing, track.lines)


def _is_gone(track: Track, anchor: BlockAnchor) -> bool:
    if anchor.strayed:
        anchor.strayed = False
        replace_anchor(track, anchor)
    return anchor.left is not None


def _decided(hunk: Hunk, track: Track, anchor: BlockAnchor) -> Hunk:
    """A hunk whose block the user took away: what stands there tells what they meant."""
    left, before, after = anchor.left or "", anchor.current, anchor.proposed
    place = (anchor.first, anchor.end)
    if _reads_as(left, before) and not _reads_as(left, after):
        track.settle(Anchor(hunk.id, track.lines, place, left, after))
        return dataclasses.replace(hunk, state=HunkState.REJECTED, old=left, new=after, reason="")
    track.settle(Anchor(hunk.id, track.lines, place, left, before))
    reason = "" if _reads_as(left, after) else _BY_HAND
    return dataclasses.replace(hunk, state=HunkState.ACCEPTED, old=before, new=left, reason=reason)


def _reads_as(text: str, other: str) -> bool:
    """Whether two texts are the same but for a line end at the end, which merge tools add."""
    return text == other or (
        bool(text)
        and bool(other)
        and text.removesuffix(line_end(text)) == other.removesuffix(line_end(other))
    )


def _find_again(book: Book, track: Track) -> bool:
    """A block came back by the editor's undo or redo: its hunk waits in it again."""
    on_its_way = track.sent.plan.texts if track.sent else {}
    known = {
        anchor.hunk
        for anchor in track.anchors()
        if not isinstance(anchor, BlockAnchor) and anchor.hunk not in on_its_way
    }
    found = {block.id: block for block in find_blocks(track.lines, known).blocks}
    for block in found.values():
        place = (block.first, block.end)
        become_block(track, BlockAnchor(block.id, track.lines, place, block.before, block.after))
    shown = [as_block(book[block.id], block.before, block.after) for block in found.values()]
    book.put(*shown, decision=True, stands=track.uri)
    return bool(found)
