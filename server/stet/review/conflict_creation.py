"""Creation of hunks in conflict: the user has changed their lines since the agent read them."""

from collections.abc import Collection
from typing import NamedTuple

from stet.review.hunk_creation import (
    close_replaced,
    first_number,
    overlapping_hunks,
    reason_of,
)
from stet.review.hunk_store import HunkStore
from stet.review.proposal import (
    WITHDRAWN,
    EditDraft,
    Hunk,
    HunkState,
    new_hunk,
    replace_hunk,
    superseded_by,
)
from stet.review.rebase import catch_up
from stet.review.replaced_hunks import reopen_replaced, replaced_by_conflict
from stet.review.resolve.prepared_edit import PreparedDraft
from stet.review.tracking.anchor import Anchor
from stet.review.tracking.relocation import find_lines
from stet.review.tracking.tracked_document import TrackedDocument
from stet.review.tracking.tracked_span import LineSpan, range_of
from stet.text.diff import LineHunk
from stet.text.document import TextDocument
from stet.text.lines import whole_lines

_LineRange = tuple[int, int]
"""Whole lines of the live text: the first, 0-based, and the line after the last."""


class _ConflictSlot(NamedTuple):
    """The place of a conflict, and the hunks that it replaces.

    Attributes:
        tracked: The tracked file.
        users_lines: The lines of the user that the draft replaces.
        anchor: The anchor of the conflict, without a hunk.
        amends: The ids of the pending hunks of the agent that the conflict supersedes.
        replaced: The ids of all live hunks that are closed, also those of other agents.
        inherited: The superseded hunks that earlier conflicts in the place have replaced.
    """

    tracked: TrackedDocument
    users_lines: _LineRange
    anchor: Anchor
    amends: tuple[str, ...]
    replaced: tuple[str, ...]
    inherited: tuple[Hunk, ...]


def propose_conflict(
    store: HunkStore,
    draft: EditDraft,
    prepared: PreparedDraft,
    base: str,
    amends: Collection[str] = (),
) -> str | None:
    """Add the replacement of lines that the user has changed since the agent read them.

    The hunk leads from `base` to the agent's lines, so it is in conflict as long as the user's
    lines can't be merged with it. If the place has a conflict of the agent already, its base is
    the older one, and the hunk is placed on the lines of the base where these are free again.

    Args:
        store: The store for the hunks.
        draft: The replacement of the user's lines by the agent's lines.
        prepared: The replacement after the policy check.
        base: The lines that the agent has read.
        amends: The pending hunks of the agent in the place, which the conflict supersedes.

    Returns:
        The id of the hunk; None if the agent has only undone its change.

    Raises:
        HunkOverlap: As `propose_lines`.
    """
    slot = _prepare_slot(store, draft, base, amends)
    if slot.anchor.base == slot.anchor.proposed:
        _withdraw_replaced(store, slot)
        return None
    return _add_conflict(store, draft, prepared, slot)


def _prepare_slot(
    store: HunkStore, draft: EditDraft, base: str, amends: Collection[str]
) -> _ConflictSlot:
    """Find the place of a conflict, check that it can be added, and return the affected hunks.

    Raises:
        HunkOverlap: As `propose_lines`.
    """
    document, replacement = draft.document, draft.edit.replacements[0]
    tracked = store.ensure_tracked(document)
    if document.version is None:
        # First move the other hunks to the text on the disk.
        catch_up(store, tracked, document.text)
    users_lines = _line_from(document, replacement.start), _line_from(document, replacement.end)
    earlier = _conflict_at(store, tracked, users_lines, draft.chat)
    if amends:
        anchor = _anchor_of_hunks(tracked, users_lines, base, replacement.text)
    else:
        anchor = _changed_anchor(tracked, users_lines, earlier, base, replacement.text)
    old = tuple(document.lines[anchor.first : anchor.end])
    change = LineHunk(anchor.first, old, anchor.first, whole_lines(replacement.text))
    replaced = overlapping_hunks(store, tracked, [change], draft, amends) | dict.fromkeys(amends)
    if earlier is not None:
        replaced[earlier.hunk] = None
    conflicts = [one for one in replaced if one not in amends and store[one].chat == draft.chat]
    inherited = tuple(one for each in conflicts for one in replaced_by_conflict(store, each))
    return _ConflictSlot(tracked, users_lines, anchor, tuple(amends), tuple(replaced), inherited)


def _withdraw_replaced(store: HunkStore, slot: _ConflictSlot) -> None:
    """Withdraw the hunks of a place where the agent has undone its change."""
    closed = [store.close_hunk(store[one], HunkState.WITHDRAWN, WITHDRAWN) for one in slot.replaced]
    store.save(*closed, anchors_of=slot.tracked.uri)
    reopen_replaced(store, slot.inherited)
    store.notify(slot.tracked.uri)


def _add_conflict(
    store: HunkStore, draft: EditDraft, prepared: PreparedDraft, slot: _ConflictSlot
) -> str:
    """Add the hunk of a conflict to its place, and close the hunks there; return its id."""
    document, tracked, anchor = draft.document, slot.tracked, slot.anchor
    reason = _reason_of_conflict(store, slot)
    anchor.hunk = hunk_id = f"h{first_number(store, 1)}"
    made = [(slot.users_lines, hunk_id)]
    closed = [close_replaced(store, tracked, one, made) for one in slot.replaced]
    closed += [replace_hunk(one, reason=superseded_by(hunk_id)) for one in slot.inherited]
    at = range_of(document.lines, anchor.first, anchor.end)
    hunk = new_hunk(draft, at, anchor.base, anchor.proposed, prepared.authorized.caution)
    reasons = (reason, reason_of(hunk.reason, draft, hunk_id, closed))
    proposal = store.proposal_id(draft.turn, document.uri)
    hunk = replace_hunk(
        hunk,
        id=hunk_id,
        proposal=proposal,
        group=f"{proposal}@{hunk_id}",
        reason="; ".join(filter(None, reasons)),
        replaces=(*slot.amends, *(one.id for one in slot.inherited)),
    )
    store.register([hunk])
    if slot.amends:
        tracked.add(anchor)
    else:
        tracked.add_changed(anchor)
    store.save(*closed, hunk, anchors_of=document.uri)
    store.notify(document.uri)
    return hunk_id


def _anchor_of_hunks(tracked: TrackedDocument, place: _LineRange, base: str, new: str) -> Anchor:
    """Return the anchor of a conflict whose place has the pending hunks that it replaces whole."""
    anchor = Anchor("", tracked.lines, place, base, new)
    anchor.restore_span(LineSpan(*place, is_lost=False), tracked.lines)
    return anchor


def _changed_anchor(
    tracked: TrackedDocument, place: _LineRange, earlier: Anchor | None, base: str, new: str
) -> Anchor:
    """Return the anchor of a conflict about lines of the file that the user has changed.

    Args:
        tracked: The file.
        place: The lines of the user.
        earlier: The conflict of the agent in exactly this place, if any.
        base: The lines that the agent has read.
        new: The agent's lines.
    """
    if earlier is not None:
        base = earlier.base
        found = find_lines(base, tracked.lines)
        # The hunk over the old lines may have been replaced since, or decided.
        if found and set(tracked.overlapping(found)) <= {earlier}:
            place = found
    anchor = Anchor("", tracked.lines, place, base, new)
    anchor.read_changed(tracked.lines)
    return anchor


def _conflict_at(
    store: HunkStore, tracked: TrackedDocument, place: _LineRange, chat: str
) -> Anchor | None:
    """Return the anchor of the conflict of a chat that has exactly the lines `place`."""
    of_chat = (one for one in tracked.overlapping(place) if store[one.hunk].chat == chat)
    return next(
        (one for one in of_chat if one.merged is None and (one.first, one.end) == place), None
    )


def _reason_of_conflict(store: HunkStore, slot: _ConflictSlot) -> str:
    """Return the reason of a conflict that replaces hunks of its conversation, or ""."""
    replaced = [store.current(store[one]) for one in slot.amends] or slot.inherited
    if amended := [one.id for one in replaced if one.is_amended]:
        return f"you changed the earlier proposal {' and '.join(amended)}"
    ids = " and ".join(one.id for one in replaced)
    return f"you edited text around the earlier proposal {ids}" if ids else ""


def _line_from(document: TextDocument, offset: int) -> int:
    """Return the line that begins at an offset; at the end of the text, the line after."""
    at = document.position_at(offset)
    return at.line + (at.character > 0)
