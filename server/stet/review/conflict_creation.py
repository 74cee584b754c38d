"""Creation of hunks in conflict: the user has changed their lines since the agent read them."""

from collections.abc import Collection, Iterable

from stet.review.hunk_creation import (
    close_replaced,
    first_number,
    overlapping_hunks,
    reason_of,
)
from stet.review.hunk_store import HunkStore
from stet.review.proposal import (
    REPLACING,
    WITHDRAWN,
    EditDraft,
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

_Place = tuple[int, int]


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
    document, replaced = draft.document, draft.edit.replacements[0]
    tracked = store.ensure_tracked(document)
    if document.version is None:
        catch_up(store, tracked, document.text)
    written = _line_from(document, replaced.start), _line_from(document, replaced.end)
    earlier = _conflict_at(store, tracked, written, draft.chat)
    if amends:
        anchor = _anchor_of_hunks(tracked, written, base, replaced.text)
    else:
        anchor = _changed_anchor(tracked, written, earlier, base, replaced.text)
    place = anchor.first, anchor.end
    change = LineHunk(
        place[0], tuple(document.lines[slice(*place)]), place[0], whole_lines(replaced.text)
    )
    gone = overlapping_hunks(store, tracked, [change], draft, amends) | dict.fromkeys(amends)
    if earlier is not None:
        gone[earlier.hunk] = None
    of_chat = [one for one in gone if store[one].chat == draft.chat]
    before = [hunk for one in of_chat for hunk in replaced_by_conflict(store, one)]
    if anchor.base == replaced.text:
        closed = [store.close_hunk(store[one], HunkState.WITHDRAWN, WITHDRAWN) for one in gone]
        store.save(*closed, anchors_of=document.uri)
        reopen_replaced(store, before)
        store.notify(document.uri)
        return None
    replacing = _replacing(store, amends, of_chat)
    anchor.hunk = hunk_id = f"h{first_number(store, 1)}"
    closed = [close_replaced(store, tracked, one, [(written, hunk_id)]) for one in gone]
    at = range_of(document.lines, *place)
    hunk = new_hunk(draft, at, anchor.base, replaced.text, prepared.authorized.caution)
    reasons = (replacing, reason_of(hunk.reason, draft, hunk_id, closed))
    proposal = store.proposal_id(draft.turn, document.uri)
    group, reason = f"{proposal}@{hunk_id}", "; ".join(filter(None, reasons))
    hunk = replace_hunk(hunk, id=hunk_id, proposal=proposal, group=group, reason=reason)
    store.register([hunk])
    (tracked.add if amends else tracked.add_changed)(anchor)
    closed += [replace_hunk(one, reason=superseded_by(hunk_id)) for one in before]
    store.save(*closed, hunk, anchors_of=document.uri)
    store.notify(document.uri)
    return hunk_id


def _anchor_of_hunks(tracked: TrackedDocument, place: _Place, base: str, new: str) -> Anchor:
    """Return the anchor of a conflict whose place has the pending hunks that it replaces whole."""
    anchor = Anchor("", tracked.lines, place, base, new)
    anchor.restore_span(LineSpan(*place, is_lost=False), tracked.lines)
    return anchor


def _changed_anchor(
    tracked: TrackedDocument, place: _Place, earlier: Anchor | None, base: str, new: str
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
    store: HunkStore, tracked: TrackedDocument, place: _Place, chat: str
) -> Anchor | None:
    """Return the anchor of the conflict of a chat that has exactly the lines `place`."""
    of_chat = (one for one in tracked.overlapping(place) if store[one.hunk].chat == chat)
    return next(
        (one for one in of_chat if one.merged is None and (one.first, one.end) == place), None
    )


def _replacing(store: HunkStore, amends: Iterable[str], gone: Iterable[str]) -> str:
    """Return the reason of a conflict that replaces hunks of its conversation, or "".

    Args:
        store: All hunks.
        amends: The pending hunks that it replaces.
        gone: All hunks of the conversation that it replaces; an earlier conflict passes on its
            reason.
    """
    if amended := [one for one in amends if store.current(store[one]).is_amended]:
        return f"{REPLACING[0]} {' and '.join(amended)}"
    if amends:
        return f"{REPLACING[1]} {' and '.join(amends)}"
    reasons = (store[one].reason.partition("; ")[0] for one in gone)
    return next((reason for reason in reasons if reason.startswith(REPLACING)), "")


def _line_from(document: TextDocument, offset: int) -> int:
    """Return the line that begins at an offset; at the end of the text, the line after."""
    at = document.position_at(offset)
    return at.line + (at.character > 0)
