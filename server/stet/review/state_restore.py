"""Hunks of an earlier run find their places in files that have moved on meanwhile."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from stet.review.hunk_store import HunkStore, is_line_hunk
from stet.review.inline.imported_hunks import mark_duplicate_ids
from stet.review.inline.inline_blocks import InlineBlocks
from stet.review.journal import AnchorSnapshot, NullJournal, RestoredState
from stet.review.proposal import LIVE, Hunk, HunkState, replace_hunk
from stet.review.rebase import catch_up, rebase_hunks
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.relocation import relocate
from stet.review.tracking.replay import replay_changes
from stet.review.tracking.tracked_document import TrackedDocument
from stet.review.tracking.tracked_span import LineSpan
from stet.text.diff import changes_between
from stet.text.document import TextDocument

_TAKEN = "something else was proposed in its place"
_WRITTEN = frozenset({HunkState.ACCEPTED, HunkState.UNDONE})
"""What would be written for these has stood there before."""
_FOLLOWED = LIVE | {
    HunkState.ACCEPTED,
    HunkState.REJECTED,
    HunkState.SUPERSEDED,
    HunkState.UNDONE,
}


def restore_hunks(store: HunkStore, restored: RestoredState, texts: Mapping[str, str]) -> None:
    """Take hunks of an earlier run, and follow their files to the text they have now.

    First by the difference to the text that was kept. A hunk that is in conflict then is looked for
    by its content, and moved if that stands elsewhere, once. A hunk whose text stands there already
    was on its way when the earlier run ended: it is accepted. Hunks that were made before the journal
    came back are left as they are, and in their places the old ones are superseded; so it is where
    two servers had hunks in one place. But a block that stands in the text is not superseded.

    Args:
        store: Where they go.
        restored: What the journal gives.
        texts: The current text of the files, by URI as the footings spell it; none for a file that
            is gone, and there nothing counts as accepted: lines that were to go went with the rest.
    """
    known = {hunk.id for hunk in store.all()}
    store.load(hunk for hunk in restored.hunks if hunk.id not in known)
    with store.batch():
        for snapshot in restored.anchor_snapshots:
            # What was noted with one text stands on a track of its own until it is where the others
            # are: several servers may have had the file open, each with a text of its own.
            there = store.detach(snapshot.uri)
            tracked = _restore_tracked(store, snapshot, known)
            text = texts.get(snapshot.uri)
            _rebase_restored(store, tracked, text)
            if there is not None:
                merge_tracked(store, tracked, there, text or "")
        for uri in {hunk.uri for hunk in restored.hunks}:
            store.notify(uri)


def open_with(store: HunkStore, tracked: TrackedDocument, lines: Sequence[str]) -> None:
    """Let the hunks of a file that was not open follow to the text that it is opened with."""
    changes = changes_between(tracked.text, "".join(lines))
    tracked.lines, tracked.is_open = lines, True
    rebase_hunks(store, tracked, changes, lines)
    tracked.undone.due.clear()  # what another program wrote is no undo


def copy_of(store: HunkStore, uri: str) -> HunkStore | None:
    """Return a store of its own with the hunks of a document and their places; None if it has none."""
    snapshot = store.anchor_snapshot(uri)
    if snapshot is None:
        return None
    copy = HunkStore(NullJournal())
    copy.load(store.of_file(uri))
    _restore_tracked(copy, snapshot, ()).is_open = True
    return copy


def _conflicts(tracked: TrackedDocument) -> set[str]:
    return {anchor.hunk for anchor in tracked.live if anchor.merged is None}


def _confirm_arrived(
    store: HunkStore, tracked: TrackedDocument, conflicts: Collection[str]
) -> None:
    """Accept hunks that have become conflicts, though what they would write stands in their place.

    Typed lines and an edit that reached the editor just before a server ended may come as one
    difference, which takes the hunk of that edit its place.

    Args:
        store: Has the hunks.
        tracked: Their file, with the text that was found.
        conflicts: The hunks that were conflicts before.
    """
    arrived, lines = [], tracked.lines
    for anchor in tuple(tracked.live):
        is_new = anchor.merged is None and anchor.hunk not in conflicts
        if not is_new or isinstance(anchor, BlockAnchor):
            continue
        place = anchor.find_text(lines, anchor.proposed)
        says_little = not any(map(str.isalnum, anchor.proposed))
        if place is None or says_little or anchor.find_text(lines, anchor.base) is not None:
            continue
        hunk, written = store[anchor.hunk], "".join(lines[place[0] : place[1]])
        arrived.append(
            replace_hunk(hunk, state=HunkState.ACCEPTED, old=anchor.base, new=written, reason="")
        )
        tracked.settle(Anchor(hunk.id, lines, place, written, anchor.base, was_written=True))
    store.save(*arrived, decision=True, stands=tracked.uri)
    if arrived:
        store.notify(tracked.uri)


def _rebase_restored(store: HunkStore, tracked: TrackedDocument, text: str | None) -> None:
    """Find the places that anchors which came back have in the text as it is now; None: it is gone."""
    InlineBlocks(store).apply_missing(tracked, text or "")
    conflicts = _conflicts(tracked)
    catch_up(store, tracked, text or "")
    if text is not None:
        _confirm_arrived(store, tracked, conflicts)
    for anchor in tuple(tracked.live):
        if anchor.merged is None and not isinstance(anchor, BlockAnchor):
            _relocate_lost(tracked, anchor)
    if text is not None:
        _confirm_written(store, tracked)


def _restore_tracked(
    store: HunkStore, snapshot: AnchorSnapshot, known: Collection[str]
) -> TrackedDocument:
    """Restore the track of a file with the persisted anchors, except the anchors of `known` hunks."""
    tracked = store.ensure_tracked(TextDocument(snapshot.uri, snapshot.text))
    lines = tracked.lines
    hunks = {hunk.id: hunk for hunk in store.of_file(snapshot.uri) if hunk.id not in known}
    for hunk_id, place in snapshot.lines.items():
        hunk = hunks.get(hunk_id)
        if hunk is None or not is_line_hunk(hunk) or hunk.state not in _FOLLOWED:
            continue
        base, proposed = _texts_of(hunk)
        within = _within(place, len(lines))
        anchor: Anchor
        if hunk.inline and hunk.state in LIVE:
            anchor = BlockAnchor(hunk.id, lines, within, base, proposed, hunk.block)
            if not _has_block_lines(tracked, anchor):
                # What was kept makes no sense: these lines are another hunk's.
                anchor = Anchor(hunk.id, lines, (within[0], within[0]), base, proposed)
                store.save(dataclasses.replace(hunk, inline=False))
        else:
            is_lost = hunk.id in snapshot.lost
            was_written = hunk.state in _WRITTEN
            anchor = Anchor(
                hunk.id, lines, within, base, proposed, is_lost=is_lost, was_written=was_written
            )
        if hunk.state in LIVE:
            tracked.add(anchor)
        else:
            tracked.settle(anchor)
        anchor.restore_span(anchor.span, lines)
    mark_duplicate_ids(tracked.live)
    return tracked


def _has_block_lines(tracked: TrackedDocument, block: BlockAnchor) -> bool:
    """Whether a block stands in the text that was kept, or what is left of it and of no other."""
    block.restore_span(block.span, tracked.lines)
    return block.merged is not None or not tracked.overlapping((block.first, block.end))


def merge_tracked(
    store: HunkStore, came_back: TrackedDocument, there: TrackedDocument, text: str
) -> None:
    """Go on with `there`, whose anchors stay, and with those of `came_back` beside them.

    Where both stand on the same lines, those of `came_back` are superseded.

    Args:
        store: Where the track of the file is `came_back`.
        came_back: Follows `text`, as the file reads now.
        there: The track that the file had before.
        text: All of it.
    """
    store.attach(there)
    if not there.is_open:
        catch_up(store, there, text)
    for effects, lines, _ in replay_changes(
        changes_between(came_back.text, there.text), there.lines
    ):
        came_back.lines = lines
        came_back.apply_changes(effects, lines)
    for anchor in came_back.live:
        others = there.overlapping((anchor.first, anchor.end))
        gone = [anchor] if others else []
        if others and all(_yields_to(store[other.hunk], other, anchor) for other in others):
            gone = others
        if anchor not in gone:
            there.add(anchor)
        for one in gone:
            there.drop(one.hunk)
            hunk = dataclasses.replace(store[one.hunk], state=HunkState.SUPERSEDED, reason=_TAKEN)
            store.save(hunk, stands=there.uri)
    for anchor in came_back.settled:
        there.settle(anchor)


def _yields_to(hunk: Hunk, anchor: Anchor, block: Anchor) -> bool:
    """Whether a hunk with this anchor gives way to a whole block that stands in the text there."""
    is_whole = isinstance(block, BlockAnchor) and block.merged is not None
    return is_whole and not isinstance(anchor, BlockAnchor) and hunk.state is HunkState.PENDING


def _texts_of(hunk: Hunk) -> tuple[str, str]:
    """Return the text that a hunk replaces and its replacement; reversed for an accepted hunk."""
    if hunk.state is HunkState.ACCEPTED:
        return hunk.new, hunk.old
    return hunk.old, hunk.new


def _within(place: tuple[int, int], n_lines: int) -> tuple[int, int]:
    first = min(max(place[0], 0), n_lines)
    return first, min(max(place[1], first), n_lines)


def _relocate_lost(tracked: TrackedDocument, anchor: Anchor) -> None:
    """Move a hunk whose lines are gone to where they stand now, if they do and nobody else is there."""
    place = None if anchor.current else relocate(anchor, tracked.lines)
    if place is not None and not tracked.overlapping(place):
        tracked.drop(anchor.hunk)
        anchor.restore_span(LineSpan(*place, is_lost=False), tracked.lines)
        tracked.add(anchor)


def _confirm_written(store: HunkStore, tracked: TrackedDocument) -> None:
    decided = []
    for anchor in tuple(tracked.live):
        # Of a new file without text no text tells.
        if anchor.is_done and (anchor.base or anchor.proposed):
            hunk = store[anchor.hunk]
            place, written, before = (anchor.first, anchor.end), anchor.current, anchor.base
            decided.append(
                dataclasses.replace(
                    hunk, state=HunkState.ACCEPTED, old=before, new=written, reason=""
                )
            )
            tracked.settle(Anchor(hunk.id, tracked.lines, place, written, before, was_written=True))
    store.save(*decided, decision=True, stands=tracked.uri)
