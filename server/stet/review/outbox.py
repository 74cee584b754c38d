"""The edits in flight, of accepted and undone hunks.

An approval is for the hunk that the user was shown: a hunk may not remove more of the user's text
than at that time (`exceeds_approval`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from stet.review.hunk_store import HunkStore, note_text
from stet.review.proposal import UNDONE_IN_EDITOR, Hunk, HunkKind, HunkState, replace_hunk
from stet.review.rebase import catch_up, confirm_arrival
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.edit_plan import EditPlan, plan_accept
from stet.review.tracking.in_flight import add_timed_out
from stet.review.tracking.tracked_document import resolve_overlaps
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.merge import TOKEN

QUEUED = "waiting for the editor"
"""The reason of an accepted hunk whose edit is sent again, or after another edit."""


class Outbox:
    """The part of the ledger that sends edits: one at a time for each document."""

    def __init__(self, store: HunkStore) -> None:
        """Create the outbox of the hunks in `store`."""
        self._store = store

    # -- hunks of lines ----------------------------------------------------------------------------

    def plan_accept(self, document: TextDocument, hunk_ids: Iterable[str]) -> EditPlan:
        """Return the plan for accepting these hunks in `document`, which is the current text.

        Hunks in conflict are left out.
        """
        wanted = set(hunk_ids)
        live = self._store.ensure_tracked(document).live
        return plan_accept(document, [a for a in live if a.hunk in wanted and a.merged is not None])

    def send(
        self, document: TextDocument, hunk_ids: Sequence[str], *, back: bool = False
    ) -> TextEdit:
        """Send the edit of these hunks.

        Args:
            document: The current text.
            hunk_ids: Pending hunks, or with `back` accepted hunks.
            back: Whether the hunks are undone.

        Returns:
            The edit. If it changes nothing, the hunks are confirmed already.

        Raises:
            UndoConflict: If the user has changed the text of a hunk since.
        """
        tracked = self._store.ensure_tracked(document)
        plan = (
            tracked.plan_undo(document, hunk_ids) if back else self.plan_accept(document, hunk_ids)
        )
        note_text(self._store, tracked, plan.texts)
        if not back:
            sent = [self._store[hunk_id] for hunk_id in plan.texts]
            self._store.set_transient(
                *(replace_hunk(h, state=HunkState.SENT, reason=_remaining_reason(h)) for h in sent)
            )
        if tracked.timed_out is not None:
            tracked.timed_out = tracked.timed_out.without(plan.texts)
        tracked.send(document, plan)
        if not plan.edit.changes(document.text):
            confirm_arrival(self._store, tracked, plan.places)
        self._store.notify(document.uri)
        return plan.edit

    def is_sent(self, uri: str) -> bool:
        """Return whether an edit of `uri` is in flight."""
        tracked = self._store.tracked(uri)
        return tracked is not None and tracked.in_flight is not None

    def arrived(self, uri: str) -> bool:
        """Confirm the sent edit if the whole edit is in the text; return whether it is."""
        tracked = self._store.tracked(uri)
        if tracked is None or tracked.in_flight is None:
            return True
        found = tracked.arrived_places(tracked.in_flight)
        if len(found) < len(tracked.in_flight.plan.texts):
            return False
        confirm_arrival(self._store, tracked, found)
        self._store.notify(uri)
        return True

    def cancel(self, uri: str, reason: str) -> None:
        """Cancel the sent edit, which was not applied; confirm those hunks that are in the text."""
        tracked = self._store.tracked(uri)
        if tracked is None or tracked.in_flight is None:
            return
        plan, found = tracked.in_flight.plan, tracked.arrived_places(tracked.in_flight)
        late = [hunk_id for hunk_id in plan.texts if hunk_id not in found]
        confirm_arrival(self._store, tracked, found)
        for hunk_id in late:
            if (anchor := tracked.anchor(hunk_id)) is not None:
                anchor.resume_pending(tracked.lines)
                if self._store[hunk_id].state is HunkState.REJECTED:
                    tracked.settle_in_place(hunk_id)  # the user has withdrawn the approval
                elif plan.is_undo:
                    tracked.undone.given_up.add(hunk_id)
                else:
                    self._mark_pending(hunk_id, reason)
        resolve_overlaps(tracked.live, tracked.lines)
        if not plan.is_undo and plan.settle is None:
            now = TextDocument(tracked.uri, tracked.text)
            tracked.timed_out = add_timed_out(tracked.timed_out, now, late)
        self._store.notify(uri)

    # -- accepted hunks of lines between two attempts ----------------------------------------------

    def queue(self, uri: str, hunk_ids: Iterable[str], reason: str = QUEUED) -> None:
        """Queue accepted hunks: they count as sent until their edit is sent, perhaps again.

        This state is not persisted: after a restart they are pending.

        Args:
            uri: The URI of their file.
            hunk_ids: Pending hunks; other hunks are not changed.
            reason: The reason why they wait.
        """
        for hunk in [self._store[hunk_id] for hunk_id in hunk_ids]:
            if self._store.current(hunk).state is HunkState.PENDING:
                sent = replace_hunk(hunk, state=HunkState.SENT, reason=reason)
                self._store.set_transient(sent)
        self._store.notify(uri)

    def is_queued(self, hunk_id: str) -> bool:
        """Return whether a hunk is accepted and has no edit in flight."""
        hunk = self._store[hunk_id]
        return hunk.state is HunkState.SENT and not self._store.is_on_its_way(hunk_id)

    def dequeue(self, hunk_ids: Iterable[str]) -> None:
        """Remove hunks from the queue before their edit is sent, without a notification."""
        for hunk_id in filter(self.is_queued, hunk_ids):
            self._mark_pending(hunk_id, QUEUED)

    def give_up(self, uri: str, hunk_ids: Iterable[str], reason: str) -> None:
        """Remove hunks from the queue whose edit is not sent, for this reason."""
        queued = [hunk_id for hunk_id in hunk_ids if self.is_queued(hunk_id)]
        for hunk_id in queued:
            self._mark_pending(hunk_id, reason)
        if queued:
            self._store.notify(uri)

    def withdraw(self, hunk_id: str) -> None:
        """Withdraw the user's approval: the hunk is pending, even if its edit is in flight."""
        self._mark_pending(hunk_id, "")
        self._store.notify(self._store[hunk_id].uri)

    def is_withdrawn(self, hunk_id: str) -> bool:
        """Return whether an edit of a hunk is in flight whose approval was withdrawn."""
        hunk = self._store[hunk_id]
        tracked = self._store.tracked(hunk.uri)
        if tracked is None or tracked.in_flight is None or not self._store.is_on_its_way(hunk_id):
            return False
        is_acceptance = not tracked.in_flight.plan.is_undo and tracked.in_flight.plan.settle is None
        return is_acceptance and hunk.state is HunkState.PENDING

    def rejected_after_all(self, hunk_id: str, reason: str) -> None:
        """Reject an undone hunk that the user rejected while its edit was in flight."""
        hunk = self._store[hunk_id]
        if hunk.state is HunkState.UNDONE:
            rejected = replace_hunk(hunk, state=HunkState.REJECTED, reason=reason)
            self._store.save(rejected, decision=True)
            self._store.notify(hunk.uri)

    # -- hunks about a whole file ------------------------------------------------------------------

    def send_whole(self, hunk_id: str) -> None:
        """Mark a new file, a move or a removal as sent; the state survives a kill."""
        hunk = self._store[hunk_id]
        self._store.save_transient(replace_hunk(hunk, state=HunkState.SENT))
        self._store.notify(hunk.uri)

    def confirm_whole(self, hunk_id: str, text: str = "") -> None:
        """Confirm a new file, a move or a removal; `text` is the text of a new file."""
        hunk = self._store[hunk_id]
        done = replace_hunk(hunk, state=HunkState.ACCEPTED, new=text or hunk.new, reason="")
        if tracked := self._store.tracked(hunk.uri):
            tracked.drop(hunk_id)
        self._store.save(done, decision=True)
        self._store.notify(hunk.uri)

    def cancel_whole(self, hunk_id: str, reason: str) -> None:
        """Cancel a new file, a move or a removal that failed: make the hunk pending again."""
        hunk = self._store[hunk_id]
        if hunk.state is HunkState.SENT:
            self._store.save_transient(replace_hunk(hunk, state=HunkState.PENDING, reason=reason))
            self._store.notify(hunk.uri)

    def note_reason(self, hunk_id: str, reason: str) -> None:
        """Record the reason why a pending hunk is not sent."""
        hunk = self._store[hunk_id]
        if hunk.state is HunkState.PENDING:
            self._store.set_transient(replace_hunk(hunk, reason=reason))
            self._store.notify(hunk.uri)

    def undone_whole(self, hunk_id: str) -> None:
        """Mark an accepted new file, move or removal as undone."""
        hunk = self._store[hunk_id]
        undone = replace_hunk(hunk, state=HunkState.UNDONE, reason="")
        if hunk.kind is HunkKind.CREATE:
            # The text no longer exists; the hunk is tracked like a rejected hunk.
            tracked = self._store.ensure_tracked(TextDocument(hunk.uri, ""))
            if not tracked.is_open:
                catch_up(self._store, tracked, "")
            tracked.settle(Anchor(hunk_id, tracked.lines, (0, 0), "", hunk.new))
        anchors_of = hunk.uri if hunk.kind is HunkKind.CREATE else None
        self._store.save(undone, decision=True, anchors_of=anchors_of)
        self._store.notify(hunk.uri)

    def _mark_pending(self, hunk_id: str, reason: str) -> None:
        hunk = self._store[hunk_id]
        if hunk.state is HunkState.SENT:
            self._store.set_transient(replace_hunk(hunk, state=HunkState.PENDING, reason=reason))


def _remaining_reason(hunk: Hunk) -> str:
    """Return the reason of a hunk, except one that an approval removes."""
    return "" if hunk.reason == UNDONE_IN_EDITOR else hunk.reason


def exceeds_approval(now: Hunk, approved: Hunk) -> bool:
    """Return whether a hunk of lines removes words or signs that it did not remove when accepted.

    Text that the user types beside or within a hunk is also in the hunk's new text, so the hunk
    removes no more. The hunk removes more if it meets another text: for example, a deletion of
    lines that were removed already applies to the lines again after the file is closed without
    saving.

    Args:
        now: The hunk that would be applied.
        approved: The hunk at the time of the accept.
    """
    if (now.old, now.new) == (approved.old, approved.new):
        return False
    return not _removed_tokens(now) <= _removed_tokens(approved)


def _removed_tokens(hunk: Hunk) -> Counter[str]:
    return _tokens(hunk.old) - _tokens(hunk.new)


def _tokens(text: str) -> Counter[str]:
    return Counter(token for token in TOKEN.findall(text) if not token.isspace())
