"""What can be worked out of a draft before the ledger takes it: what takes long, for a worker thread.

The gate is part of it, so what is ready has passed it.
"""

from dataclasses import dataclass, replace

from stet.review.drafts import CreateDraft, EditDraft, MoveDraft
from stet.review.grouping import section_key
from stet.review.policy.authorization import AuthorizedDraft, authorize
from stet.review.policy.rules import EditRules, ProposalRefused
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.review.tracking.tracked_span import range_of
from stet.text.diff import LineHunk


@dataclass(frozen=True, slots=True)
class PreparedEdit:
    """A draft that the gate has let through; made by `prepare_draft` only.

    Attributes:
        draft: The authorized draft.
        authorized: What the policy check says of the draft.
        hunks: Those of an edit, one for each of `authorized.hunks`, but for their ids and proposals; in
            the place of a group stands what it is called within a proposal.
    """

    draft: EditDraft | CreateDraft
    authorized: AuthorizedDraft
    hunks: tuple[Hunk, ...] = ()

    def with_caution(self, caution: str) -> "PreparedEdit":
        """Return the prepared edit with a sentence of caution for the user after its summary."""
        if not caution:
            return self
        summary = f"{self.draft.summary} (Caution: {caution})"
        return replace(
            self,
            draft=replace(self.draft, summary=summary),
            hunks=tuple(replace(hunk, summary=summary) for hunk in self.hunks),
        )


def prepare_draft(draft: EditDraft | CreateDraft, rules: EditRules) -> PreparedEdit:
    """Ask the gate, and work out the hunks. It may ask the disk.

    Raises:
        Refused: By the gate.
    """
    authorized = authorize(draft, rules)
    return (
        prepare_authorized(draft, authorized)
        if isinstance(draft, EditDraft)
        else PreparedEdit(draft, authorized)
    )


@dataclass(frozen=True, slots=True)
class RejectedDraft:
    """A draft that the gate has refused, to be told of later."""

    draft: EditDraft | CreateDraft
    refused: ProposalRefused


def prepare_or_reject(
    draft: EditDraft | CreateDraft, rules: EditRules
) -> PreparedEdit | RejectedDraft:
    """As `prepare_draft`, for a worker thread: a refusal is the owner's to raise."""
    try:
        return prepare_draft(draft, rules)
    except ProposalRefused as refused:
        return RejectedDraft(draft, refused)


def prepare_authorized(draft: EditDraft, authorized: AuthorizedDraft) -> PreparedEdit:
    """Return the prepared edit of an authorized draft, which may be a part of something else."""
    return PreparedEdit(
        draft, authorized, tuple(_hunk(hunk, draft, authorized) for hunk in authorized.hunks)
    )


@dataclass(frozen=True, slots=True)
class PreparedMove:
    """A move that the gate has let through with all its links; made by `prepare_move` only.

    Attributes:
        draft: The authorized draft.
        authorized: What the policy check says of the draft.
        links: The edits of its links.
    """

    draft: MoveDraft
    authorized: AuthorizedDraft
    links: tuple[PreparedEdit, ...]

    def with_caution(self, said: str) -> "PreparedMove":
        """As `PreparedEdit.with_caution`; the links only follow."""
        if not said:
            return self
        summary = f"{self.draft.summary} (Caution: {said})"
        return replace(self, draft=replace(self.draft, summary=summary))


def prepare_move(draft: MoveDraft, rules: EditRules) -> PreparedMove:
    """Ask the gate about a move, and work out the hunks of its links. It may ask the disk.

    Raises:
        Refused: By the gate, if it refuses any of it.
    """
    authorized = authorize(draft, rules)
    pairs = zip(draft.links, authorized.links, strict=True)
    return PreparedMove(
        draft, authorized, tuple(prepare_authorized(link, allowed) for link, allowed in pairs)
    )


def _hunk(hunk: LineHunk, draft: EditDraft, authorized: AuthorizedDraft) -> Hunk:
    old, new = "".join(hunk.old), "".join(hunk.new)
    document = draft.document
    place = range_of(document.lines, hunk.old_start, hunk.old_start + len(hunk.old))
    return Hunk(
        id="",
        proposal="",
        turn=draft.turn,
        chat=draft.chat,
        uri=document.uri,
        kind=_kind_of(old, new),
        state=HunkState.PENDING,
        range=place,
        old=old,
        new=new,
        base=old,
        proposed=new,
        summary=draft.summary_of(place),
        group=section_key(document, place, new),
        author=draft.author,
        protected=authorized.protected,
        reason=authorized.caution,
    )


def _kind_of(old: str, new: str) -> HunkKind:
    if not old:
        return HunkKind.ADD
    return HunkKind.REPLACE if new else HunkKind.DELETE
