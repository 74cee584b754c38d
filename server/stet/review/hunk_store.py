"""All hunks, their places, and what is persisted of them: the ledger's memory."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stet.review.errors import UnknownHunk
from stet.review.journal import AnchorSnapshot, Journal
from stet.review.proposal import LIVE, WHOLE_FILE, Hunk, HunkKind, HunkState, Proposal, replace_hunk
from stet.review.tracking.anchor import Anchor, BlockAnchor
from stet.review.tracking.tracked_document import TrackedDocument
from stet.review.tracking.tracked_span import text_hash
from stet.review.tracking.undo_detection import HunkInText
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

TOP = Range(Position(0, 0), Position(0, 0))
_BROKEN = "its block in the text is no longer whole: finish there what you began, or undo it"
_WRITTEN_OVER = "you have changed the text it was made for"

_FEW_PENDING = 200
"""If no more hunks than this are pending, all of them are noted; else those of recent edits."""


@dataclass(slots=True)
class _PendingWrites:
    """What is to be kept and told together.

    Attributes:
        hunks: The latest of each, by id.
        stands: The canonical URIs of files whose places are to be kept.
        changed_uris: The files that have changed.
        decision: Whether the user has decided.
    """

    hunks: dict[str, Hunk] = field(default_factory=dict)
    stands: set[str] = field(default_factory=set)
    changed_uris: dict[str, None] = field(default_factory=dict)
    decision: bool = False

    def add(self, hunks: Iterable[Hunk], stands: str | None, *, decision: bool) -> None:
        """As `HunkStore.save` has it."""
        self.hunks.update((hunk.id, hunk) for hunk in hunks)
        self.stands |= {canonical(stands)} if stands else set()
        self.decision |= decision


class HunkStore:
    """Owned by the ledger; touched on the event loop only.

    Attributes:
        journal: What outlives the process.
        proposals: All of them, by id.
        inline: By canonical URI, the hunks whose blocks stand in the text, or may come back to it by
            the editor's undo. Replaced when it changes, so it may be kept as a snapshot. Not those whose
            blocks another program has written: these are known by their shape.
    """

    def __init__(self, journal: Journal) -> None:
        """Nothing is proposed yet."""
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

    def notify(self, uri: str) -> None:
        """Tell the listeners."""
        if self._due is not None:
            self._due.changed_uris[uri] = None
            return
        for listener in self._listeners:
            listener(uri)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Within, many hunks are made or decided: at the end they are kept at once, and told of file
        by file.
        """
        if self._due is not None:
            yield
            return
        self._due = due = _PendingWrites()
        try:
            yield
        finally:
            self._due = None
            snapshots = self._anchor_snapshots(due.stands)
            if due.hunks or snapshots:
                self.journal.keep(tuple(due.hunks.values()), *snapshots, decision=due.decision)
            for uri in due.changed_uris:
                self.notify(uri)

    # -- hunks -----------------------------------------------------------------------------------

    def __getitem__(self, hunk_id: str) -> Hunk:
        """Return the stored hunk; `old` and `new` are the texts that its anchor was made of.

        Raises:
            UnknownHunk: If there is none.
        """
        if (hunk := self._hunks.get(hunk_id)) is None:
            raise UnknownHunk(hunk_id, tuple(self._hunks))
        return hunk

    def __contains__(self, hunk_id: str) -> bool:
        return hunk_id in self._hunks

    def current(self, hunk: Hunk) -> Hunk:
        """`hunk` with the place, the texts and the state that its document gives it."""
        tracked = self._tracks.get(canonical(hunk.uri))
        anchor = tracked.anchor(hunk.id) if tracked else None
        if tracked is None or anchor is None:
            self._views.pop(hunk.id, None)
            return hunk
        lines = tracked.lines
        # Only behind the last line a place depends on the text itself.
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
        """Every hunk as it is kept, in the order they were made."""
        return self._hunks.values()

    def files(self) -> Iterable[str]:
        """Return the canonical URIs of all files with hunks."""
        return self._files

    def save(self, *hunks: Hunk, decision: bool = False, stands: str | None = None) -> None:
        """Take hunks as they are from now on, and keep them; their state counts as changed.

        Args:
            hunks: New ones or changed ones.
            decision: Whether the user has decided.
            stands: The file whose text and places are to be kept with them.
        """
        changed_hunks = []
        for hunk in hunks:
            self._last_change += 1
            changed = replace_hunk(hunk, changed=self._last_change)
            self._insert(changed)
            changed_hunks.append(changed)
        if changed_hunks:
            self._persist(changed_hunks, stands, decision=decision)

    def _persist(
        self, hunks: Sequence[Hunk], stands: str | None, *, decision: bool = False
    ) -> None:
        """Have hunks kept, at once or with the others that are decided together with them."""
        if self._due is not None:
            self._due.add(hunks, stands, decision=decision)
        else:
            snapshots = self._anchor_snapshots([stands] if stands else [])
            self.journal.keep(hunks, *snapshots, decision=decision)

    def set_transient(self, *hunks: Hunk) -> None:
        """Take hunks as they are for the moment; what is kept of them stays as it was."""
        for hunk in hunks:
            self._insert(hunk)

    def save_transient(self, hunk: Hunk) -> None:
        """Take a hunk as it is for the moment, and keep it so: whoever comes after a kill is to know."""
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
        """Hunks from an earlier run, as they were kept."""
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
        """Whether a hunk of a file is shown as a block in its text, or was."""
        return canonical(uri) in self._with_blocks

    def register(self, hunks: Iterable[Hunk], uri: str = "") -> None:
        """Note hunks in their proposals, which are about the file `uri` if not about the hunks'."""
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
        """Return the `TrackedDocument` with a document's anchors, if the document has any hunks of
        lines.
        """
        return self._tracks.get(canonical(uri))

    def is_on_its_way(self, hunk_id: str) -> bool:
        """Whether an edit of a hunk has gone to the editor, and no text has told yet what came of it.

        Its state alone does not tell: a block that is put into the text leaves its hunk pending.
        """
        tracked = self.tracked(self[hunk_id].uri)
        return (
            tracked is not None
            and tracked.in_flight is not None
            and hunk_id in tracked.in_flight.plan.texts
        )

    def tracks(self) -> Iterable[TrackedDocument]:
        """Those of all documents."""
        return self._tracks.values()

    def ensure_tracked(self, document: TextDocument) -> TrackedDocument:
        """Return the `TrackedDocument` of a document as it is now; create a missing one."""
        tracked = self._tracks.get(canonical(document.uri))
        if tracked is None:
            is_open = document.version is not None
            tracked = TrackedDocument(document.uri, document.lines, is_open=is_open)
            self._tracks[canonical(document.uri)] = tracked
        return tracked

    def detach(self, uri: str) -> TrackedDocument | None:
        """Leave a document without anchors, so that `ensure_tracked` makes it anew; gives its track."""
        return self._tracks.pop(canonical(uri), None)

    def attach(self, tracked: TrackedDocument) -> None:
        """Go on with a track instead of the one that its document has."""
        self._tracks[canonical(tracked.uri)] = tracked

    def anchor_snapshot(self, uri: str) -> AnchorSnapshot | None:
        """Return the text of a document and the places of its hunks; None if there are no hunks."""
        tracked = self.tracked(uri)
        if tracked is None:
            return None
        # In order of place: it tells which of two at one point comes first.
        spans = {anchor.hunk: anchor.span for anchor in (*tracked.live, *tracked.settled)}
        if not spans:
            return None
        lost = frozenset(hunk for hunk, place in spans.items() if place.is_lost)
        places = {hunk: (place.first, place.end) for hunk, place in spans.items()}
        return AnchorSnapshot(tracked.uri, tracked.text, places, lost)

    def _anchor_snapshots(self, uris: Iterable[str]) -> list[AnchorSnapshot]:
        """Those of the files that have any."""
        return [found for uri in uris if (found := self.anchor_snapshot(uri)) is not None]

    def renamed(self, uri: str, new_uri: str) -> None:
        """Handle the rename of a file: move its hunks to the new name."""
        old_key, key = canonical(uri), canonical(new_uri)
        ids = self._files.pop(old_key, {})
        stays = {hunk_id for hunk_id in ids if not follows_rename(self._hunks[hunk_id], new_uri)}
        if stays:
            self._files[old_key] = dict.fromkeys(stays)
        moved = [
            dataclasses.replace(self._hunks[hunk_id], uri=new_uri)
            for hunk_id in ids
            if hunk_id not in stays
        ]
        for hunk in moved:
            self._insert(hunk)
        if tracked := self._tracks.pop(old_key, None):
            tracked.uri = new_uri
            self._tracks[key] = tracked
        if moved:
            self._persist(moved, new_uri)


def _seen_at(hunk: Hunk, anchor: Anchor, place: Range, old: str) -> Hunk:
    """`hunk` as its anchor has it: at `place`, where `old` stands."""
    if hunk.state not in LIVE:
        return hunk if hunk.range == place else replace_hunk(hunk, range=place)
    state, new, reason = hunk.state, anchor.merged, hunk.reason
    if new is None:
        new = anchor.theirs
        if state is HunkState.PENDING:
            broken = isinstance(anchor, BlockAnchor)
            state, reason = HunkState.CONFLICT, _BROKEN if broken else _WRITTEN_OVER
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
    """Whether a hunk stands on lines of its file, or will."""
    return hunk.kind is HunkKind.CREATE or hunk.kind not in WHOLE_FILE


def follows_rename(hunk: Hunk, new_uri: str) -> bool:
    """Whether a hunk of a file that is called `new_uri` now gets that name too."""
    # The move that did it stays what it was: undoing it goes back from there. And so does what is
    # about another file, that had the name before or is to have it.
    return canonical(hunk.new_uri) != canonical(new_uri) and not hunk.is_of_absent_file


def note_text(store: HunkStore, tracked: TrackedDocument, edited: Iterable[str] = ()) -> None:
    """Note the text of a document as it is now, with the states and places of its hunks.

    Args:
        store: All hunks.
        tracked: The document.
        edited: Hunks whose edit goes to the editor now.
    """
    texts = tracked.undone.texts
    texts.add_edited(edited)
    texts.note(tracked.lines, hunks_in_text(store, tracked))


def hunks_in_text(store: HunkStore, tracked: TrackedDocument) -> list[HunkInText]:
    """Return the hunks that are noted with a text, the pending ones in their order."""
    return [
        HunkInText(
            hunk, hunk.state is HunkState.ACCEPTED, one.first, one.end, text_hash(one.current)
        )
        for one in _noted_anchors(tracked)
        if one.merged is not None
        and not one.span.is_lost
        and not isinstance(one, BlockAnchor)
        and (hunk := store[one.hunk]).kind is not HunkKind.CREATE
        and not hunk.inline
        and (hunk.state is HunkState.ACCEPTED or hunk.state in LIVE)
    ]


def _noted_anchors(tracked: TrackedDocument) -> Iterator[Anchor]:
    """Yield the anchors of the hunks whose state may be noted."""
    edited = dict.fromkeys(tracked.undone.texts.edited)
    is_few = len(tracked.live) <= _FEW_PENDING
    known = {one.hunk for one in tracked.live if is_few or one.hunk in edited}
    yield from (one for one in tracked.live if one.hunk in known)
    for hunk in edited:
        if hunk not in known and (anchor := tracked.anchor(hunk)) is not None:
            yield anchor
