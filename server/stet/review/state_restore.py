"""Hunks whose file has changed while it was not tracked, and hunks after a restart.

- `prepare_restore` finds the places of an earlier run's hunks in the current texts, in a thread,
  and `install_restored` adds the hunks to the ledger. `open_with` moves the hunks of a file that is
  opened.
- `restore_undo_texts` records texts around the last accepted hunks, because the editor keeps its
  undo history when the server ends. For this, hunks are undone, or accepted again, one by one on a
  copy.
- `rename_file` moves hunks to a file's new name, where another file may have hunks.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter

from stet.review.errors import UndoConflict
from stet.review.hunk_store import (
    HunkStore,
    is_line_hunk,
    note_text,
    settle_accepted,
)
from stet.review.inline.imported_hunks import mark_duplicate_ids
from stet.review.inline.inline_blocks import InlineBlocks
from stet.review.journal import AnchorSnapshot, NullJournal, RestoredState
from stet.review.outbox import Outbox
from stet.review.proposal import LIVE, OPEN, UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState
from stet.review.rebase import catch_up, follow_editor, rebase_hunks, reopen_undone
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.relocation import relocate
from stet.review.tracking.replay import replay_changes
from stet.review.tracking.tracked_document import TrackedDocument
from stet.review.tracking.tracked_span import LineSpan
from stet.review.tracking.undo_detection import TextStates
from stet.text.buffer import TextBuffer
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.workspace.uris import canonical

_TAKEN = "replaced by another proposal"
_WRITTEN = frozenset({HunkState.ACCEPTED, HunkState.UNDONE})
"""The states of hunks whose proposed text was in the file before."""
_FOLLOWED = LIVE | {HunkState.ACCEPTED, HunkState.REJECTED, HunkState.SUPERSEDED, HunkState.UNDONE}
_MOVED = "its file was renamed: accept it again"
_REPLACED = "another file has this name now"
MAX_STEPS = 4
"""The most hunks that are undone, and that are accepted again, on the copy."""
MAX_LINES = 2_000
"""The most lines of a text with such steps, because each blocks the event loop."""
_PLACE = attrgetter("first", "end")


@dataclass(slots=True)
class _SavedHunks(NullJournal):
    """A journal that records hunks instead of persisting them.

    Attributes:
        hunks: The last state of each hunk, by id.
        anchored: The canonical URIs of the files whose texts are to be persisted too.
        is_decision: Whether one of the hunks was decided.
    """

    hunks: dict[str, Hunk] = field(default_factory=dict)
    anchored: set[str] = field(default_factory=set)
    is_decision: bool = False

    def persist(
        self, hunks: Sequence[Hunk], *snapshots: AnchorSnapshot, decision: bool = False
    ) -> None:
        """Record hunks, to be persisted later."""
        self.hunks.update((hunk.id, hunk) for hunk in hunks)
        self.anchored.update(canonical(snapshot.uri) for snapshot in snapshots)
        self.is_decision |= decision


@dataclass(frozen=True, slots=True)
class PreparedRestore:
    """Hunks of an earlier run with their places, not in the ledger yet.

    Attributes:
        restored: The state that was loaded from the journal.
        texts: The texts of the files in which the places were found.
        store: A store of the hunks and their places.
        saved: The hunks that have to be persisted.
    """

    restored: RestoredState
    texts: Mapping[str, str]
    store: HunkStore
    saved: _SavedHunks


def prepare_restore(
    restored: RestoredState, texts: Mapping[str, str], known: Collection[str]
) -> PreparedRestore:
    """Find the places of an earlier run's hunks in the current texts. May run in a thread.

    The hunks follow the difference from the persisted text. A hunk that is then in conflict is
    searched by its content, and moved if the content is found once. A hunk whose new text is in its
    place was in flight when the earlier run ended: it is accepted.

    Args:
        restored: The state that was loaded from the journal.
        texts: The current texts of the files, by URI in the snapshots' spelling, without files that
            do not exist: their hunks are not accepted, even if the lines to be deleted no longer
            exist.
        known: The ids of the hunks in the ledger, which are not changed.
    """
    saved = _SavedHunks()
    store = HunkStore(saved)
    store.load(hunk for hunk in restored.hunks if hunk.id not in known)
    with store.batch():
        for snapshot in restored.anchor_snapshots:
            # Each snapshot has a separate `TrackedDocument` until it has followed to the current
            # text: several servers may have had the file open, each with another text.
            there = store.detach(snapshot.uri)
            tracked = _restore_tracked(store, snapshot, known)
            text = texts.get(snapshot.uri)
            _rebase_restored(store, tracked, text)
            if there is not None:
                merge_tracked(store, tracked, there, text or "")
    return PreparedRestore(restored, texts, store, saved)


def install_restored(store: HunkStore, prepared: PreparedRestore) -> None:
    """Add the hunks of an earlier run to a store.

    Hunks that were created before the journal was loaded are not changed, and supersede restored
    hunks in their places; so do hunks of another server. A block that is in the text is not
    superseded.

    Args:
        store: The store to which the hunks are added.
        prepared: The hunks, which then belong to `store`.
    """
    known = {hunk.id for hunk in store.all()}
    store.load(hunk for hunk in prepared.restored.hunks if hunk.id not in known)
    texts = {canonical(uri): text for uri, text in prepared.texts.items()}
    with store.batch():
        for hunk in prepared.store.all():
            if hunk.id not in known and hunk != store[hunk.id]:
                store.set_transient(hunk)
        for tracked in tuple(prepared.store.tracks()):
            there = store.detach(tracked.uri)
            store.attach(tracked)
            if there is not None:
                merge_tracked(store, tracked, there, texts.get(canonical(tracked.uri), ""))
        for hunk in sorted(prepared.saved.hunks.values(), key=lambda one: one.changed):
            anchors_of = hunk.uri if canonical(hunk.uri) in prepared.saved.anchored else None
            store.save(store[hunk.id], decision=prepared.saved.is_decision, anchors_of=anchors_of)
        for uri in {hunk.uri for hunk in prepared.restored.hunks}:
            store.notify(uri)


def open_with(
    store: HunkStore,
    tracked: TrackedDocument,
    lines: Sequence[str],
    changes: Sequence[TextChange] | None = None,
) -> None:
    """Move the hunks of a file to the text with which the file is opened.

    Args:
        store: All hunks.
        tracked: The file.
        lines: The lines of the text.
        changes: The changes from the text of the hunks; None to compute them.
    """
    if changes is None:
        changes = changes_between(tracked.text, "".join(lines))
    tracked.lines, tracked.is_open = lines, True
    rebase_hunks(store, tracked, changes, lines)
    tracked.undone.due.clear()  # a change by another program is no undo


def copy_of(store: HunkStore, uri: str) -> HunkStore | None:
    """Return a store with copies of one document's hunks; None if there are no hunks."""
    snapshot = store.anchor_snapshot(uri)
    if snapshot is None:
        return None
    copy = HunkStore(NullJournal())
    copy.load(store.of_file(uri))
    _restore_tracked(copy, snapshot, ()).is_open = True
    return copy


def _confirm_arrived(
    store: HunkStore, tracked: TrackedDocument, conflicts: Collection[str]
) -> None:
    """Accept hunks that are newly in conflict although their new text is in their place.

    Typed lines and an edit that reached the editor just before a server ended may be one
    difference, which removes the place of the edit's hunk.

    Args:
        store: The store of the hunks.
        tracked: The file of the hunks, with the current text.
        conflicts: The hunks that were in conflict before.
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
        written = "".join(lines[place[0] : place[1]])
        arrived.append(settle_accepted(tracked, store[anchor.hunk], place, anchor.base, written))
    store.save(*arrived, decision=True, anchors_of=tracked.uri)
    if arrived:
        store.notify(tracked.uri)


def _rebase_restored(store: HunkStore, tracked: TrackedDocument, text: str | None) -> None:
    """Find the places of restored anchors in `text`, which is None without a file."""
    InlineBlocks(store).apply_missing(tracked, text or "")
    conflicts = {anchor.hunk for anchor in tracked.live if anchor.merged is None}
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
    """Create the `TrackedDocument` of a snapshot with its anchors, except of `known` hunks."""
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
                # The snapshot is invalid: these lines belong to another hunk.
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
    """Return whether a block is in the persisted text, or its rest without another block's."""
    block.restore_span(block.span, tracked.lines)
    return block.merged is not None or not tracked.overlapping((block.first, block.end))


def merge_tracked(
    store: HunkStore, restored: TrackedDocument, there: TrackedDocument, text: str
) -> None:
    """Add the anchors of `restored` to `there`, which is attached to the store again.

    Hunks of `restored` on the same lines as others are superseded.

    Args:
        store: The store, in which `restored` is the file's `TrackedDocument`.
        restored: The restored `TrackedDocument`, which has followed to `text`.
        there: The earlier `TrackedDocument` of the file.
        text: The current text of the file.
    """
    store.attach(there)
    if not there.is_open:
        catch_up(store, there, text)
    for effects, lines, _ in replay_changes(
        changes_between(restored.text, there.text), there.lines
    ):
        restored.lines = lines
        restored.apply_changes(effects, lines)
    for anchor in restored.live:
        others = there.overlapping((anchor.first, anchor.end))
        gone = [anchor] if others else []
        if others and all(_yields_to(store[other.hunk], other, anchor) for other in others):
            gone = others
        if anchor not in gone:
            there.add(anchor)
        for one in gone:
            there.drop(one.hunk)
            hunk = dataclasses.replace(store[one.hunk], state=HunkState.SUPERSEDED, reason=_TAKEN)
            store.save(hunk, anchors_of=there.uri)
    for anchor in restored.settled:
        there.settle(anchor)


def _yields_to(hunk: Hunk, anchor: Anchor, block: Anchor) -> bool:
    """Return whether a hunk is superseded by a whole block in the same place."""
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
    """Move a hunk whose lines were removed to the same lines elsewhere, unless a hunk is there."""
    place = None if anchor.current else relocate(anchor, tracked.lines)
    if place is not None and not tracked.overlapping(place):
        tracked.drop(anchor.hunk)
        anchor.restore_span(LineSpan(*place, is_lost=False), tracked.lines)
        tracked.add(anchor)


def _confirm_written(store: HunkStore, tracked: TrackedDocument) -> None:
    decided = []
    for anchor in tuple(tracked.live):
        # The text does not show whether an empty new file was created.
        if anchor.is_done and (anchor.base or anchor.proposed):
            hunk, place = store[anchor.hunk], (anchor.first, anchor.end)
            decided.append(settle_accepted(tracked, hunk, place, anchor.base, anchor.current))
    store.save(*decided, decision=True, anchors_of=tracked.uri)


def rename_file(
    store: HunkStore, outbox: Outbox, uri: str, new_uri: str, *, with_folder: bool = False
) -> None:
    """Move the hunks of a file after its rename from `uri` to `new_uri`.

    Hunks of a file that had the new name before follow to its current text, as if that file had
    been written; a pending move or removal of that file is superseded. A new file to be created as
    `uri` is another file, whose name is free now. The file may be renamed `with_folder`, its
    folder.
    """
    for one, reason in ((uri, _MOVED), (new_uri, _REPLACED)):
        # An edit in flight is for a document that no longer exists; a late arrival is recognised.
        outbox.cancel(one, reason)
    moved, there = store.tracked(uri), store.tracked(new_uri)
    # An editor may report a move that Stet has requested: then all hunks have moved already.
    if moved is not None or store.hunks_to_rename(uri, new_uri, with_folder=with_folder):
        _drop_whole(store, new_uri)
    to_make = [] if moved is None else _detach_new(store, moved)
    if moved is None or there is None:
        store.renamed(uri, new_uri, with_folder=with_folder)
    else:
        InlineBlocks(store).apply_missing(there, moved.text)
        catch_up(store, there, moved.text)
        _ = store.detach(new_uri)
        store.renamed(uri, new_uri, with_folder=with_folder)
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
    """Remove and return the new files, not created yet, that have the name of this file."""
    hunks = [store[anchor.hunk] for anchor in tracked.anchors()]
    found = [hunk for hunk in hunks if hunk.kind is HunkKind.CREATE and hunk.is_of_absent_file]
    for hunk in found:
        tracked.drop(hunk.id)
    return found


def _wait_for_file(store: HunkStore, hunk: Hunk) -> None:
    """Track a new file that does not exist yet, or was undone, under its name again."""
    tracked = store.ensure_tracked(TextDocument(hunk.uri, ""))
    anchor = Anchor(hunk.id, tracked.lines, (0, 0), "", hunk.new)
    if hunk.state in LIVE:
        tracked.add(anchor)
    else:
        tracked.settle(anchor)


def restore_undo_texts(store: HunkStore, tracked: TrackedDocument) -> None:
    """Record the texts around the last accepted hunks of a document.

    If the document has recorded texts already, only the current text is recorded: the document was
    closed, and its hunks may have reached this text by another way than the editor's undo.

    Args:
        store: All hunks.
        tracked: The document, which has just been opened.
    """
    if tracked.undone.texts:
        note_text(store, tracked)
        return
    if tracked.in_flight or len(tracked.lines) > MAX_LINES or store.has_blocks(tracked.uri):
        return
    hunks = [store[anchor.hunk] for anchor in (*tracked.live, *tracked.settled)]
    undone = [
        one for one in hunks if one.state is HunkState.PENDING and one.reason == UNDONE_IN_EDITOR
    ]
    # The difference is enough for a hunk that touches no other hunk.
    accepted = [one for one in hunks if one.state is HunkState.ACCEPTED] if _touch(tracked) else []
    for chain, back in ((undone, False), (accepted, True)):
        # The last undone hunk is redone first, and the last accepted hunk is undone first.
        latest = sorted(chain, key=lambda one: -one.changed)[:MAX_STEPS]
        if latest and (copy := copy_of(store, tracked.uri)) is not None:
            tracked.undone.texts.adopt(_texts_between(copy, latest, back=back), tracked.lines)


def _touch(tracked: TrackedDocument) -> bool:
    """Return whether any hunks of a document touch each other."""
    in_order = sorted(tracked.anchors(), key=_PLACE)
    return any(one.end >= other.first for one, other in pairwise(in_order))


def _texts_between(store: HunkStore, hunks: Sequence[Hunk], *, back: bool) -> TextStates:
    """Return the texts of a document while its hunks are accepted or undone one by one.

    Args:
        store: A copy of the store, whose hunks are changed.
        hunks: The hunks in the order of the steps.
        back: Whether the hunks are undone.
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
            # Several insertions may be at one point now, in their order before.
            tracked.live.sort(key=lambda one: (*_PLACE(one), ranks[one.hunk]))
            note_text(store, tracked)
    return tracked.undone.texts
