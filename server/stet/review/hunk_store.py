"""The store of all hunks and their places, which persists them."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stet.review.errors import UnknownHunk
from stet.review.journal import AnchorSnapshot, Journal
from stet.review.proposal import (
    LIVE,
    WHOLE_FILE,
    Hunk,
    HunkKind,
    HunkState,
    Proposal,
    replace_hunk,
)
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.tracked_document import TrackedDocument
from stet.review.tracking.undo_detection import HunkInText
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

TOP = Range(Position(0, 0), Position(0, 0))
_BROKEN = "its block in the text is incomplete: finish your edit there, or undo it"
_WRITTEN_OVER = "you edited this text"
_FEW_PENDING = 200
"""The most pending hunks that are all recorded with a text; else only those of recent edits."""


@dataclass(slots=True)
class _PendingWrites:
    """Hunks to be persisted, and documents to be notified, together.

    Attributes:
        hunks: The latest state of each hunk, by id.
        anchored: The canonical URIs of files whose anchor snapshots are to be persisted.
        changed_uris: The files that have changed.
        decision: Whether the user has decided.
    """

    hunks: dict[str, Hunk] = field(default_factory=dict)
    anchored: set[str] = field(default_factory=set)
    changed_uris: dict[str, None] = field(default_factory=dict)
    decision: bool = False


class HunkStore:
    """All hunks of one server; owned by the ledger, used on the event loop only.

    Attributes:
        journal: Persists hunks.
        proposals: All proposals, by id.
        inline: By canonical URI, the hunks whose blocks are in the text or may come back by an undo
            in the editor, except imported blocks, which are recognised by their form. The mapping
            is replaced when it changes, so it may be used as a snapshot.
    """

    def __init__(self, journal: Journal) -> None:
        """Create a store without hunks."""
        self.journal = journal
        self.proposals: dict[str, Proposal] = {}
        self.inline: Mapping[str, frozenset[str]] = {}
        self._hunks: dict[str, Hunk] = {}
        self._files: dict[str, dict[str, None]] = {}
        self._with_blocks: set[str] = set()
        self._tracks: dict[str, TrackedDocument] = {}
        self._views: dict[str, tuple[tuple[object, ...], Hunk]] = {}
        self._due: _PendingWrites | None = None
        self._listeners: list[Callable[[str], None]] = []
        self._last_change = 0

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the URI of every document whose hunks have changed."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[str], None]) -> None:
        """Stop calling `listener`."""
        self._listeners.remove(listener)

    def notify(self, uri: str) -> None:
        """Call the listeners with the URI of a document whose hunks have changed."""
        if self._due is not None:
            self._due.changed_uris[uri] = None
            return
        for listener in tuple(self._listeners):
            listener(uri)

    @contextmanager
    def batch(self) -> Iterator[_PendingWrites]:
        """Create or decide many hunks within: all are persisted and notified at the end."""
        if self._due is not None:
            yield self._due
            return
        self._due = due = _PendingWrites()
        try:
            yield due
        finally:
            self._due = None
            snapshots = [one for uri in due.anchored if (one := self.anchor_snapshot(uri))]
            if due.hunks or snapshots:
                self.journal.persist(tuple(due.hunks.values()), *snapshots, decision=due.decision)
            for uri in due.changed_uris:
                self.notify(uri)

    # -- hunks -----------------------------------------------------------------------------------

    def __getitem__(self, hunk_id: str) -> Hunk:
        """Return the stored hunk; `old` and `new` are the texts that its anchor was made from.

        Raises:
            UnknownHunk: If there is no such hunk.
        """
        if (hunk := self._hunks.get(hunk_id)) is None:
            raise UnknownHunk(hunk_id, tuple(self._hunks))
        return hunk

    def __contains__(self, hunk_id: str) -> bool:
        return hunk_id in self._hunks

    def current(self, hunk: Hunk) -> Hunk:
        """Return `hunk` with its place, texts and state in the current text of its document."""
        tracked = self._tracks.get(canonical(hunk.uri))
        anchor = tracked.anchor(hunk.id) if tracked else None
        if tracked is None or anchor is None:
            self._views.pop(hunk.id, None)
            return hunk
        lines = tracked.lines
        # Only a place after the last line depends on the text itself.
        last_line = (len(lines), len(lines[-1])) if anchor.end >= len(lines) else None
        old = anchor.text_now(lines)
        seen = (
            hunk, anchor.first, anchor.end, last_line,
            old, anchor.merged, anchor.proposed, anchor.is_mixed,
        )  # fmt: skip
        if (last := self._views.get(hunk.id)) is not None and last[0] == seen:
            return last[1]
        view = _seen_at(hunk, anchor, anchor.range_in(lines), old)
        self._views[hunk.id] = seen, view
        return view

    def of_file(self, uri: str) -> list[Hunk]:
        """Return the stored hunks of a file, in the order of their creation."""
        return [self._hunks[hunk_id] for hunk_id in self._files.get(canonical(uri), ())]

    def all(self) -> Iterable[Hunk]:
        """Return all stored hunks, in the order of their creation."""
        return self._hunks.values()

    def files(self) -> Iterable[str]:
        """Return the canonical URIs of all files with hunks."""
        return self._files

    def save(self, *hunks: Hunk, decision: bool = False, anchors_of: str | None = None) -> None:
        """Store and persist hunks; their state counts as changed.

        Args:
            hunks: New or changed hunks.
            decision: Whether the user has decided.
            anchors_of: The file whose anchor snapshot is to be persisted with them.
        """
        changed_hunks = []
        for hunk in hunks:
            self._last_change += 1
            changed = replace_hunk(hunk, changed=self._last_change)
            self._insert(changed)
            changed_hunks.append(changed)
        if changed_hunks:
            self._persist(changed_hunks, anchors_of, decision=decision)

    def _persist(
        self, hunks: Sequence[Hunk], anchors_of: str | None, *, decision: bool = False
    ) -> None:
        """Persist hunks, now or at the end of the batch."""
        with self.batch() as due:
            due.hunks.update((hunk.id, hunk) for hunk in hunks)
            due.anchored |= {canonical(anchors_of)} if anchors_of else set()
            due.decision |= decision

    def set_transient(self, *hunks: Hunk) -> None:
        """Store hunks without persisting them."""
        for hunk in hunks:
            self._insert(hunk)

    def save_transient(self, hunk: Hunk) -> None:
        """Store and persist a hunk, so that it survives a kill; its state counts as unchanged."""
        self._insert(hunk)
        self._persist([hunk], None)

    def close_hunk(self, hunk: Hunk, state: HunkState, reason: str) -> Hunk:
        """Close a live hunk and return the hunk to `save`. A superseded hunk can be restored."""
        tracked = self.tracked(hunk.uri)
        anchor = tracked.anchor(hunk.id) if tracked else None
        is_saved = state is HunkState.SUPERSEDED and anchor is not None
        if tracked is not None and is_saved and not isinstance(anchor, BlockAnchor):
            tracked.settle_in_place(hunk.id)
            return replace_hunk(hunk, state=state, reason=reason)
        last = self.current(hunk)
        if tracked is not None:
            tracked.drop(hunk.id)
        return replace_hunk(last, state=state, reason=reason)

    def load(self, hunks: Iterable[Hunk]) -> None:
        """Store the hunks of an earlier run as they were persisted."""
        hunks = tuple(hunks)
        for hunk in hunks:
            self._last_change = max(self._last_change, hunk.changed)
            self._insert(hunk)
        self.register(hunks)

    def _insert(self, hunk: Hunk) -> None:
        self._hunks[hunk.id] = hunk
        key = canonical(hunk.uri)
        self._files.setdefault(key, {})[hunk.id] = None
        if not hunk.inline:
            return
        self._with_blocks.add(key)
        if not hunk.block and hunk.id not in (known := self.inline.get(key, frozenset())):
            self.inline = {**self.inline, key: known | {hunk.id}}

    def has_blocks(self, uri: str) -> bool:
        """Return whether a hunk of a file is or was shown as a block."""
        return canonical(uri) in self._with_blocks

    def register(self, hunks: Iterable[Hunk], uri: str = "") -> None:
        """Add hunks to their proposals; a new proposal is for `uri`, or else the hunk's file."""
        members: dict[str, dict[str, None]] = {}
        for hunk in hunks:
            if (ids := members.get(hunk.proposal)) is None:
                proposal = self.proposals.get(hunk.proposal) or Proposal(
                    id=hunk.proposal, turn=hunk.turn, uri=uri or hunk.uri, hunks=()
                )
                self.proposals[proposal.id] = proposal
                ids = members[proposal.id] = dict.fromkeys(proposal.hunks)
            ids[hunk.id] = None
        for proposal_id, ids in members.items():
            proposal = self.proposals[proposal_id]
            self.proposals[proposal_id] = dataclasses.replace(proposal, hunks=tuple(ids))

    def proposal_id(self, turn: str, uri: str) -> str:
        """Return the id of the proposal of `turn` for a file: the existing id, or a new one."""
        for proposal in self.proposals.values():
            if proposal.turn == turn and canonical(proposal.uri) == canonical(uri):
                return proposal.id
        return f"p{self.journal.number('proposal')}"

    # -- places ----------------------------------------------------------------------------------

    def tracked(self, uri: str) -> TrackedDocument | None:
        """Return the `TrackedDocument` of a file; None if the file has no hunks of lines."""
        return self._tracks.get(canonical(uri))

    def is_on_its_way(self, hunk_id: str) -> bool:
        """Return whether an edit of a hunk is in flight.

        The state does not show this: during the insertion of its block a hunk is pending.
        """
        tracked = self.tracked(self[hunk_id].uri)
        return (
            tracked is not None
            and tracked.in_flight is not None
            and hunk_id in tracked.in_flight.plan.texts
        )

    def tracks(self) -> Iterable[TrackedDocument]:
        """Return all tracked documents."""
        return self._tracks.values()

    def ensure_tracked(self, document: TextDocument) -> TrackedDocument:
        """Return the `TrackedDocument` of a document; create it if missing."""
        tracked = self._tracks.get(canonical(document.uri))
        if tracked is None:
            is_open = document.version is not None
            tracked = TrackedDocument(document.uri, document.lines, is_open=is_open)
            self._tracks[canonical(document.uri)] = tracked
        return tracked

    def detach(self, uri: str) -> TrackedDocument | None:
        """Remove and return the `TrackedDocument` of a file, if any."""
        return self._tracks.pop(canonical(uri), None)

    def attach(self, tracked: TrackedDocument) -> None:
        """Make `tracked` the `TrackedDocument` of its file."""
        self._tracks[canonical(tracked.uri)] = tracked

    def anchor_snapshot(self, uri: str) -> AnchorSnapshot | None:
        """Return the text of a document and the places of its hunks; None if there are no hunks."""
        tracked = self.tracked(uri)
        if tracked is None:
            return None
        # In order of place: this is also the order of hunks at one point.
        spans = {anchor.hunk: anchor.span for anchor in (*tracked.live, *tracked.settled)}
        if not spans:
            return None
        lost = frozenset(hunk for hunk, place in spans.items() if place.is_lost)
        places = {hunk: (place.first, place.end) for hunk, place in spans.items()}
        return AnchorSnapshot(tracked.uri, tracked.text, places, lost)

    def hunks_to_rename(self, uri: str, new_uri: str, *, with_folder: bool) -> list[Hunk]:
        """Return the hunks of a file `uri` that move to `new_uri` when the file is renamed.

        The move that renames the file keeps its names, which its undo needs. A hunk of another file
        that had the name before, or is to have it, keeps its name too. An accepted move is one of
        them, unless a folder is renamed and no file in it has got the old name: then the undo of
        the move leads to the folder's new name.
        """
        hunks, key = self.of_file(uri), canonical(new_uri)
        others = [hunk for hunk in hunks if canonical(hunk.new_uri) != key]
        present = [hunk for hunk in others if not hunk.is_of_absent_file]
        of_present_file = [hunk for hunk in present if not hunk.has_moved_away]
        is_free = with_folder and not of_present_file and len(others) == len(hunks)
        return present if is_free else of_present_file

    def renamed(self, uri: str, new_uri: str, *, with_folder: bool) -> None:
        """Handle the rename of a file, or of its folder: move its hunks to the new name."""
        old_key, key = canonical(uri), canonical(new_uri)
        to_move = self.hunks_to_rename(uri, new_uri, with_folder=with_folder)
        moved = [replace_hunk(hunk, uri=new_uri) for hunk in to_move]
        ids = self._files.pop(old_key, {})
        for hunk in moved:
            del ids[hunk.id]
        if ids:
            self._files[old_key] = ids
        for hunk in moved:
            self._insert(hunk)
        if tracked := self._tracks.pop(old_key, None):
            tracked.uri = new_uri
            self._tracks[key] = tracked
        if moved:
            self._persist(moved, new_uri)


def _seen_at(hunk: Hunk, anchor: Anchor, place: Range, old: str) -> Hunk:
    """Return `hunk` with the state and texts of its anchor, at `place` with the text `old`."""
    if hunk.state not in LIVE:
        return hunk if hunk.range == place else replace_hunk(hunk, range=place)
    state, new, reason = hunk.state, anchor.merged, hunk.reason
    if new is None:
        new = anchor.theirs
        if state is HunkState.PENDING:
            broken = isinstance(anchor, BlockAnchor)
            state = HunkState.CONFLICT
            if not (hunk.replaces and reason):
                reason = _BROKEN if broken else _WRITTEN_OVER
    if (place, old, new, state) == (hunk.range, hunk.old, hunk.new, hunk.state):
        return hunk
    return replace_hunk(
        hunk,
        range=place,
        old=old,
        new=new,
        state=state,
        mixed=anchor.merged is not None and anchor.is_mixed,
        reason=reason,
    )


def is_line_hunk(hunk: Hunk) -> bool:
    """Return whether a hunk has lines in its file, now or after an accept."""
    return hunk.kind is HunkKind.CREATE or hunk.kind not in WHOLE_FILE


def settle_accepted(
    tracked: TrackedDocument, hunk: Hunk, place: tuple[int, int], before: str, written: str
) -> Hunk:
    """Settle a hunk whose text `written` is on lines `place` instead of `before`.

    Returns:
        The accepted hunk, to be saved.
    """
    tracked.settle_written(hunk.id, place, written, before)
    return replace_hunk(hunk, state=HunkState.ACCEPTED, old=before, new=written, reason="")


def note_text(store: HunkStore, tracked: TrackedDocument, edited: Iterable[str] = ()) -> None:
    """Record the current text of a document, with the states and places of its hunks.

    Args:
        store: All hunks.
        tracked: The document.
        edited: The hunks whose edit is sent now.
    """
    texts = tracked.undone.texts
    texts.add_edited(edited)
    texts.note(tracked.lines, hunks_in_text(store, tracked))


def hunks_in_text(store: HunkStore, tracked: TrackedDocument) -> list[HunkInText]:
    """Return the hunks that are recorded with a text, pending hunks in their order."""
    return [
        HunkInText(hunk, hunk.state is HunkState.ACCEPTED, one.first, one.end, hash(one.current))
        for one in _noted_anchors(tracked)
        if one.merged is not None
        and not one.span.is_lost
        and not isinstance(one, BlockAnchor)
        and (hunk := store[one.hunk]).kind is not HunkKind.CREATE
        and not hunk.inline
        and (hunk.state is HunkState.ACCEPTED or hunk.state in LIVE)
    ]


def _noted_anchors(tracked: TrackedDocument) -> Iterator[Anchor]:
    """Yield the anchors of the hunks that may be recorded."""
    edited = tracked.undone.texts.edited
    is_few = len(tracked.live) <= _FEW_PENDING
    known = {one.hunk for one in tracked.live if is_few or one.hunk in edited}
    yield from (one for one in tracked.live if one.hunk in known)
    for hunk in edited:
        if hunk not in known and (anchor := tracked.anchor(hunk)) is not None:
            yield anchor
