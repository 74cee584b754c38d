"""Import of blocks that another program has written into a note, as pending hunks.

The text is not changed by the import: the block is the hunk's place (`BlockAnchor`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from stet.review.hunk_store import HunkStore
from stet.review.policy.authorization import authorize_blocks
from stet.review.policy.rules import ProposalRefused
from stet.review.proposal import EditDraft, Hunk, new_hunk
from stet.review.tracking.anchor import BlockAnchor
from stet.review.tracking.tracked_span import range_of
from stet.text.block_codec import InlineBlock
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.stripped_document import SIGN, MalformedBlock, find_imported
from stet.workspace.snapshot import Snapshot

AUTHOR = "imported"
"""The author of hunks that were found in a file."""
_MAX_ID = 40
"""The code points of a block's id that are shown in a summary."""


@dataclass(frozen=True, slots=True)
class BlockDraft:
    """The blocks of a note after the policy check.

    Attributes:
        document: The text that contains the blocks.
        blocks: The blocks that may become hunks, in order of place.
        bad: The blocks that can't be parsed.
        caution: The reason why the user must approve this file by name; empty if there is none.
    """

    document: TextDocument
    blocks: tuple[InlineBlock, ...] = ()
    bad: tuple[MalformedBlock, ...] = ()
    caution: str = ""


def find_blocks_in(document: TextDocument, snapshot: Snapshot) -> BlockDraft:
    """Find the blocks of a note that other programs have written.

    This may read the disk, and takes seconds for a very long text: call it in a worker thread.
    """
    # Joining a very long text would take as much memory again.
    if not document.is_markdown or (not document.is_large and SIGN not in document.text):
        return BlockDraft(document)
    found = find_imported(document.lines)
    try:
        caution = authorize_blocks(snapshot, document, found.blocks)
    except ProposalRefused:
        return BlockDraft(document, bad=found.bad)
    return BlockDraft(document, found.blocks, found.bad, caution)


def import_blocks(store: HunkStore, draft: BlockDraft, now: TextDocument) -> bool:
    """Add a pending hunk for each block of a note that has no hunk yet.

    Args:
        store: The store for the hunks.
        draft: The blocks.
        now: The document, which may have changed since.

    Returns:
        Whether all blocks are in the current text; those that are have been imported.
    """
    found = [(block, _place_now(block, draft.document, now)) for block in draft.blocks]
    tracked = store.tracked(now.uri)
    placed = [(block, place) for block, place in found if place is not None]
    fresh = [one for one in placed if tracked is None or not tracked.overlapping(one[1])]
    if fresh and tracked is not None and tracked.in_flight is not None:
        return False  # the places are known only after the edit has arrived
    if fresh:
        tracked = store.ensure_tracked(now)
        hunks = _hunks(store, draft, fresh, now)
        for hunk, (block, place) in zip(hunks, fresh, strict=True):
            anchor = BlockAnchor(
                hunk.id, tracked.lines, place, block.before, block.after, hunk.block
            )
            tracked.add(anchor)
            anchor.restore_span(anchor.span, tracked.lines)
        mark_duplicate_ids(tracked.live)
        store.register(hunks)
        store.save(*hunks, anchors_of=now.uri)
        store.notify(now.uri)
    return len(placed) == len(found)


def mark_duplicate_ids(anchors: Iterable[object]) -> None:
    """Set `is_alone` of the imported blocks of a text: whether their id is unique."""
    blocks = [anchor for anchor in anchors if isinstance(anchor, BlockAnchor) and anchor.block]
    counts = Counter(anchor.block for anchor in blocks)
    for anchor in blocks:
        anchor.is_alone = counts[anchor.block] == 1


def _place_now(block: InlineBlock, then: TextDocument, now: TextDocument) -> tuple[int, int] | None:
    """Return the present lines of a block of an earlier text; None if not in a likely place."""
    lines = then.lines[block.first : block.end]
    for shift in {0, len(now.lines) - len(then.lines)}:
        first = block.first + shift
        if first >= 0 and now.lines[first : first + len(lines)] == lines:
            return first, first + len(lines)
    return None


def _hunks(
    store: HunkStore,
    draft: BlockDraft,
    fresh: Sequence[tuple[InlineBlock, tuple[int, int]]],
    now: TextDocument,
) -> list[Hunk]:
    proposal = store.proposal_id("", now.uri)
    first = store.journal.number("hunk", len(fresh))
    source = EditDraft(turn="", author=AUTHOR, name="", summary="", document=now, edit=TextEdit(()))
    hunks = []
    for nth, (block, place) in enumerate(fresh, first):
        lines = range_of(now.lines, *place)
        hunk = replace(
            new_hunk(source, lines, block.before, block.after, draft.caution),
            id=f"h{nth}",
            proposal=proposal,
            summary=f"Imported from the file: {block.id[:_MAX_ID]}",
            group=f"{proposal}@h{nth}",
            inline=True,
            block=block.id,
        )
        hunks.append(hunk)
    return hunks
