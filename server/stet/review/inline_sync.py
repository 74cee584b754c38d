"""Synchronization of hunks with their blocks after the user has edited the text."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import copy

from stet.review.hunk_store import HunkStore, settle_accepted
from stet.review.proposal import Hunk, HunkState
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.tracked_document import TrackedDocument, overlap
from stet.review.tracking.tracked_span import LineSpan
from stet.text.block_codec import InlineBlock, find_blocks, is_leftover, may_hold_blocks
from stet.text.edit import TextChange
from stet.text.lines import line_end, whole_lines
from stet.text.stripped_document import imported_at

_AMENDED = "amended by hand"


def sync_blocks(store: HunkStore, tracked: TrackedDocument, changes: Iterable[TextChange]) -> bool:
    """Update the hunks whose blocks the user has edited; return whether any has changed.

    Args:
        store: All hunks.
        tracked: The document, whose anchors have been moved already.
        changes: The changes of the text.
    """
    reattached = _may_reappear(store, tracked, changes) and _reattach_blocks(store, tracked)
    put = [
        _restored_conflict(store[anchor.hunk], tracked, anchor)
        or _decided(store[anchor.hunk], tracked, anchor)
        for anchor in tuple(tracked.live)
        if isinstance(anchor, BlockAnchor)
        and (anchor.strayed or anchor.left is not None)
        and _is_gone(tracked, anchor)
    ]
    store.save(*put, decision=True, anchors_of=tracked.uri)
    return bool(put) or reattached


def as_block_hunk(hunk: Hunk, before: str, after: str) -> Hunk:
    """Return the pending state of a hunk with a block for `before` and `after`."""
    return dataclasses.replace(
        hunk, state=HunkState.PENDING, old=before, new=after, inline=True, reason=""
    )


def replace_anchor(tracked: TrackedDocument, anchor: Anchor) -> None:
    """Make `anchor` the live anchor of its hunk."""
    tracked.drop(anchor.hunk)
    tracked.add(anchor)


def replaced_text(anchor: Anchor) -> str:
    """Return the lines that the block of a hunk replaces; `anchor` is the hunk's place."""
    # A lost insertion includes lines of the user, which the block does not replace.
    return "" if anchor.is_insertion else anchor.current


def anchor_as_block(tracked: TrackedDocument, anchor: BlockAnchor) -> None:
    """Make the anchor of a block in the text the live anchor of its hunk."""
    replace_anchor(tracked, anchor)
    anchor.restore_span(anchor.span, tracked.lines)


def _is_gone(tracked: TrackedDocument, anchor: BlockAnchor) -> bool:
    if anchor.strayed:
        anchor.strayed = False
        replace_anchor(tracked, anchor)
    return anchor.left is not None


def _restored_conflict(hunk: Hunk, tracked: TrackedDocument, anchor: BlockAnchor) -> Hunk | None:
    """Restore a conflict whose block was removed by an undo in the editor, which decides nothing.

    Return the hunk, or None in other cases.
    """
    origin = anchor.conflict
    if origin is None or anchor.merged is None or anchor.proposed != origin.proposed:
        return None
    if anchor.left != anchor.current or anchor.left != replaced_text(origin):
        return None
    again = copy(origin)
    again.restore_span(origin.span.shifted(anchor.first - origin.first), tracked.lines)
    replace_anchor(tracked, again)
    return dataclasses.replace(
        hunk, state=HunkState.PENDING, old=again.base, new=again.proposed, inline=False, reason=""
    )


def _decided(hunk: Hunk, tracked: TrackedDocument, anchor: BlockAnchor) -> Hunk:
    """Decide a hunk without its block by the text in its place; return the hunk."""
    before, after = anchor.current, anchor.proposed
    left, place = _remaining_text(tracked, anchor)
    # If the two texts differ only in the final line end, compare the final line ends.
    is_old = left == before != after or not _is_same_text(left, after)
    if is_old and _is_same_text(left, before):
        tracked.settle(Anchor(hunk.id, tracked.lines, place, left, after))
        return dataclasses.replace(hunk, state=HunkState.REJECTED, old=left, new=after, reason="")
    accepted = settle_accepted(tracked, hunk, place, before, left)
    reason = "" if _is_same_text(left, after) else _AMENDED
    return dataclasses.replace(accepted, reason=reason)


def _remaining_text(tracked: TrackedDocument, anchor: BlockAnchor) -> tuple[str, tuple[int, int]]:
    """Return the text in the place of a removed block, and the place of the text.

    If lines of the text read like the block's lines, the editor may report those as the rest of the
    block, and the other lines as inserted beside the block.
    """
    left, place = anchor.left or "", (anchor.first, anchor.end)
    if any(map(is_leftover, whole_lines(left))):
        for text in (anchor.current, anchor.proposed):
            n_lines = len(whole_lines(text))
            for first in range(max(anchor.end - n_lines, 0), anchor.first + 1):
                wider = (first, first + n_lines)
                others = [a for a in tracked.overlapping(wider) if a is not anchor]
                if not others and "".join(tracked.lines[first : first + n_lines]) == text:
                    return text, wider
    return left, place


def _is_same_text(text: str, other: str) -> bool:
    """Return whether two texts are equal except for the final line end, which tools may add."""
    return text == other or (
        bool(text)
        and bool(other)
        and text.removesuffix(line_end(text)) == other.removesuffix(line_end(other))
    )


def _may_reappear(
    store: HunkStore, tracked: TrackedDocument, changes: Iterable[TextChange]
) -> bool:
    """Return whether blocks may have come back, by a cheap check."""
    if any(may_hold_blocks(change.text) for change in changes):
        return True
    # The difference between two blocks may be a digit in an id.
    return any(
        isinstance(anchor, BlockAnchor)
        and anchor.merged is None
        and find_blocks(
            tracked.lines[anchor.first : anchor.end], _without_block(store, tracked).values()
        )
        for anchor in tracked.live
    )


def _reattach_blocks(store: HunkStore, tracked: TrackedDocument) -> bool:
    """Make hunks pending whose blocks an undo or redo in the editor has restored."""
    found = {block.id: block for block in _reappeared_blocks(store, tracked)}
    for block in found.values():
        anchor = BlockAnchor(
            block.id, tracked.lines, _place(block), block.before, block.after, store[block.id].block
        )
        anchor.conflict = _conflict_of_block(tracked, block)
        anchor_as_block(tracked, anchor)
    shown = [as_block_hunk(store[block.id], block.before, block.after) for block in found.values()]
    if found:
        shown += _free_lines(store, tracked, tuple(found.values()))
    store.save(*shown, decision=True, anchors_of=tracked.uri)
    return bool(found)


def _reappeared_blocks(store: HunkStore, tracked: TrackedDocument) -> Iterator[InlineBlock]:
    """Yield the blocks in the text of hunks that had no block, each with its hunk's id."""
    absent = _without_block(store, tracked)
    texts = {hunk: hunk for hunk, block in absent.items() if hunk == block}
    others = {block: hunk for hunk, block in absent.items() if hunk != block}
    taken = [
        anchor
        for anchor in tracked.live
        if isinstance(anchor, BlockAnchor) and anchor.merged is not None
    ]
    found = [*find_blocks(tracked.lines, texts)]
    if others:
        found += imported_at(tracked.lines, others, 0, len(tracked.lines))
    for block in found:
        if not any(overlap(_place(block), _place(anchor)) for anchor in taken):
            yield dataclasses.replace(block, id=texts.get(block.id) or others[block.id])


def _without_block(store: HunkStore, tracked: TrackedDocument) -> dict[str, str]:
    """Return the ids of missing blocks that may come back, by hunk, except hunks in flight.

    The arrival of hunks in flight is recognised by the text.
    """
    return {
        anchor.hunk: store[anchor.hunk].block or anchor.hunk
        for anchor in tracked.anchors()
        if not isinstance(anchor, BlockAnchor) and anchor.hunk not in _in_flight_hunks(tracked)
    }


def _in_flight_hunks(tracked: TrackedDocument) -> Collection[str]:
    return tracked.in_flight.plan.texts if tracked.in_flight else ()


def _free_lines(
    store: HunkStore, tracked: TrackedDocument, blocks: Sequence[InlineBlock]
) -> list[Hunk]:
    """Remove other anchors from the lines of `blocks`, which were restored.

    Another anchor keeps the lines that equal its text, or as many lines as possible. The rest of
    another block is no longer a block: its hunk is then pending without a block.

    Args:
        store: All hunks.
        tracked: The document.
        blocks: The blocks in order of place.

    Returns:
        The hunks that are now pending without a block, to be saved.
    """
    folded = []
    stays = {block.id for block in blocks} | set(_in_flight_hunks(tracked))
    for anchor in tuple(tracked.live):
        taken = [block for block in blocks if overlap(_place(block), _place(anchor))]
        is_block = isinstance(anchor, BlockAnchor)
        if not taken or anchor.hunk in stays or (is_block and anchor.merged is not None):
            continue
        place, rest = _lines_without(tracked, anchor, taken), anchor
        if is_block:
            before, after = anchor.current, anchor.proposed
            place = place if before else (place[0], place[0])
            rest = Anchor(anchor.hunk, tracked.lines, place, before, after)
            hunk = as_block_hunk(store[anchor.hunk], before, after)
            folded.append(dataclasses.replace(hunk, inline=False))
        rest.restore_span(LineSpan(*place, anchor.span.is_lost), tracked.lines)
        replace_anchor(tracked, rest)
    return folded


def _lines_without(
    tracked: TrackedDocument, anchor: Anchor, taken: Sequence[InlineBlock]
) -> tuple[int, int]:
    """Return the lines that an anchor keeps if some of its lines belong to blocks."""
    starts = (anchor.first, *(block.end for block in taken))
    ends = (*(block.first for block in taken), anchor.end)
    free = [(first, end) for first, end in zip(starts, ends, strict=True) if first <= end]
    texts = (anchor.current, anchor.proposed)

    def worth(place: tuple[int, int]) -> tuple[bool, int]:
        first, end = place
        return end > first and "".join(tracked.lines[first:end]) in texts, end - first

    return max(free, key=worth, default=(taken[0].first, taken[0].first))


def _place(where: Anchor | InlineBlock) -> tuple[int, int]:
    return where.first, where.end


def _conflict_of_block(tracked: TrackedDocument, block: InlineBlock) -> Anchor | None:
    """Return the anchor of a conflict without the marks of its block, which was restored."""
    anchor = tracked.anchor(block.id)
    if anchor is None or anchor.merged is not None or anchor not in tracked.live:
        return None
    origin = copy(anchor)
    n_marks = block.end - block.first - len(whole_lines(block.before))
    origin.first = block.first
    origin.end = block.first + max(anchor.end - anchor.first - n_marks, 0)
    origin.current = block.before
    return origin
