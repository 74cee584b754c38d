"""What can be worked out of a draft before the ledger takes it: what takes long, for a worker thread.

The gate is part of it, so what is ready has passed it.
"""

from dataclasses import dataclass, replace

from stet.review.anchoring.line_span import range_of
from stet.review.drafts import CreateDraft, EditDraft, MoveDraft
from stet.review.gate import Admitted, admit
from stet.review.grouping import section_of
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.review.rules import EditRules, Refused
from stet.text.line_hunk import LineHunk


@dataclass(frozen=True, slots=True)
class Ready:
    """A draft that the gate has let through; made by `ready` only.

    Attributes:
        draft: That.
        admitted: What the gate says of it.
        hunks: Those of an edit, one for each of `admitted.hunks`, but for their ids and proposals; in
            the place of a group stands what it is called within a proposal.
    """

    draft: EditDraft | CreateDraft
    admitted: Admitted
    hunks: tuple[Hunk, ...] = ()

    def with_caution(self, said: str) -> "Ready":
        """The same, with a sentence for the user behind what it is for."""
        if not said:
            return self
        summary = f"{self.draft.summary} (Caution: {said})"
        return replace(
            self,
            draft=replace(self.draft, summary=summary),
            hunks=tuple(replace(hunk, summary=summary) for hunk in self.hunks),
        )


def ready(draft: EditDraft | CreateDraft, rules: EditRules) -> Ready:
    """Ask the gate, and work out the hunks. It may ask the disk.

    Raises:
        Refused: By the gate.
    """
    admitted = admit(draft, rules)
    return ready_as(draft, admitted) if isinstance(draft, EditDraft) else Ready(draft, admitted)


@dataclass(frozen=True, slots=True)
class NotReady:
    """A draft that the gate has refused, to be told of later."""

    draft: EditDraft | CreateDraft
    refused: Refused


def made_ready(draft: EditDraft | CreateDraft, rules: EditRules) -> Ready | NotReady:
    """As `ready`, for a worker thread: a refusal is the owner's to raise."""
    try:
        return ready(draft, rules)
    except Refused as refused:
        return NotReady(draft, refused)


def ready_as(draft: EditDraft, admitted: Admitted) -> Ready:
    """The same for an edit that has been admitted, perhaps as a part of something else."""
    return Ready(draft, admitted, tuple(_hunk(hunk, draft, admitted) for hunk in admitted.hunks))


@dataclass(frozen=True, slots=True)
class ReadyMove:
    """A move that the gate has let through with all its links; made by `ready_move` only.

    Attributes:
        draft: That.
        admitted: What the gate says of it.
        links: The edits of its links.
    """

    draft: MoveDraft
    admitted: Admitted
    links: tuple[Ready, ...]

    def with_caution(self, said: str) -> "ReadyMove":
        """As `Ready.with_caution`; the links only follow."""
        if not said:
            return self
        summary = f"{self.draft.summary} (Caution: {said})"
        return replace(self, draft=replace(self.draft, summary=summary))


def ready_move(draft: MoveDraft, rules: EditRules) -> ReadyMove:
    """Ask the gate about a move, and work out the hunks of its links. It may ask the disk.

    Raises:
        Refused: By the gate, if it refuses any of it.
    """
    admitted = admit(draft, rules)
    pairs = zip(draft.links, admitted.links, strict=True)
    return ReadyMove(draft, admitted, tuple(ready_as(link, allowed) for link, allowed in pairs))


def _hunk(hunk: LineHunk, draft: EditDraft, admitted: Admitted) -> Hunk:
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
        group=section_of(document, place, new),
        author=draft.author,
        protected=admitted.protected,
        reason=admitted.caution,
    )


def _kind_of(old: str, new: str) -> HunkKind:
    if not old:
        return HunkKind.ADD
    return HunkKind.REPLACE if new else HunkKind.DELETE
