"""Blocks in the text that the user decides, moves and brings back by hand."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy

from stet.review.anchoring.anchor import Anchor
from stet.review.anchoring.block_anchor import BlockAnchor
from stet.review.anchoring.line_span import LineSpan, overlap
from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.book import Book
from stet.review.proposal import Hunk, HunkState
from stet.text.block_codec import find_blocks, is_leftover, may_hold_blocks
from stet.text.change import TextChange
from stet.text.imported_blocks import imported_at
from stet.text.inline_block import InlineBlock
from stet.text.lines import line_end, whole_lines

_BY_HAND = "amended by hand"


def after_change(book: Book, track: TrackedDocument, changes: Iterable[TextChange]) -> bool:
    """See what the user did to blocks by hand; tells whether a hunk is another now.

    Args:
        book: All hunks.
        track: The document; its anchors have followed.
        changes: What happened to its text.
    """
    came_back = _may_be_back(book, track, changes) and _find_again(book, track)
    put = [
        _in_conflict(book[anchor.hunk], track, anchor) or _decided(book[anchor.hunk], track, anchor)
        for anchor in tuple(track.live)
        if isinstance(anchor, BlockAnchor)
        and (anchor.strayed or anchor.left is not None)
        and _is_gone(track, anchor)
    ]
    book.put(*put, decision=True, stands=track.uri)
    return bool(put) or came_back


def as_block(hunk: Hunk, before: str, after: str) -> Hunk:
    """A hunk that waits in a block for `before` and `after`."""
    return dataclasses.replace(
        hunk, state=HunkState.PENDING, old=before, new=after, inline=True, reason=""
    )


def replace_anchor(track: TrackedDocument, anchor: Anchor) -> None:
    """Let a hunk wait at another place, or in another way."""
    track.drop(anchor.hunk)
    track.add(anchor)


def stands_for(anchor: Anchor) -> str:
    """The lines that the block of a hunk takes the place of; `anchor` is where the hunk stands."""
    # An insertion whose place is lost has lines of the user's in it, which stay.
    return "" if anchor.is_gap else anchor.current


def become_block(track: TrackedDocument, anchor: BlockAnchor) -> None:
    """Let a hunk wait in a block, which stands in the text."""
    replace_anchor(track, anchor)
    anchor.restore_span(anchor.span, track.lines)


def _is_gone(track: TrackedDocument, anchor: BlockAnchor) -> bool:
    if anchor.strayed:
        anchor.strayed = False
        replace_anchor(track, anchor)
    return anchor.left is not None


def _in_conflict(hunk: Hunk, track: TrackedDocument, anchor: BlockAnchor) -> Hunk | None:
    """A hunk whose block was put in for a conflict, and is gone in one step as if it had never been:
    that is the editor's undo, and decides nothing. None if it is not so.
    """
    origin = anchor.conflict
    if origin is None or anchor.merged is None or anchor.proposed != origin.proposed:
        return None
    if anchor.left != anchor.current or anchor.left != stands_for(origin):
        return None
    first, end, is_lost = origin.span
    again = copy(origin)
    again.restore_span(LineSpan(anchor.first, anchor.first + end - first, is_lost), track.lines)
    replace_anchor(track, again)
    return dataclasses.replace(
        hunk, state=HunkState.PENDING, old=again.base, new=again.proposed, inline=False, reason=""
    )


def _decided(hunk: Hunk, track: TrackedDocument, anchor: BlockAnchor) -> Hunk:
    """A hunk whose block the user took away: what stands there tells what they meant."""
    before, after = anchor.current, anchor.proposed
    left, place = _all_that_is_left(track, anchor)
    # Where the two differ only in a line end at the end, it counts.
    is_old = left == before != after or not _reads_as(left, after)
    if is_old and _reads_as(left, before):
        track.settle(Anchor(hunk.id, track.lines, place, left, after))
        return dataclasses.replace(hunk, state=HunkState.REJECTED, old=left, new=after, reason="")
    track.settle(Anchor(hunk.id, track.lines, place, left, before, was_written=True))
    reason = "" if _reads_as(left, after) else _BY_HAND
    return dataclasses.replace(hunk, state=HunkState.ACCEPTED, old=before, new=left, reason=reason)


def _all_that_is_left(track: TrackedDocument, anchor: BlockAnchor) -> tuple[str, tuple[int, int]]:
    """What stands where a block was, and on which lines.

    Where the lines of the text read like the block's own, those may be told as what was left of it,
    and the rest of the lines as put in beside it.
    """
    left, place = anchor.left or "", (anchor.first, anchor.end)
    if any(map(is_leftover, whole_lines(left))):
        for text in (anchor.current, anchor.proposed):
            n_lines = len(whole_lines(text))
            for first in range(max(anchor.end - n_lines, 0), anchor.first + 1):
                wider = (first, first + n_lines)
                others = [a for a in track.overlapping(wider) if a is not anchor]
                if not others and "".join(track.lines[first : first + n_lines]) == text:
                    return text, wider
    return left, place


def _reads_as(text: str, other: str) -> bool:
    """Whether two texts are the same but for a line end at the end, which merge tools add."""
    return text == other or (
        bool(text)
        and bool(other)
        and text.removesuffix(line_end(text)) == other.removesuffix(line_end(other))
    )


def _may_be_back(book: Book, track: TrackedDocument, changes: Iterable[TextChange]) -> bool:
    """Whether it is worth the time to look for blocks that have come back; cheap."""
    if any(may_hold_blocks(change.text) for change in changes):
        return True
    # The difference between two blocks may be a digit in an id.
    return any(
        isinstance(anchor, BlockAnchor)
        and anchor.merged is None
        and find_blocks(
            track.lines[anchor.first : anchor.end], _without_block(book, track).values()
        ).blocks
        for anchor in track.live
    )


def _find_again(book: Book, track: TrackedDocument) -> bool:
    """A block came back by the editor's undo or redo: its hunk waits in it again."""
    found = {block.id: block for block in _come_back(book, track)}
    for block in found.values():
        anchor = BlockAnchor(
            block.id, track.lines, _place(block), block.before, block.after, book[block.id].block
        )
        anchor.conflict = _conflict_behind(track, block)
        become_block(track, anchor)
    shown = [as_block(book[block.id], block.before, block.after) for block in found.values()]
    if found:
        shown += _make_room(book, track, tuple(found.values()))
    book.put(*shown, decision=True, stands=track.uri)
    return bool(found)


def _come_back(book: Book, track: TrackedDocument) -> Iterator[InlineBlock]:
    """The blocks in the text of hunks that have none, each with the id of its hunk."""
    absent = _without_block(book, track)
    own = {hunk: hunk for hunk, block in absent.items() if hunk == block}
    others = {block: hunk for hunk, block in absent.items() if hunk != block}
    taken = [
        anchor
        for anchor in track.live
        if isinstance(anchor, BlockAnchor) and anchor.merged is not None
    ]
    found = [*find_blocks(track.lines, own).blocks]
    if others:
        found += imported_at(track.lines, others, 0, len(track.lines))
    for block in found:
        if not any(overlap(_place(block), _place(anchor)) for anchor in taken):
            yield dataclasses.replace(block, id=own.get(block.id) or others[block.id])


def _without_block(book: Book, track: TrackedDocument) -> dict[str, str]:
    """By hunk, the ids of blocks that may come back: the text that comes back tells of those on their
    way.
    """
    return {
        anchor.hunk: book[anchor.hunk].block or anchor.hunk
        for anchor in track.anchors()
        if not isinstance(anchor, BlockAnchor) and anchor.hunk not in _on_way(track)
    }


def _on_way(track: TrackedDocument) -> Collection[str]:
    return track.in_flight.plan.texts if track.in_flight else ()


def _make_room(book: Book, track: TrackedDocument, blocks: Sequence[InlineBlock]) -> list[Hunk]:
    """The lines of `blocks`, which have come back, are nobody else's.

    What stood over them keeps the lines that read as its own, or else the most it can. What is left
    of a block there is none any more: nothing is decided by that, so its hunk waits in the margin.

    Args:
        book: All hunks.
        track: The document.
        blocks: In order of place.

    Returns:
        Those that wait in the margin now, to be put.
    """
    folded = []
    stays = {block.id for block in blocks} | set(_on_way(track))
    for anchor in tuple(track.live):
        taken = [block for block in blocks if overlap(_place(block), _place(anchor))]
        is_block = isinstance(anchor, BlockAnchor)
        if not taken or anchor.hunk in stays or (is_block and anchor.merged is not None):
            continue
        place, rest = _free_of(track, anchor, taken), anchor
        if is_block:
            before, after = anchor.current, anchor.proposed
            place = place if before else (place[0], place[0])
            rest = Anchor(anchor.hunk, track.lines, place, before, after)
            hunk = as_block(book[anchor.hunk], before, after)
            folded.append(dataclasses.replace(hunk, inline=False))
        rest.restore_span(LineSpan(*place, anchor.span.is_lost), track.lines)
        replace_anchor(track, rest)
    return folded


def _free_of(
    track: TrackedDocument, anchor: Anchor, taken: Sequence[InlineBlock]
) -> tuple[int, int]:
    """The lines of an anchor that it keeps where some are those of blocks."""
    starts = (anchor.first, *(block.end for block in taken))
    ends = (*(block.first for block in taken), anchor.end)
    free = [(first, end) for first, end in zip(starts, ends, strict=True) if first <= end]
    own = (anchor.current, anchor.proposed)

    def worth(place: tuple[int, int]) -> tuple[bool, int]:
        first, end = place
        return end > first and "".join(track.lines[first:end]) in own, end - first

    return max(free, key=worth, default=(taken[0].first, taken[0].first))


def _place(where: Anchor | InlineBlock) -> tuple[int, int]:
    return where.first, where.end


def _conflict_behind(track: TrackedDocument, block: InlineBlock) -> Anchor | None:
    """The anchor of a conflict whose block has come back, as it was without the block's marks."""
    anchor = track.anchor(block.id)
    if anchor is None or anchor.merged is not None or anchor not in track.live:
        return None
    origin = copy(anchor)
    n_marks = block.end - block.first - len(whole_lines(block.before))
    origin.move_to(block.first, max(anchor.end - anchor.first - n_marks, 0) + block.first)
    origin.current = block.before
    return origin
