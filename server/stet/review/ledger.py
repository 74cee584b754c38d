"""The review ledger: all proposals, from the policy check to the user's decision and back.

The ledger is the only owner of this state and is used on the event loop only. It never changes a
document: an accepted hunk is sent as an edit, and counts as accepted only after the editor has
reported a text with the edit.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from stet.review.conflict_creation import propose_conflict
from stet.review.errors import EditInFlight, WrongHunkState
from stet.review.hunk_creation import (
    propose_create,
    propose_lines,
    propose_move,
    propose_remove,
    reopen_hunk,
    replacement,
    replacing_turn,
)
from stet.review.hunk_store import HunkStore, is_line_hunk
from stet.review.inline.imported_hunks import BlockDraft, import_blocks
from stet.review.inline.inline_blocks import InlineBlocks, normalize_line_ends
from stet.review.journal import AnchorSnapshot, Journal, NullJournal
from stet.review.outbox import Outbox
from stet.review.proposal import (
    LIVE,
    OPEN,
    WITHDRAWN,
    CreateDraft,
    EditDraft,
    Hunk,
    HunkState,
    MoveDraft,
    Proposal,
    replace_hunk,
)
from stet.review.rebase import catch_up, follow_editor
from stet.review.replaced_hunks import reopen_replaced, replaced_by_conflict
from stet.review.resolve.prepared_edit import PreparedDraft
from stet.review.state_restore import (
    PreparedRestore,
    install_restored,
    open_with,
    rename_file,
    restore_undo_texts,
)
from stet.text.document import TextDocument
from stet.text.edit import TextChange, TextEdit
from stet.workspace.uris import canonical


class ReviewLedger:
    """All proposals of one server.

    Attributes:
        outbox: The edits in flight to the editor.
        blocks: The hunks that are shown as blocks in the text.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        """Create a ledger without proposals; `journal` persists them."""
        self._store = HunkStore(journal or NullJournal())
        self.outbox = Outbox(self._store)
        self.blocks = InlineBlocks(self._store)
        self._noted_changes: dict[str, list[TextChange]] = {}

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the URI of every document whose hunks have changed."""
        self._store.subscribe(listener)

    def unsubscribe(self, listener: Callable[[str], None]) -> None:
        """Stop calling `listener`."""
        self._store.unsubscribe(listener)

    # -- proposing ---------------------------------------------------------------------------------

    def propose(self, prepared: PreparedDraft, amends: Collection[str] = ()) -> tuple[Hunk, ...]:
        """Add a prepared draft as pending hunks.

        An edit without changes makes no hunks; a new file and a removal make one; a move makes one,
        followed by the hunks of its links. Live hunks of other turns in the same place are
        superseded, and so is an earlier hunk of the same kind for the whole file.

        Args:
            prepared: An authorized draft, whose edits are for the current texts.
            amends: The pending hunks whose effect the edit includes. Hunks that the edit does not
                change remain; others are superseded, or withdrawn if no new hunk replaces them.

        Raises:
            HunkOverlap: If a live hunk of the same turn, or a sent hunk, is in the place.
            WrongHunkState: If a hunk to amend is not pending.
        """
        store = self._store
        draft = prepared.draft
        if isinstance(draft, EditDraft):
            self._check_amended(amends)
            made = propose_lines(store, draft, prepared, amends=amends)
        elif isinstance(draft, MoveDraft):
            made = propose_move(store, draft, prepared)
        elif isinstance(draft, CreateDraft):
            made = [propose_create(store, draft, prepared)]
        else:
            made = [propose_remove(store, draft, prepared)]
        return tuple(self.hunk(hunk_id) for hunk_id in made)

    def propose_conflict(
        self, prepared: PreparedDraft, base: str, amends: Collection[str] = ()
    ) -> tuple[Hunk, ...]:
        """Add the replacement of lines that the user has changed since the agent read them.

        Args:
            prepared: The authorized replacement of the user's lines by the agent's.
            base: The lines that the agent has read.
            amends: The pending hunks of the agent in the place, which the conflict supersedes.

        Returns:
            The hunk, which is in conflict; none if the agent has only undone its change.

        Raises:
            HunkOverlap: As `propose`.
            WrongHunkState: As `propose`.
        """
        assert isinstance(prepared.draft, EditDraft), "only an edit has lines"
        self._check_amended(amends)
        hunk_id = propose_conflict(self._store, prepared.draft, prepared, base, amends)
        return () if hunk_id is None else (self.hunk(hunk_id),)

    def _check_amended(self, hunk_ids: Iterable[str]) -> None:
        """Check that hunks can be amended.

        Raises:
            WrongHunkState: If a hunk is not pending, or its edit is in flight.
        """
        for hunk_id in hunk_ids:
            if (hunk := self.hunk(hunk_id)).state is not HunkState.PENDING:
                raise WrongHunkState(f"{hunk_id} can't be amended: it is {hunk.state}")
            self._check_not_in_flight(hunk_id)

    def import_blocks(self, draft: BlockDraft, now: TextDocument) -> bool:
        """Add the blocks that another program has written into a note as pending hunks.

        Args:
            draft: The blocks that have passed the policy check.
            now: The current document, which may have changed since.

        Returns:
            Whether all blocks are in the current text; those that are have been imported.
        """
        return import_blocks(self._store, draft, now)

    # -- queries -----------------------------------------------------------------------------------

    def hunk(self, hunk_id: str) -> Hunk:
        """Return the current state of a hunk.

        Raises:
            UnknownHunk: If there is no such hunk.
        """
        return self._store.current(self._store[hunk_id])

    def hunks(
        self, *, uri: str | None = None, turn: str | None = None, chat: str | None = None
    ) -> tuple[Hunk, ...]:
        """Return all hunks, of one file, one turn or one chat if named, in order of file and place.

        `range` is in the current text while the hunk is live, or can be undone or restored.
        """
        restored = self._store.all() if uri is None else self._store.of_file(uri)
        found = [h for h in restored if turn in (None, h.turn) and chat in (None, h.chat)]
        order = {
            anchor.hunk: nth
            for key in {canonical(hunk.uri) for hunk in found}
            if (tracked := self._store.tracked(key)) is not None
            for nth, anchor in enumerate(tracked.live)
        }
        now = [self._store.current(hunk) for hunk in found]
        # Hunks at one point are in the order of their anchors.
        now.sort(
            key=lambda h: (
                canonical(h.uri),
                (at := h.range.start).line,  # faster than comparing positions
                at.character,
                order.get(h.id, -1),
            )
        )
        return tuple(now)

    def live(self, uri: str) -> tuple[Hunk, ...]:
        """Return the live hunks of `uri`, in order of place."""
        tracked = self._store.tracked(uri)
        anchors = tracked.live if tracked else ()
        # A hunk that was rejected while its edit is in flight still has a live anchor.
        lines = [anchor.hunk for anchor in anchors if self._store[anchor.hunk].state in LIVE]
        known = set(lines)
        whole = [
            hunk.id
            for hunk in self._store.of_file(uri)
            if hunk.state in LIVE and hunk.id not in known
        ]
        return tuple(self.hunk(hunk_id) for hunk_id in (*whole, *lines))

    def live_uris(self) -> tuple[str, ...]:
        """Return the files with live hunks, sorted."""
        uris = {canonical(hunk.uri): hunk.uri for hunk in self._store.all() if hunk.state in LIVE}
        return tuple(sorted(uris.values()))

    def is_tracked(self, uri: str) -> bool:
        """Return whether the file `uri` has hunks that follow its changes."""
        is_noted = bool(self._noted_changes) and canonical(uri) in self._noted_changes
        return is_noted or self._store.tracked(uri) is not None

    def uris_below(self, folder: str) -> tuple[str, ...]:
        """Return the canonical URIs of the files in a folder that have hunks."""
        start = f"{canonical(folder).rstrip('/')}/"
        return tuple(uri for uri in self._store.files() if uri.startswith(start))

    def closed_uris(self) -> tuple[str, ...]:
        """Return the tracked files that are not open; only the disk knows their texts."""
        return tuple(tracked.uri for tracked in self._store.tracks() if not tracked.is_open)

    def spelling(self, uri: str) -> str:
        """Return `uri` as the latest hunk of that file spells it."""
        return next((hunk.uri for hunk in reversed(self._store.of_file(uri))), uri)

    def replaced_by(self, turn: str) -> tuple[Hunk, ...]:
        """Return the hunks of earlier turns that hunks of `turn` have superseded."""
        return tuple(one for one in self._store.all() if replacing_turn(self._store, one) == turn)

    def was_replaced(self, hunk_id: str) -> bool:
        """Return whether a hunk was superseded by a hunk of another turn."""
        return bool(replacing_turn(self._store, self._store[hunk_id]))

    def replaced(self, uri: str) -> list[Hunk]:
        """Return the hunks of `uri` that were superseded by a hunk of another turn that is not in
        the text.
        """
        in_text = {HunkState.SENT, HunkState.ACCEPTED}
        return [
            self._store.current(hunk)
            for hunk in self._store.of_file(uri)
            if hunk.state is HunkState.SUPERSEDED
            and (other := replacement(self._store, hunk)) is not None
            and other.state not in in_text
        ]

    def proposals(self, turn: str) -> tuple[Proposal, ...]:
        """Return the proposals of `turn`, one for each file."""
        return tuple(found for found in self._store.proposals.values() if found.turn == turn)

    def base_text(self, uri: str) -> str | None:
        """Return the text to which the hunks of a closed file refer; None if it is open."""
        tracked = self._store.tracked(uri)
        return None if tracked is None or tracked.is_open else tracked.text

    def edit_of(self, document: TextDocument, hunk_ids: Iterable[str]) -> TextEdit:
        """Return the edit of accepting these hunks in `document`, which is the current text.

        Hunks in conflict are left out.
        """
        return self.outbox.plan_accept(document, hunk_ids).edit

    def can_undo(self, hunk_id: str) -> bool:
        """Return whether an accepted hunk of lines can be undone alone in the current text."""
        tracked = self._store.tracked(self._store[hunk_id].uri)
        anchor = tracked.anchor(hunk_id) if tracked else None
        return anchor is None or anchor.merged is not None

    def anchor_snapshot(self, uri: str) -> AnchorSnapshot | None:
        """Return the text of a file and the places of its hunks, for the journal."""
        return self._store.anchor_snapshot(uri)

    # -- changes of documents ----------------------------------------------------------------------

    def apply_changes(
        self, uri: str, changes: tuple[TextChange, ...], lines: Sequence[str]
    ) -> None:
        """Move the hunks of the open document `uri` after a change of its text.

        Args:
            uri: The document.
            changes: The changes, in order.
            lines: The buffer's lines after the changes; the sequence itself is stored.
        """
        if self._noted_changes and (noted := self._noted_changes.get(canonical(uri))) is not None:
            noted += changes
        if tracked := self._store.tracked(uri):
            tracked.lines, tracked.is_open = lines, True
            follow_editor(self._store, tracked, changes, lines)

    def opened(
        self, uri: str, lines: Sequence[str], changes: Sequence[TextChange] | None = None
    ) -> None:
        """Move the hunks of the document `uri`, which was opened.

        Args:
            uri: The document.
            lines: As for `apply_changes`.
            changes: The changes since the text of the hunks; None if unknown.
        """
        if tracked := self._store.tracked(uri):
            tracked.uri = uri
            if not tracked.is_open and changes is None:
                self.blocks.apply_missing(tracked, "".join(lines))
            open_with(self._store, tracked, lines, changes)
            restore_undo_texts(self._store, tracked)

    def on_disk(self, uri: str, text: str) -> None:
        """Move the hunks of the closed file `uri`, which now has `text` on the disk."""
        tracked = self._store.tracked(uri)
        if tracked is not None and not tracked.is_open:
            self.blocks.apply_missing(tracked, text)
            catch_up(self._store, tracked, text)

    def closed(self, uri: str) -> None:
        """Handle the closing of `uri`: its hunks keep their places in its last text."""
        if tracked := self._store.tracked(uri):
            tracked.lines, tracked.is_open = tuple(tracked.lines), False

    def renamed(self, uri: str, new_uri: str, *, with_folder: bool = False) -> None:
        """Move the hunks of the file `uri` to its new name `new_uri`.

        Args:
            uri: The old name.
            new_uri: The new name.
            with_folder: Whether the folder of the file was renamed.
        """
        with self._store.batch():
            rename_file(self._store, self.outbox, uri, new_uri, with_folder=with_folder)
        self._store.notify(uri)
        self._store.notify(new_uri)

    def take_restored(self, prepared: PreparedRestore) -> None:
        """Add hunks of an earlier run, whose places a thread has found."""
        install_restored(self._store, prepared)

    @contextmanager
    def note_changes(self, uris: Iterable[str]) -> Iterator[Mapping[str, Sequence[TextChange]]]:
        """Record, within, the changes of open documents whose hunks are being restored.

        Yields:
            The changes so far, by canonical URI.
        """
        noted = self._noted_changes = {canonical(uri): [] for uri in uris}
        try:
            yield noted
        finally:
            self._noted_changes = {}

    # -- decisions ---------------------------------------------------------------------------------

    def batch(self) -> AbstractContextManager[object]:
        """Decide many hunks within; all are persisted at the end."""
        return self._store.batch()

    def reject(self, hunk_id: str, reason: str = "") -> None:
        """Reject a hunk that the user does not want.

        Raises:
            WrongHunkState: If the hunk is not pending, or its edit is in flight and its approval
                has not been withdrawn.
        """
        hunk = self._store[hunk_id]
        if hunk.state is not HunkState.PENDING:
            raise WrongHunkState(f"{hunk_id} can't be rejected: it is {hunk.state}")
        if self.blocks.reject(hunk_id, reason):
            return
        tracked = self._store.tracked(hunk.uri)
        is_withdrawn = self.outbox.is_withdrawn(hunk_id)
        if not is_withdrawn:  # otherwise done after the outcome of the edit is known
            self._check_not_in_flight(hunk_id)
            self.blocks.release(hunk_id)
            if tracked:
                tracked.settle_in_place(hunk_id)
        rejected = replace_hunk(hunk, state=HunkState.REJECTED, reason=reason)
        self._store.save(rejected, decision=True)
        self._store.notify(hunk.uri)

    def withdraw(self, hunk_id: str, *, reopens: bool = False) -> None:
        """Withdraw a hunk that its agent no longer proposes.

        Args:
            hunk_id: The hunk.
            reopens: Whether hunks that it has replaced in conflict are pending again.

        Raises:
            WrongHunkState: If the user has decided the hunk, or its edit is in flight.
        """
        hunk = self.hunk(hunk_id)
        if hunk.state not in OPEN:
            raise WrongHunkState(f"{hunk_id} can't be withdrawn: it is {hunk.state}")
        self._check_not_in_flight(hunk_id)
        if self.blocks.reject(hunk_id, WITHDRAWN):
            return
        self.blocks.release(hunk_id)
        replaced = replaced_by_conflict(self._store, hunk_id) if reopens else []
        withdrawn = self._store.close_hunk(self._store[hunk_id], HunkState.WITHDRAWN, WITHDRAWN)
        self._store.save(withdrawn, anchors_of=hunk.uri)
        reopen_replaced(self._store, replaced)
        self._store.notify(hunk.uri)

    def amend(self, hunk_id: str, new: str) -> Hunk:
        """Replace the agent's text of a hunk by the user's text `new`.

        The hunk remains pending, with the line ends of its document.

        Raises:
            WrongHunkState: If the hunk is not pending, in flight, or about a whole file.
        """
        hunk = self._store[hunk_id]
        tracked = self._store.tracked(hunk.uri)
        if hunk.state is not HunkState.PENDING:
            raise WrongHunkState(f"{hunk_id} can't be amended: it is {hunk.state}")
        if tracked is None or not is_line_hunk(hunk):
            raise WrongHunkState(f"{hunk_id} can't be amended: it is a file operation")
        if self.blocks.is_whole(hunk_id):
            raise WrongHunkState(f"{hunk_id} is shown in the text: edit it there")
        self._check_not_in_flight(hunk_id)
        new = normalize_line_ends(new, self.hunk(hunk_id), tracked)
        if (anchor := tracked.remake(hunk_id, new)) is None:
            raise WrongHunkState(
                f"{hunk_id} can't be changed yet: accept or reject the hunk before it first"
            )
        amended = dataclasses.replace(
            hunk, old=anchor.base, new=anchor.proposed, inline=False, reason="", replaces=()
        )
        self._store.save(amended, decision=True, anchors_of=hunk.uri)
        self._store.notify(hunk.uri)
        return self.hunk(hunk_id)

    def take_theirs(self, hunk_id: str) -> Hunk:
        """End a conflict with the agent's text instead of the user's.

        Raises:
            WrongHunkState: If the hunk is not in conflict.
        """
        hunk = self.hunk(hunk_id)
        if hunk.state is not HunkState.CONFLICT:
            raise WrongHunkState(f"{hunk_id} is not in conflict: it is {hunk.state}")
        return self.amend(hunk_id, hunk.new)

    def take_mine(self, hunk_id: str) -> None:
        """End a conflict with the user's text: that of the file, or of a hunk that it has replaced.

        Raises:
            WrongHunkState: If the hunk is not in conflict.
        """
        if (state := self.hunk(hunk_id).state) is not HunkState.CONFLICT:
            raise WrongHunkState(f"{hunk_id} is not in conflict: it is {state}")
        replaced = replaced_by_conflict(self._store, hunk_id)
        self.reject(hunk_id, "you kept your text")
        reopen_replaced(self._store, replaced)

    def restore(self, hunk_id: str) -> Hunk:
        """Restore a rejected, undone or superseded hunk: make it pending for the current text.

        Raises:
            WrongHunkState: If the hunk is in another state, its place is unknown or another hunk's,
                or an edit is in flight. Hunks that replaced a superseded hunk are superseded.
        """
        reopen_hunk(self._store, hunk_id)
        return self.hunk(hunk_id)

    def _check_not_in_flight(self, hunk_id: str) -> None:
        """Check that no edit of a hunk is in flight.

        Raises:
            EditInFlight: If an edit is in flight.
        """
        if self._store.is_on_its_way(hunk_id):
            raise EditInFlight(hunk_id)
