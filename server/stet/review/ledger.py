"""The review ledger: every proposal, from the gate to the user's decision.

It is the one owner of that state, touched only on the event loop. It never changes a document: an
accepted hunk is handed out as an edit, and counts as accepted only when the text that comes back
from the editor says so.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable

from stet.review.anchors import Anchor, ReadText
from stet.review.drafts import CreateDraft, EditDraft
from stet.review.errors import Overlap, UnknownHunk
from stet.review.making import is_guarded, kind_of, overlap, place_of
from stet.review.proposal import LIVE, Hunk, HunkKind, HunkState, Proposal
from stet.review.rules import EditRules, Refused, check_create, check_edit
from stet.review.track import Track
from stet.text.change import TextChange
from stet.text.diff import changes_between, diff_lines
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.position import Position, Range
from stet.workspace.uris import canonical

_START = Range(Position(0, 0), Position(0, 0))
_WRITTEN_OVER = "you have changed the text it was made for"


class ReviewLedger:
    """All proposals of one server."""

    def __init__(self) -> None:
        self._hunks: dict[str, Hunk] = {}
        self._proposals: dict[str, Proposal] = {}
        self._tracks: dict[str, Track] = {}
        self._numbers = itertools.count(1)
        self._listeners: list[Callable[[str], None]] = []

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the URI of every document whose hunks have changed."""
        self._listeners.append(listener)

    # -- proposing -------------------------------------------------------------------------------

    def propose_edit(self, draft: EditDraft, rules: EditRules) -> tuple[Hunk, ...]:
        """Take an edit as pending hunks; none if it changes nothing.

        Live hunks of other turns in the same place are superseded.

        Raises:
            Refused: By the gate.
            Overlap: With a live hunk of the same turn.
        """
        document = draft.document
        after = draft.edit.apply(document.text)
        line_hunks = diff_lines(document.lines, TextDocument(document.uri, after).lines)
        if refusal := check_edit(rules, document.uri, draft.name, line_hunks):
            raise Refused(refusal)
        if not line_hunks:
            return ()
        # First: the hunks that are in the way may have to follow the disk to where they are now.
        track = self._track(document)
        places = [place_of(document, hunk) for hunk in line_hunks]
        replaced = self._in_the_way(document.uri, places, draft.turn)
        proposal = self._proposal(draft.turn, document.uri)
        made = []
        for line_hunk, place in zip(line_hunks, places, strict=True):
            old, new = "".join(line_hunk.old), "".join(line_hunk.new)
            made.append(
                self._add(
                    Hunk(
                        id=f"h{next(self._numbers)}",
                        proposal=proposal.id,
                        turn=draft.turn,
                        uri=document.uri,
                        kind=kind_of(old, new),
                        state=HunkState.PENDING,
                        range=place,
                        old=old,
                        new=new,
                        summary=draft.summary,
                        group=proposal.id,
                        author=draft.author,
                        protected=is_guarded(draft),
                    ),
                    track,
                    document,
                )
            )
        for hunk in replaced:
            self._settle(hunk, HunkState.SUPERSEDED, f"replaced by {made[0].id}")
        self._changed(document.uri)
        return tuple(made)

    def propose_create(self, draft: CreateDraft, rules: EditRules) -> Hunk:
        """Take a new file as one pending hunk; an earlier one for the same file is superseded.

        Raises:
            Refused: By the gate.
            Overlap: With one that is on its way to the editor.
        """
        if refusal := check_create(rules, draft.uri, draft.name):
            raise Refused(refusal)
        earlier = []
        for other in self.live(draft.uri):
            if other.state is HunkState.SENT:
                raise Overlap(other)
            earlier.append(other.id)
        proposal = self._proposal(draft.turn, draft.uri)
        hunk = self._add(
            Hunk(
                id=f"h{next(self._numbers)}",
                proposal=proposal.id,
                turn=draft.turn,
                uri=draft.uri,
                kind=HunkKind.CREATE,
                state=HunkState.PENDING,
                range=_START,
                old="",
                new=draft.text,
                summary=draft.summary,
                group=proposal.id,
                author=draft.author,
                protected=is_guarded(draft),
            ),
            self._tracks.setdefault(canonical(draft.uri), Track(closed_text="")),
            TextDocument(draft.uri, ""),
        )
        for earlier_id in earlier:
            self._settle(earlier_id, HunkState.SUPERSEDED, f"replaced by {hunk.id}")
        self._changed(draft.uri)
        return hunk

    # -- asking ----------------------------------------------------------------------------------

    def hunk(self, hunk_id: str) -> Hunk:
        """The hunk as it is now.

        Raises:
            UnknownHunk: If there is none of that id.
        """
        if (hunk := self._hunks.get(hunk_id)) is None:
            raise UnknownHunk(hunk_id, tuple(self._hunks))
        track = self._tracks.get(canonical(hunk.uri))
        return _current(hunk, track.anchor(hunk_id) if track else None)

    def hunks(self, *, uri: str | None = None, turn: str | None = None) -> tuple[Hunk, ...]:
        """All hunks, of one file or one turn if named, in order of file and place.

        `range` is in the current text while a hunk is live, and as it was at the decision after.
        """
        # At one point the order of their anchors is that of the document.
        anchors = {
            anchor.hunk: (nth, anchor)
            for track in self._tracks.values()
            for nth, anchor in enumerate(track.anchors)
        }
        found = []
        for hunk in self._hunks.values():
            key = canonical(hunk.uri)
            if (uri is None or canonical(uri) == key) and turn in (None, hunk.turn):
                nth, anchor = anchors.get(hunk.id, (-1, None))
                now = _current(hunk, anchor)
                found.append((key, now.range.start, nth, now))
        return tuple(entry[-1] for entry in sorted(found, key=lambda entry: entry[:-1]))

    def follows(self, uri: str) -> bool:
        """Whether `uri` has live hunks, so that its changes must be told."""
        if not self._tracks:
            return False
        track = self._tracks.get(canonical(uri))
        return track is not None and bool(track.anchors)

    def live(self, uri: str) -> tuple[Hunk, ...]:
        """The hunks of `uri` that still follow its text, in order of place."""
        track = self._tracks.get(canonical(uri))
        if track is None:
            return ()
        found = (_current(self._hunks[anchor.hunk], anchor) for anchor in track.anchors)
        return tuple(sorted(found, key=lambda hunk: hunk.range.start))

    def spelling(self, uri: str) -> str:
        """`uri` as the latest hunk of that file spells it."""
        key = canonical(uri)
        return next((h.uri for h in reversed(self._hunks.values()) if canonical(h.uri) == key), uri)

    def live_uris(self) -> tuple[str, ...]:
        """The files with live hunks, sorted."""
        return tuple(
            sorted(
                self._hunks[track.anchors[0].hunk].uri
                for track in self._tracks.values()
                if track.anchors
            )
        )

    def proposals(self, turn: str) -> tuple[Proposal, ...]:
        """What `turn` has proposed, a proposal for each file."""
        return tuple(found for found in self._proposals.values() if found.turn == turn)

    def base_text(self, uri: str) -> str | None:
        """What the hunks of a file that is not open refer to."""
        track = self._tracks.get(canonical(uri))
        return track.closed_text if track else None

    # -- following the user ----------------------------------------------------------------------

    def follow(
        self, uri: str, changes: tuple[TextChange, ...], read: ReadText, text: Callable[[], str]
    ) -> None:
        """The text of `uri` changed: move its hunks, and see whether a sent edit has arrived."""
        track = self._tracks.get(canonical(uri))
        if track is None or not track.anchors:
            return
        track.closed_text = None
        if track.sent is not None:
            whole = text() == track.sent.expected
            count = len(changes) if whole else track.sent.arrives_with(changes)
            if whole and track.all_before_sending():
                # `settle` puts every anchor where the edit itself takes it.
                self._confirm(uri, track.settle())
                return
            if count is not None:
                track.follow(changes[:count], read if whole else track.sent.shadow.text_in)
                self._confirm(uri, track.settle())
                # What comes behind it in the same message was typed into the edited text.
                changes = changes[count:]
        if track.follow(changes, read) or track.sent is not None:
            self._changed(uri)

    def reopened(self, uri: str, text: str, read: ReadText) -> None:
        """`uri` was opened or read anew: its hunks follow from the text they last knew."""
        track = self._tracks.get(canonical(uri))
        if track is not None and track.closed_text is not None:
            self.follow(uri, changes_between(track.closed_text, text), read, lambda: text)

    def closed(self, uri: str, text: str) -> None:
        """`uri` was closed with this text."""
        if track := self._tracks.get(canonical(uri)):
            track.closed_text = text

    # -- deciding --------------------------------------------------------------------------------

    def reject(self, hunk_id: str, reason: str = "") -> None:
        """The user does not want it."""
        self._settle(hunk_id, HunkState.REJECTED, reason)
        self._changed(self._hunks[hunk_id].uri)

    def edit_of(self, document: TextDocument, hunk_ids: Iterable[str]) -> TextEdit:
        """What accepting these hunks does to `document`, which is the current text."""
        wanted = set(hunk_ids)
        track = self._tracks.get(canonical(document.uri), Track())
        return TextEdit(
            tuple(
                Replacement(
                    document.offset_at(anchor.range.start),
                    document.offset_at(anchor.range.end),
                    self._hunks[anchor.hunk].new,
                )
                for anchor in track.anchors
                if anchor.hunk in wanted
            )
        )

    def send(self, document: TextDocument, hunk_ids: tuple[str, ...], edit: TextEdit) -> None:
        """The edit of these hunks goes to the editor now."""
        uri = document.uri
        news = {hunk_id: self._hunks[hunk_id].new for hunk_id in hunk_ids}
        self._tracks[canonical(uri)].send(document, news, edit)
        for hunk_id in hunk_ids:
            self._put(hunk_id, HunkState.SENT, "")
        self._changed(uri)

    def arrived(self, uri: str, read: ReadText) -> bool:
        """Whether the sent edit stands in the text, even if other text changed too; settles it."""
        track = self._tracks[canonical(uri)]
        if track.sent is None:
            return True
        wanted = {hunk_id: self._hunks[hunk_id].new for hunk_id in track.sent.places}
        places = track.settle_apart(wanted, read)
        if places is None:
            return False
        self._confirm(uri, places)
        return True

    def is_sent(self, uri: str) -> bool:
        """Whether an edit of `uri` is on its way."""
        track = self._tracks.get(canonical(uri))
        return track is not None and track.sent is not None

    def confirm_unseen(self, uri: str) -> None:
        """The editor applied the edit to a file it has not opened: its word is all there is."""
        if self.is_sent(uri):
            self._confirm(uri, self._tracks[canonical(uri)].settle())

    def unsend(self, uri: str, read: ReadText, reason: str) -> None:
        """The sent edit did not come about: its hunks are pending again, or in conflict."""
        track = self._tracks[canonical(uri)]
        if track.sent is None:
            return
        hunk_ids = tuple(track.sent.places)
        track.unsend(read)
        for hunk_id in hunk_ids:
            if self._hunks[hunk_id].state is HunkState.SENT:
                self._put(hunk_id, HunkState.PENDING, reason)
        self._changed(uri)

    # -- inside ----------------------------------------------------------------------------------

    def _in_the_way(self, uri: str, places: list[Range], turn: str) -> list[str]:
        """Live hunks of other turns that share a place with the new ones."""
        found = []
        for hunk in self.live(uri):
            if not any(overlap(place, hunk.range) for place in places):
                continue
            # In conflict it can't be accepted anyway: the turn may look again and do better.
            mine = hunk.turn == turn and hunk.state is not HunkState.CONFLICT
            if mine or hunk.state is HunkState.SENT:
                raise Overlap(hunk)
            found.append(hunk.id)
        return found

    def _proposal(self, turn: str, uri: str) -> Proposal:
        for proposal in self._proposals.values():
            if proposal.turn == turn and canonical(proposal.uri) == canonical(uri):
                return proposal
        proposal = Proposal(id=f"p{next(self._numbers)}", turn=turn, uri=uri, hunks=())
        self._proposals[proposal.id] = proposal
        return proposal

    def _track(self, document: TextDocument) -> Track:
        track = self._tracks.setdefault(canonical(document.uri), Track())
        if document.version is None:
            self.reopened(document.uri, document.text, document.text_in)
            track.closed_text = document.text
        else:
            track.closed_text = None
        return track

    def _add(self, hunk: Hunk, track: Track, document: TextDocument) -> Hunk:
        self._hunks[hunk.id] = hunk
        proposal = self._proposals[hunk.proposal]
        self._proposals[hunk.proposal] = dataclasses.replace(
            proposal, hunks=(*proposal.hunks, hunk.id)
        )
        track.add(Anchor.at(hunk.id, document, hunk.range))
        return hunk

    def _put(self, hunk_id: str, state: HunkState, reason: str) -> None:
        self._hunks[hunk_id] = dataclasses.replace(self._hunks[hunk_id], state=state, reason=reason)

    def _settle(self, hunk_id: str, state: HunkState, reason: str) -> None:
        """Take a hunk out of play; its place stays as it was last."""
        hunk = self.hunk(hunk_id)
        self._tracks[canonical(hunk.uri)].drop((hunk_id,))
        self._hunks[hunk_id] = dataclasses.replace(hunk, state=state, reason=reason)

    def _confirm(self, uri: str, places: dict[str, Range]) -> None:
        for hunk_id, place in places.items():
            self._hunks[hunk_id] = dataclasses.replace(
                self._hunks[hunk_id], state=HunkState.ACCEPTED, range=place, reason=""
            )
        self._changed(uri)

    def _changed(self, uri: str) -> None:
        for listener in self._listeners:
            listener(uri)


def _current(hunk: Hunk, anchor: Anchor | None) -> Hunk:
    """`hunk` with the place and state its anchor gives it, if it is live and has one."""
    if anchor is None or hunk.state not in LIVE:
        return hunk
    broken = anchor.broken and hunk.state is HunkState.PENDING
    return dataclasses.replace(
        hunk,
        range=anchor.range,
        state=HunkState.CONFLICT if broken else hunk.state,
        reason=_WRITTEN_OVER if broken else hunk.reason,
    )
