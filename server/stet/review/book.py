"""Every hunk there is, where it stands, and what is kept of it; the ledger's memory."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stet.review.anchoring.anchor import Anchor
from stet.review.anchoring.block_anchor import BlockAnchor
from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.errors import UnknownHunk
from stet.review.journal import Footing, Journal
from stet.review.proposal import LIVE, WHOLE_FILE, Hunk, HunkKind, HunkState, Proposal, but
from stet.text.document import TextDocument
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

TOP = Range(Position(0, 0), Position(0, 0))
_BROKEN = "its block in the text is no longer whole: finish there what you began, or undo it"
_WRITTEN_OVER = "you have changed the text it was made for"


@dataclass(slots=True)
class _Due:
    """What is to be kept and told together.

    Attributes:
        hunks: The latest of each, by id.
        stands: The canonical URIs of files whose places are to be kept.
        told: The files that have changed.
        decision: Whether the user has decided.
    """

    hunks: dict[str, Hunk] = field(default_factory=dict)
    stands: set[str] = field(default_factory=set)
    told: dict[str, None] = field(default_factory=dict)
    decision: bool = False

    def take(self, hunks: Iterable[Hunk], stands: str | None, *, decision: bool) -> None:
        """As `Book.put` has it."""
        self.hunks.update((hunk.id, hunk) for hunk in hunks)
        self.stands |= {canonical(stands)} if stands else set()
        self.decision |= decision


class Book:
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
        self._due: _Due | None = None
        self._listeners: list[Callable[[str], None]] = []
        self._last_change = 0

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the URI of every document whose hunks have changed."""
        self._listeners.append(listener)

    def changed(self, uri: str) -> None:
        """Tell the listeners."""
        if self._due is not None:
            self._due.told[uri] = None
            return
        for listener in self._listeners:
            listener(uri)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Within, many hunks are made or decided: at the end they are kept at once, and told of file
        by file.
        """
        if self._due is not None:
            yield
            return
        self._due = due = _Due()
        try:
            yield
        finally:
            self._due = None
            footings = self._footings(due.stands)
            if due.hunks or footings:
                self.journal.keep(tuple(due.hunks.values()), *footings, decision=due.decision)
            for uri in due.told:
                self.changed(uri)

    # -- hunks -----------------------------------------------------------------------------------

    def __getitem__(self, hunk_id: str) -> Hunk:
        """The hunk as it is kept: `old` and `new` are what its anchor was made of.

        Raises:
            UnknownHunk: If there is none.
        """
        if (hunk := self._hunks.get(hunk_id)) is None:
            raise UnknownHunk(hunk_id, tuple(self._hunks))
        return hunk

    def __contains__(self, hunk_id: str) -> bool:
        return hunk_id in self._hunks

    def now(self, hunk: Hunk) -> Hunk:
        """`hunk` with the place, the texts and the state that its document gives it."""
        track = self._tracks.get(canonical(hunk.uri))
        anchor = track.anchor(hunk.id) if track else None
        if track is None or anchor is None:
            self._views.pop(hunk.id, None)
            return hunk
        lines = track.lines
        # Only behind the last line a place depends on the text itself.
        last_line = (len(lines), len(lines[-1])) if anchor.end >= len(lines) else None
        seen = (
            hunk, anchor.first, anchor.end, last_line,
            anchor.current, anchor.merged, anchor.proposed, anchor.is_mixed,
        )  # fmt: skip
        if (last := self._views.get(hunk.id)) is not None and last[0] == seen:
            return last[1]
        view = _seen_at(hunk, anchor, anchor.range_in(lines))
        self._views[hunk.id] = seen, view
        return view

    def of_file(self, uri: str) -> list[Hunk]:
        """The hunks of a file as they are kept, in the order they were made."""
        return [self._hunks[hunk_id] for hunk_id in self._files.get(canonical(uri), ())]

    def all(self) -> Iterable[Hunk]:
        """Every hunk as it is kept, in the order they were made."""
        return self._hunks.values()

    def files(self) -> Iterable[str]:
        """The canonical URIs of all files with hunks."""
        return self._files

    def put(self, *hunks: Hunk, decision: bool = False, stands: str | None = None) -> None:
        """Take hunks as they are from now on, and keep them; their state counts as changed.

        Args:
            hunks: New ones or changed ones.
            decision: Whether the user has decided.
            stands: The file whose text and places are to be kept with them.
        """
        kept = []
        for hunk in hunks:
            self._last_change += 1
            changed = but(hunk, changed=self._last_change)
            self._take(changed)
            kept.append(changed)
        if kept:
            self._keep(kept, stands, decision=decision)

    def _keep(self, hunks: Sequence[Hunk], stands: str | None, *, decision: bool = False) -> None:
        """Have hunks kept, at once or with the others that are decided together with them."""
        if self._due is not None:
            self._due.take(hunks, stands, decision=decision)
        else:
            footings = self._footings([stands] if stands else [])
            self.journal.keep(hunks, *footings, decision=decision)

    def show(self, *hunks: Hunk) -> None:
        """Take hunks as they are for the moment; what is kept of them stays as it was."""
        for hunk in hunks:
            self._take(hunk)

    def mark(self, hunk: Hunk) -> None:
        """Take a hunk as it is for the moment, and keep it so: whoever comes after a kill is to know."""
        self._take(hunk)
        self._keep([hunk], None)

    def closed(self, hunk: Hunk, state: HunkState, reason: str) -> Hunk:
        """A live hunk taken out of play; to be `put`. One that is superseded can be restored."""
        track = self.track(hunk.uri)
        anchor = track.anchor(hunk.id) if track else None
        is_kept = state is HunkState.SUPERSEDED and anchor is not None
        if track is not None and is_kept and not isinstance(anchor, BlockAnchor):
            track.settle_in_place(hunk.id)
            return but(hunk, state=state, reason=reason)
        last = self.now(hunk)
        if track is not None:
            track.drop(hunk.id)
        return but(last, state=state, reason=reason)

    def take_back(self, hunks: Iterable[Hunk]) -> None:
        """Hunks from an earlier run, as they were kept."""
        hunks = tuple(hunks)
        for hunk in hunks:
            self._last_change = max(self._last_change, hunk.changed)
            self._take(hunk)
        self.enter(hunks)

    def _take(self, hunk: Hunk) -> None:
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

    def enter(self, hunks: Iterable[Hunk], uri: str = "") -> None:
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
        """The id of what `turn` proposes for a file: the one it has, or a new one."""
        for proposal in self.proposals.values():
            if proposal.turn == turn and canonical(proposal.uri) == canonical(uri):
                return proposal.id
        return f"p{self.journal.number('proposal')}"

    # -- places ----------------------------------------------------------------------------------

    def track(self, uri: str) -> TrackedDocument | None:
        """The anchors of a document, if it has any hunks of lines."""
        return self._tracks.get(canonical(uri))

    def is_on_its_way(self, hunk_id: str) -> bool:
        """Whether an edit of a hunk has gone to the editor, and no text has told yet what came of it.

        Its state alone does not tell: a block that is put into the text leaves its hunk pending.
        """
        track = self.track(self[hunk_id].uri)
        return (
            track is not None
            and track.in_flight is not None
            and hunk_id in track.in_flight.plan.texts
        )

    def tracks(self) -> Iterable[TrackedDocument]:
        """Those of all documents."""
        return self._tracks.values()

    def track_for(self, document: TextDocument) -> TrackedDocument:
        """The same for a document as it is now, made if there is none."""
        track = self._tracks.get(canonical(document.uri))
        if track is None:
            is_open = document.version is not None
            track = TrackedDocument(document.uri, document.lines, is_open=is_open)
            self._tracks[canonical(document.uri)] = track
        return track

    def take_off(self, uri: str) -> TrackedDocument | None:
        """Leave a document without anchors, so that `track_for` makes it anew; gives its track."""
        return self._tracks.pop(canonical(uri), None)

    def put_on(self, track: TrackedDocument) -> None:
        """Go on with a track instead of the one that its document has."""
        self._tracks[canonical(track.uri)] = track

    def footing(self, uri: str) -> Footing | None:
        """The text of a document and where its hunks stand in it; None if it has none."""
        track = self.track(uri)
        if track is None:
            return None
        # In order of place: it tells which of two at one point comes first.
        standing = {anchor.hunk: anchor.span for anchor in (*track.live, *track.settled)}
        if not standing:
            return None
        lost = frozenset(hunk for hunk, place in standing.items() if place.is_lost)
        places = {hunk: (place.first, place.end) for hunk, place in standing.items()}
        return Footing(track.uri, track.text, places, lost)

    def _footings(self, uris: Iterable[str]) -> list[Footing]:
        """Those of the files that have any."""
        return [found for uri in uris if (found := self.footing(uri)) is not None]

    def renamed(self, uri: str, new_uri: str) -> None:
        """A file has another name now: its hunks go with it."""
        old_key, key = canonical(uri), canonical(new_uri)
        ids = self._files.pop(old_key, {})
        stays = {hunk_id for hunk_id in ids if not goes_with(self._hunks[hunk_id], new_uri)}
        if stays:
            self._files[old_key] = dict.fromkeys(stays)
        moved = [
            dataclasses.replace(self._hunks[hunk_id], uri=new_uri)
            for hunk_id in ids
            if hunk_id not in stays
        ]
        for hunk in moved:
            self._take(hunk)
        if track := self._tracks.pop(old_key, None):
            track.uri = new_uri
            self._tracks[key] = track
        if moved:
            self._keep(moved, new_uri)


def _seen_at(hunk: Hunk, anchor: Anchor, place: Range) -> Hunk:
    """`hunk` as its anchor has it."""
    if hunk.state not in LIVE:
        return hunk if hunk.range == place else but(hunk, range=place)
    state, new, reason = hunk.state, anchor.merged, hunk.reason
    if new is None:
        new = anchor.theirs
        if state is HunkState.PENDING:
            broken = isinstance(anchor, BlockAnchor)
            state, reason = HunkState.CONFLICT, _BROKEN if broken else _WRITTEN_OVER
    if (place, anchor.current, new, state) == (hunk.range, hunk.old, hunk.new, hunk.state):
        return hunk
    return but(
        hunk,
        range=place,
        old=anchor.current,
        new=new,
        state=state,
        mixed=anchor.merged is not None and anchor.is_mixed,
        reason=reason,
    )


def is_of_lines(hunk: Hunk) -> bool:
    """Whether a hunk stands on lines of its file, or will."""
    return hunk.kind is HunkKind.CREATE or hunk.kind not in WHOLE_FILE


def goes_with(hunk: Hunk, new_uri: str) -> bool:
    """Whether a hunk of a file that is called `new_uri` now gets that name too."""
    # The move that did it stays what it was: undoing it goes back from there. And so does what is
    # about another file, that had the name before or is to have it.
    return canonical(hunk.new_uri) != canonical(new_uri) and not hunk.is_of_absent_file
