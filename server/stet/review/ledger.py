"""The review ledger: every proposal, from the gate to the user's decision and back.

It is the one owner of that state, touched only on the event loop. It never changes a document: an
accepted hunk is handed out as an edit, and counts as accepted only when the text that comes back
from the editor says so.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from stet.review.amending import as_document_has_it
from stet.review.book import Book, is_of_lines
from stet.review.drafts import CreateDraft, EditDraft, MoveDraft, RemoveDraft
from stet.review.editor_undo import follow_editor
from stet.review.errors import OnItsWay, WrongState
from stet.review.following import catch_up
from stet.review.gate import admit
from stet.review.importing import BlockDraft, import_blocks
from stet.review.inline import InlineBlocks
from stet.review.journal import Footing, Forgetful, Journal, Kept
from stet.review.outbox import Outbox
from stet.review.proposal import LIVE, Hunk, HunkState, Proposal, but
from stet.review.proposing import propose_create, propose_lines, propose_move, propose_remove
from stet.review.readying import Ready, ReadyMove, ready, ready_move
from stet.review.recalling import recall_texts
from stet.review.renaming import rename
from stet.review.restoring import replacing_turn, restore
from stet.review.returning import open_with, take_back
from stet.review.rules import EditRules
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.uris import canonical


class ReviewLedger:
    """All proposals of one server.

    Attributes:
        outbox: What is on its way to the editor.
        blocks: The hunks that stand in the text itself.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        """Nothing is proposed yet; `journal` keeps what outlives the process."""
        self._book = Book(journal or Forgetful())
        self.outbox = Outbox(self._book)
        self.blocks = InlineBlocks(self._book)

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the URI of every document whose hunks have changed."""
        self._book.listen(listener)

    # -- proposing -------------------------------------------------------------------------------

    def propose_edit(
        self, draft: EditDraft, rules: EditRules, amends: Collection[str] = ()
    ) -> tuple[Hunk, ...]:
        """As `propose_ready`, for an edit that the gate has not been asked about yet.

        Raises:
            Refused: By the gate.
            ReviewError: As `propose_ready`.
        """
        return self.propose_ready(ready(draft, rules), amends)

    def propose_ready(self, ready: Ready, amends: Collection[str] = ()) -> tuple[Hunk, ...]:
        """Take an edit as pending hunks, none if it changes nothing; or a new file as one.

        Live hunks of other turns in the same place are superseded, as is an earlier new file.

        Args:
            ready: What the gate has let through. An edit is for the text as it is now.
            amends: Pending hunks whose effect the edit includes: what of them it leaves as it is
                stays, the rest is superseded, or withdrawn where nothing takes its place.

        Raises:
            Overlap: With a live hunk of the same turn, or one that is on its way to the editor.
            ReviewError: If a hunk to amend is not pending.
        """
        draft = ready.draft
        if isinstance(draft, CreateDraft):
            return (self.hunk(propose_create(self._book, draft, ready.admitted)),)
        for hunk_id in amends:
            if (hunk := self.hunk(hunk_id)).state is not HunkState.PENDING:
                raise WrongState(f"{hunk_id} can't be amended: it is {hunk.state}")
            self._check_here(hunk_id)
        made = propose_lines(self._book, draft, ready, amends=amends)
        return tuple(self.hunk(hunk_id) for hunk_id in made)

    def propose_create(self, draft: CreateDraft, rules: EditRules) -> Hunk:
        """As `propose_ready`, for a new file that the gate has not been asked about yet.

        Raises:
            Refused: By the gate.
            Overlap: As `propose_ready`.
        """
        (hunk,) = self.propose_ready(ready(draft, rules))
        return hunk

    def propose_move(self, draft: MoveDraft, rules: EditRules) -> tuple[Hunk, ...]:
        """As `propose_ready_move`, for a move that the gate has not been asked about yet.

        Raises:
            Refused: By the gate, if it refuses any of it.
            Overlap: As `propose_ready_move`.
        """
        return self.propose_ready_move(ready_move(draft, rules))

    def propose_ready_move(self, ready: ReadyMove) -> tuple[Hunk, ...]:
        """Take a file's new name and the edits of its links as one proposal: the move comes first.

        Args:
            ready: What the gate has let through; the edits are for the texts as they are now.

        Raises:
            Overlap: With a live hunk of the same turn, or one on its way to the editor.
        """
        made = propose_move(self._book, ready)
        return tuple(self.hunk(hunk_id) for hunk_id in made)

    def propose_remove(self, draft: RemoveDraft, rules: EditRules) -> Hunk:
        """Take a file's removal as one pending hunk; an earlier one is superseded.

        Raises:
            Refused: By the gate.
            Overlap: With one that is on its way to the editor.
        """
        return self.hunk(propose_remove(self._book, draft, admit(draft, rules)))

    def import_blocks(self, draft: BlockDraft, now: TextDocument) -> bool:
        """Take the blocks that another program has put into a note as pending hunks.

        Args:
            draft: What the gate has let through.
            now: The document as it is now, which may have changed since.

        Returns:
            Whether all of them stand there still; those that do were taken.
        """
        return import_blocks(self._book, draft, now)

    # -- asking ----------------------------------------------------------------------------------

    def hunk(self, hunk_id: str) -> Hunk:
        """The hunk as it is now.

        Raises:
            UnknownHunk: If there is none.
        """
        return self._book.now(self._book[hunk_id])

    def hunks(
        self, *, uri: str | None = None, turn: str | None = None, chat: str | None = None
    ) -> tuple[Hunk, ...]:
        """All hunks, of one file, one turn or one chat if named, in order of file and place.

        `range` is in the current text as long as the hunk is live, or can be undone or restored.
        """
        kept = self._book.all() if uri is None else self._book.of_file(uri)
        found = [h for h in kept if turn in (None, h.turn) and chat in (None, h.chat)]
        order = {
            anchor.hunk: nth
            for key in {canonical(hunk.uri) for hunk in found}
            if (track := self._book.track(key)) is not None
            for nth, anchor in enumerate(track.live)
        }
        now = [self._book.now(hunk) for hunk in found]
        # At one point the order of their anchors is that of the document.
        now.sort(
            key=lambda h: (
                canonical(h.uri),
                (at := h.range.start).line,  # places would be compared by a method of their own
                at.character,
                order.get(h.id, -1),
            )
        )
        return tuple(now)

    def live(self, uri: str) -> tuple[Hunk, ...]:
        """The hunks of `uri` that wait or are on their way, in order of place."""
        track = self._book.track(uri)
        anchors = track.live if track else ()
        # One that was rejected while its edit is on its way still has its anchor among them.
        lines = [one.hunk for one in anchors if self._book[one.hunk].state in LIVE]
        known = set(lines)
        whole = [
            hunk.id
            for hunk in self._book.of_file(uri)
            if hunk.state in LIVE and hunk.id not in known
        ]
        return tuple(self.hunk(hunk_id) for hunk_id in (*whole, *lines))

    def live_uris(self) -> tuple[str, ...]:
        """The files with live hunks, sorted."""
        uris = {canonical(hunk.uri): hunk.uri for hunk in self._book.all() if hunk.state in LIVE}
        return tuple(sorted(uris.values()))

    def follows(self, uri: str) -> bool:
        """Whether `uri` has hunks that its changes must be told to."""
        return self._book.track(uri) is not None

    def uris_below(self, folder: str) -> tuple[str, ...]:
        """The canonical URIs of the files in a folder that have hunks."""
        start = f"{canonical(folder).rstrip('/')}/"
        return tuple(uri for uri in self._book.files() if uri.startswith(start))

    def closed_uris(self) -> tuple[str, ...]:
        """The files that are followed and are not open: only the disk knows their texts."""
        return tuple(track.uri for track in self._book.tracks() if not track.is_open)

    def spelling(self, uri: str) -> str:
        """`uri` as the latest hunk of that file spells it."""
        return next((hunk.uri for hunk in reversed(self._book.of_file(uri))), uri)

    def replaced_by(self, turn: str) -> tuple[Hunk, ...]:
        """The hunks of earlier turns that those of `turn` have superseded."""
        return tuple(one for one in self._book.all() if replacing_turn(self._book, one) == turn)

    def was_replaced(self, hunk_id: str) -> bool:
        """Return whether a hunk was superseded by one of another turn."""
        return bool(replacing_turn(self._book, self._book[hunk_id]))

    def proposals(self, turn: str) -> tuple[Proposal, ...]:
        """What `turn` has proposed, a proposal for each file."""
        return tuple(found for found in self._book.proposals.values() if found.turn == turn)

    def base_text(self, uri: str) -> str | None:
        """What the hunks of a file that is not open refer to."""
        track = self._book.track(uri)
        return None if track is None or track.is_open else track.text

    def edit_of(self, document: TextDocument, hunk_ids: Iterable[str]) -> TextEdit:
        """What accepting these hunks does to `document`, which is the current text.

        Conflicts among them are left out.
        """
        return self.outbox.accepting(document, hunk_ids).edit

    def can_undo(self, hunk_id: str) -> bool:
        """Whether an accepted hunk of lines can be taken back by itself, for the text as it is now."""
        track = self._book.track(self._book[hunk_id].uri)
        anchor = track.anchor(hunk_id) if track else None
        return anchor is None or anchor.merged is not None

    def footing(self, uri: str) -> Footing | None:
        """The text of a file and where its hunks stand in it, for the journal."""
        return self._book.footing(uri)

    # -- following the user ----------------------------------------------------------------------

    def follow(self, uri: str, changes: tuple[TextChange, ...], lines: Sequence[str]) -> None:
        """The text of the open document `uri` changed: move its hunks.

        Args:
            uri: The document.
            changes: What happened, in order.
            lines: Its lines behind them: the buffer's own, which are read again later.
        """
        if track := self._book.track(uri):
            track.lines, track.is_open = lines, True
            follow_editor(self._book, track, changes, lines)

    def opened(self, uri: str, lines: Sequence[str]) -> None:
        """`uri` was opened, perhaps with other text than its hunks know; `lines` as for `follow`."""
        if track := self._book.track(uri):
            track.uri = uri
            if not track.is_open:
                self.blocks.fold_missing(track, "".join(lines))
            open_with(self._book, track, lines)
            recall_texts(self._book, track)

    def on_disk(self, uri: str, text: str) -> None:
        """`uri`, which is not open, has this text: its hunks follow from the text they last knew."""
        track = self._book.track(uri)
        if track is not None and not track.is_open:
            self.blocks.fold_missing(track, text)
            catch_up(self._book, track, text)

    def closed(self, uri: str) -> None:
        """`uri` was closed; its hunks keep their place in the text it had."""
        if track := self._book.track(uri):
            track.lines, track.is_open = tuple(track.lines), False

    def renamed(self, uri: str, new_uri: str) -> None:
        """The file `uri` is called `new_uri` now: its hunks go with it, beside those that are there."""
        with self._book.together():
            rename(self._book, self.outbox, uri, new_uri)
        self._book.changed(uri)
        self._book.changed(new_uri)

    def take_back(self, kept: Kept, texts: Mapping[str, str]) -> None:
        """Hunks of an earlier run come back, and follow their files to the text they have now.

        Args:
            kept: What the journal gives.
            texts: The current text of the files, by URI as the footings spell it; of a file that
                is gone there is none.
        """
        take_back(self._book, kept, texts)

    # -- deciding --------------------------------------------------------------------------------

    def together(self) -> AbstractContextManager[None]:
        """Within, many hunks are decided; what outlives the process is there when it is left."""
        return self._book.together()

    def reject(self, hunk_id: str, reason: str = "") -> None:
        """The user does not want it.

        Raises:
            WrongState: If it does not wait, or is on its way into the text and its approval has not
                been taken back.
        """
        hunk = self._book[hunk_id]
        if hunk.state is not HunkState.PENDING:
            raise WrongState(f"{hunk_id} can't be rejected: it is {hunk.state}")
        if self.blocks.reject(hunk_id, reason):
            return
        track = self._book.track(hunk.uri)
        is_withdrawn = self.outbox.is_withdrawn(hunk_id)
        if not is_withdrawn:  # else this is done when it is known what came of its edit
            self._check_here(hunk_id)
            self.blocks.let_go(hunk_id)
            if track:
                track.settle_in_place(hunk_id)
        rejected = but(hunk, state=HunkState.REJECTED, reason=reason)
        self._book.put(rejected, decision=True)
        self._book.changed(hunk.uri)

    def amend(self, hunk_id: str, new: str) -> Hunk:
        """The user wants another text than the agent wrote; the hunk goes on waiting with that, in the
        line ends of its document.

        Raises:
            WrongState: If it does not wait, is on its way into the text, or about a file as such.
        """
        hunk = self._book[hunk_id]
        track = self._book.track(hunk.uri)
        if hunk.state is not HunkState.PENDING:
            raise WrongState(f"{hunk_id} can't be amended: it is {hunk.state}")
        if track is None or not is_of_lines(hunk):
            raise WrongState(f"{hunk_id} can't be amended: it is about a file as such")
        if self.blocks.is_whole(hunk_id):
            raise WrongState(f"{hunk_id} stands in the text: change it there")
        self._check_here(hunk_id)
        new = as_document_has_it(new, self.hunk(hunk_id), track)
        if (anchor := track.remake(hunk_id, new)) is None:
            raise WrongState(f"{hunk_id} can't be changed yet: decide the hunk before it first")
        amended = dataclasses.replace(
            hunk, old=anchor.base, new=anchor.proposed, inline=False, reason=""
        )
        self._book.put(amended, decision=True, stands=hunk.uri)
        self._book.changed(hunk.uri)
        return self.hunk(hunk_id)

    def take_theirs(self, hunk_id: str) -> Hunk:
        """The agent's text is to stand in a conflict's place, whatever the user wrote there.

        Raises:
            WrongState: If it is no conflict.
        """
        hunk = self.hunk(hunk_id)
        if hunk.state is not HunkState.CONFLICT:
            raise WrongState(f"{hunk_id} is no conflict: it is {hunk.state}")
        return self.amend(hunk_id, hunk.new)

    def take_mine(self, hunk_id: str) -> None:
        """The user's text is to stand in a conflict's place.

        Raises:
            WrongState: If it is no conflict.
        """
        if (state := self.hunk(hunk_id).state) is not HunkState.CONFLICT:
            raise WrongState(f"{hunk_id} is no conflict: it is {state}")
        self.reject(hunk_id, "your own text stands")

    def restore(self, hunk_id: str) -> Hunk:
        """A rejected, undone or superseded hunk waits again, for the text as it is now.

        Raises:
            WrongState: If it is none of these, its place is another hunk's by now or is gone, or an
                edit is still on its way. What replaced a superseded one is superseded in its turn.
        """
        restore(self._book, hunk_id)
        return self.hunk(hunk_id)

    def _check_here(self, hunk_id: str) -> None:
        """Make sure that nothing of a hunk is on its way to the editor.

        Raises:
            OnItsWay: If something is.
        """
        if self._book.is_on_its_way(hunk_id):
            raise OnItsWay(hunk_id)
