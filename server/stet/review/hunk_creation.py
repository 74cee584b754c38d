"""Creation of hunks from prepared drafts, and replacement of earlier hunks."""

import dataclasses
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import accumulate, islice, takewhile
from typing import NamedTuple

from stet.review.errors import EditInFlight, HunkOverlap, WrongHunkState
from stet.review.hunk_store import TOP, HunkStore, is_line_hunk
from stet.review.proposal import (
    LIVE,
    STET,
    WITHDRAWN,
    CreateDraft,
    Draft,
    EditDraft,
    Hunk,
    HunkKind,
    HunkState,
    MoveDraft,
    RemoveDraft,
    new_hunk,
    replace_hunk,
    superseded_by,
)
from stet.review.rebase import catch_up
from stet.review.replaced_hunks import release_replaced
from stet.review.resolve.prepared_edit import PreparedDraft
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.tracked_document import TrackedDocument, overlap
from stet.text.diff import LineHunk
from stet.text.document import TextDocument

_LineRange = tuple[int, int]
"""Whole lines of the live text: the first, 0-based, and the line after the last."""


class _MovePart(NamedTuple):
    """A move whose links an edit changes, and the number of the edit's first hunk."""

    move: Hunk
    first: int


class _EditSlot(NamedTuple):
    """The hunks of a file before an edit is added.

    Attributes:
        track: The tracked file.
        staying: The amended hunks that the edit proposes again unchanged, by place.
        fresh: The new hunks of the edit.
        replaced: The hunks that the edit replaces or withdraws.
    """

    track: TrackedDocument
    staying: dict[_LineRange, str]
    fresh: list[LineHunk]
    replaced: dict[str, None]


def propose_lines(
    store: HunkStore,
    draft: EditDraft,
    prepared: PreparedDraft,
    *,
    amends: Collection[str] = (),
    part_of: _MovePart | None = None,
) -> list[str]:
    """Add an edit as pending hunks; return their ids and the ids of unchanged amended hunks.

    Args:
        store: The store for the hunks.
        draft: The edit.
        prepared: The edit after the policy check.
        amends: Pending hunks whose effect the edit includes.
        part_of: The move whose links the edit changes.

    Raises:
        HunkOverlap: If a live hunk of the same turn, or a sent hunk, is in the place.
    """
    document, authorized = draft.document, prepared.authorized
    if not authorized.hunks and not amends:
        return []
    tracked, staying, fresh, replaced = _prepare_slot(store, draft, prepared, frozenset(amends))
    first = part_of.first if part_of else first_number(store, len(fresh))
    made = {_old_lines(hunk): f"h{first + nth}" for nth, hunk in enumerate(fresh)}
    in_order = tuple(made.items())
    closed = [close_replaced(store, tracked, hunk_id, in_order) for hunk_id in replaced]
    move = part_of.move if part_of else None
    proposal = move.proposal if move else store.proposal_id(draft.turn, document.uri)
    outlines = {
        _old_lines(at): hunk for at, hunk in zip(authorized.hunks, prepared.hunks, strict=True)
    }
    hunks = [
        replace_hunk(
            (outline := outlines[place]),
            id=hunk_id,
            proposal=proposal,
            group=move.group if move else f"{proposal}{outline.group or f'@{hunk_id}'}",
            reason=reason_of(outline.reason, draft, hunk_id, closed),
        )
        for place, hunk_id in in_order
    ]
    store.register(hunks, move.uri if move else "")
    for hunk, line_hunk in zip(hunks, fresh, strict=True):
        tracked.add(Anchor(hunk.id, tracked.lines, _old_lines(line_hunk), hunk.old, hunk.new))
    store.save(*closed, *hunks, anchors_of=document.uri)
    store.notify(document.uri)
    ids = {**made, **staying}
    return [ids[_old_lines(hunk)] for hunk in authorized.hunks]


def _prepare_slot(
    store: HunkStore,
    draft: EditDraft,
    prepared: PreparedDraft,
    amends: frozenset[str] = frozenset(),
) -> _EditSlot:
    """Check that an edit can be added, and return the affected hunks.

    Raises:
        HunkOverlap: As `propose_lines`.
    """
    document, hunks = draft.document, prepared.authorized.hunks
    tracked = store.ensure_tracked(document)
    if document.version is None:
        # First move the other hunks to the text on the disk.
        catch_up(store, tracked, document.text)
    staying = _staying(tracked, hunks, amends)
    fresh = [hunk for hunk in hunks if _old_lines(hunk) not in staying]
    replaced = overlapping_hunks(store, tracked, fresh, draft, amends)
    replaced |= dict.fromkeys(amends - set(staying.values()))
    return _EditSlot(tracked, staying, fresh, replaced)


def _staying(
    tracked: TrackedDocument, hunks: Sequence[LineHunk], amends: Collection[str]
) -> dict[_LineRange, str]:
    """Return the hunks of `amends` that an edit proposes again unchanged, by place."""
    if not amends:
        return {}
    known = {
        (one.first, one.end, one.merged): one.hunk for one in tracked.live if one.hunk in amends
    }
    same = ((_old_lines(hunk), "".join(hunk.new)) for hunk in hunks)
    return {place: known[*place, text] for place, text in same if (*place, text) in known}


def first_number(store: HunkStore, n: int) -> int:
    """Return the number of the first of `n` hunks; 0 if there are no hunks."""
    return store.journal.number("hunk", n) if n else 0


def _old_lines(hunk: LineHunk) -> _LineRange:
    return hunk.old_start, hunk.old_end


def overlapping_hunks(
    store: HunkStore,
    tracked: TrackedDocument,
    fresh: list[LineHunk],
    draft: EditDraft,
    amends: Collection[str],
) -> dict[str, None]:
    """Return the live hunks of other turns that share a place with the new hunks.

    Raises:
        HunkOverlap: If such a hunk can't be replaced, and is not an insertion beside a new
            insertion.
    """
    found: dict[str, None] = {}
    for hunk in fresh:
        for anchor in tracked.overlapping(_old_lines(hunk)):
            if anchor.hunk in amends:
                continue
            other = store.current(store[anchor.hunk])
            # A hunk in conflict can't be accepted, so its turn may replace it.
            mine = other.turn == draft.turn and other.state is not HunkState.CONFLICT
            on_way = store.is_on_its_way(other.id)
            if mine and anchor.is_insertion and not hunk.old and not on_way:
                continue  # both are inserted, in the order of the turn's rounds
            if mine or other.state is HunkState.SENT or on_way:
                raise HunkOverlap(other)
            found[anchor.hunk] = None
    return found


def close_replaced(
    store: HunkStore, tracked: TrackedDocument, hunk_id: str, made: Sequence[tuple[_LineRange, str]]
) -> Hunk:
    """Close and return a hunk: superseded if a new hunk replaces it, else withdrawn."""
    anchor = tracked.anchor(hunk_id)
    place = (anchor.first, anchor.end) if anchor else (0, 0)
    # The new hunks are in order of place, and do not touch each other.
    near = islice(made, bisect_left(made, place[0], key=lambda one: one[0][1]), None)
    touching = list(takewhile(lambda one: one[0][0] <= place[1], near))
    if touching:
        other = next((new for at, new in touching if overlap(at, place)), touching[0][1])
        return store.close_hunk(store[hunk_id], HunkState.SUPERSEDED, superseded_by(other))
    return store.close_hunk(store[hunk_id], HunkState.WITHDRAWN, WITHDRAWN)


def reason_of(caution: str, draft: Draft, hunk_id: str, closed: Sequence[Hunk]) -> str:
    """Return the reason of a new hunk: its caution, and the hunks of other agents in its place.

    Within Stet's own agent a new proposal replaces an older one as a matter of course.
    """
    by_it = superseded_by(hunk_id)
    replaced = [one for one in closed if one.reason == by_it and one.chat != draft.chat]
    named = [
        f"{one.id} of {one.author if one.author != draft.author else 'another session'}"
        for one in replaced
        if (one.author, draft.author) != (STET, STET)
    ]
    replaces = f"replaces {' and '.join(named)}: restore it to have it instead" if named else ""
    return "; ".join(filter(None, (caution, replaces)))


# -- whole files ---------------------------------------------------------------------------------


def propose_create(store: HunkStore, draft: CreateDraft, prepared: PreparedDraft) -> str:
    """Add a new file as one pending hunk; return its id.

    Raises:
        HunkOverlap: If an earlier hunk for the new file has been sent.
    """
    hunk = _whole_file_hunk(store, draft, prepared)
    closed = _close_earlier(store, hunk)
    tracked = store.ensure_tracked(TextDocument(draft.uri, ""))
    tracked.add(Anchor(hunk.id, tracked.lines, (0, 0), "", draft.text))
    hunk = replace_hunk(hunk, reason=reason_of(hunk.reason, draft, hunk.id, closed))
    _register(store, hunk, closed, anchors_of=hunk.uri)
    return hunk.id


def propose_move(store: HunkStore, draft: MoveDraft, prepared: PreparedDraft) -> list[str]:
    """Add a move and the edits of its links; return the ids of the hunks, the move's first.

    Raises:
        HunkOverlap: If a live hunk of the same turn, or a sent hunk, is in a place.
    """
    links = list(zip(draft.links, prepared.links, strict=True))
    for link, one in links:
        if one.hunks:
            # Check all links before any hunk is added.
            _ = _prepare_slot(store, link, one)
    hunk = _whole_file_hunk(store, draft, prepared)
    closed = _close_earlier(store, hunk)
    hunk = replace_hunk(hunk, reason=reason_of(hunk.reason, draft, hunk.id, closed))
    made = [hunk.id]
    n_lines = [len(one.hunks) for one in prepared.links]
    firsts = accumulate(n_lines, initial=first_number(store, sum(n_lines)))
    with store.batch():
        _register(store, hunk, closed)
        for (link, one), number in zip(links, firsts, strict=False):
            made += propose_lines(store, link, one, part_of=_MovePart(hunk, number))
    return made


def propose_remove(store: HunkStore, draft: RemoveDraft, prepared: PreparedDraft) -> str:
    """Add a file's removal as one pending hunk; return its id.

    Raises:
        HunkOverlap: If an earlier removal of the file has been sent.
    """
    hunk = _whole_file_hunk(store, draft, prepared)
    closed = _close_earlier(store, hunk)
    hunk = replace_hunk(hunk, reason=reason_of(hunk.reason, draft, hunk.id, closed))
    _register(store, hunk, closed)
    return hunk.id


def _register(
    store: HunkStore, hunk: Hunk, closed: list[Hunk], anchors_of: str | None = None
) -> None:
    store.register([hunk])
    store.save(*closed, hunk, anchors_of=anchors_of)
    store.notify(hunk.uri)


def _close_earlier(store: HunkStore, hunk: Hunk) -> list[Hunk]:
    """Close and return the live hunks of the same kind for the same file."""
    live = _same_file_hunks(store, hunk)
    for other in live:
        if other.state is HunkState.SENT:
            raise HunkOverlap(store.current(other))
    return [store.close_hunk(h, HunkState.SUPERSEDED, superseded_by(hunk.id)) for h in live]


def _same_file_hunks(store: HunkStore, hunk: Hunk) -> list[Hunk]:
    """Return the live hunks of the same kind for the same file."""
    return [h for h in store.of_file(hunk.uri) if h.kind is hunk.kind and h.state in LIVE]


def _contradicting(store: HunkStore, hunk: Hunk) -> Hunk | None:
    """Return a live hunk that can't be accepted beside a hunk about the same whole file, or None.

    Moves of one turn that were undone follow each other.
    """
    others = [] if is_line_hunk(hunk) else _same_file_hunks(store, hunk)
    is_undone = hunk.state is HunkState.UNDONE
    return next((one for one in others if not (is_undone and one.turn == hunk.turn)), None)


def _whole_file_hunk(
    store: HunkStore, draft: CreateDraft | MoveDraft | RemoveDraft, prepared: PreparedDraft
) -> Hunk:
    """Return a hunk about a whole file."""
    kind, old, new, new_uri = HunkKind.MOVE, "", "", ""
    match draft:
        case CreateDraft():
            kind, new = HunkKind.CREATE, draft.text
        case MoveDraft():
            new_uri = draft.new_uri
        case RemoveDraft():
            kind, old = HunkKind.REMOVE, draft.text
    proposal = store.proposal_id(draft.turn, draft.uri)
    return replace_hunk(
        new_hunk(draft, TOP, old, new, prepared.authorized.caution),
        id=f"h{store.journal.number('hunk')}",
        proposal=proposal,
        kind=kind,
        new_uri=new_uri,
        group=proposal,
    )


_RESTORABLE = frozenset({HunkState.REJECTED, HunkState.UNDONE, HunkState.SUPERSEDED})


def reopen_hunk(store: HunkStore, hunk_id: str) -> None:
    """Make a decided hunk pending again; a superseded hunk then supersedes its replacement.

    Raises:
        WrongHunkState: If the hunk is in another state, or its place no longer exists or belongs to
            another hunk.
        EditInFlight: If an edit of the hunk or of its replacement is in flight.
    """
    hunk = store[hunk_id]
    if hunk.state not in _RESTORABLE:
        raise WrongHunkState(f"{hunk_id} can't be restored: it is {hunk.state}")
    if store.is_on_its_way(hunk_id):
        raise EditInFlight(hunk_id)
    tracked = store.tracked(hunk.uri)
    is_superseded = hunk.state is HunkState.SUPERSEDED
    closed = _close_replacing(store, hunk, tracked) if is_superseded else []
    if not is_superseded and (other := _contradicting(store, hunk)) is not None:
        raise WrongHunkState(
            f"{hunk_id} can't be restored: its file already waits for your decision about "
            f"{other.id}. Accept or reject {other.id} first"
        )
    if is_line_hunk(hunk) and (tracked is None or not tracked.revive(hunk_id)):
        raise WrongHunkState(
            f"{hunk_id} can't be restored: its location no longer exists or has another "
            "pending hunk"
        )
    waiting = dataclasses.replace(
        hunk, state=HunkState.PENDING, inline=False, reason="", replaces=()
    )
    store.save(*closed, waiting, decision=True, anchors_of=hunk.uri)
    release_replaced(store, waiting)
    store.notify(hunk.uri)


def _close_replacing(store: HunkStore, hunk: Hunk, tracked: TrackedDocument | None) -> list[Hunk]:
    """Close and return the hunks in the place of a superseded hunk that is restored.

    Raises:
        WrongHunkState: If the place of the superseded hunk is unknown.
        EditInFlight: If an edit of one of the hunks is in flight.
    """
    if is_line_hunk(hunk):
        anchor = tracked.anchor(hunk.id) if tracked else None
        if tracked is None or anchor is None:
            raise WrongHunkState(f"{hunk.id} can't be restored: its location is unknown")
        found = [store[one.hunk] for one in tracked.overlapping((anchor.first, anchor.end))]
    else:
        found = _same_file_hunks(store, hunk)
    for other in found:
        if other.state is HunkState.SENT or store.is_on_its_way(other.id):
            raise EditInFlight(other.id)
    return [store.close_hunk(one, HunkState.SUPERSEDED, superseded_by(hunk.id)) for one in found]


def replacement(store: HunkStore, hunk: Hunk) -> Hunk | None:
    """Return the hunk of another turn that replaced a superseded hunk, or None."""
    hunk_id = hunk.reason.removeprefix("replaced by ")
    if hunk.state is not HunkState.SUPERSEDED or hunk_id not in store:
        return None
    other = store[hunk_id]
    return None if other.turn == hunk.turn else other


def replacing_turn(store: HunkStore, hunk: Hunk) -> str:
    """Return the other turn that proposed the replacement of a superseded hunk; "" if none."""
    other = replacement(store, hunk)
    return other.turn if other else ""
