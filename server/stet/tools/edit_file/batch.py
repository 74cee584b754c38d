"""The calls of one answer that edit one file: looked for ahead, and proposed as one edit.

A call that a rule refuses takes no other with it. One whose place can't be found holds all of them
back, so that the model sends them again, but in the last round, when it can't.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from stet.review.authorization import authorize
from stet.review.edit_instruction import InvalidInstruction
from stet.review.edit_resolver import (
    MergedEdit,
    QuotedEdit,
    ResolvedEdit,
    first_conflict,
    merge_edits,
    resolve_position,
    resolve_quote,
)
from stet.review.pending_view import PendingView
from stet.review.prepared_edit import PreparedEdit, RejectedDraft, prepare_or_reject
from stet.review.proposal import Hunk, HunkState
from stet.review.rules import ProposalRefused
from stet.review.shown_documents import changes_since_text, latest_with, noted_since
from stet.text.document import TextDocument
from stet.text.edit import OverlapError
from stet.text.match import MatchError
from stet.text.position import Range
from stet.text.shown_text import ShownText
from stet.tools.desk import Desk
from stet.tools.edit_file.call import EditFile
from stet.tools.edit_file.carried import carried, moved_place
from stet.tools.errors import HeldBack, RuleRefused, ToolError

_LARGE = 100_000
"""Characters from which on a text is not looked through on the event loop."""
_MAX_NAMED = 100
"""Hunks named in one answer."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a call does.

    Attributes:
        part: The same as one edit with the pending hunks that it changes.
        places: The whole lines of the text as it is that it changes.
        refused: Why it would not pass the gate alone.
    """

    wish: ResolvedEdit
    part: MergedEdit
    places: tuple[Range, ...]
    refused: ProposalRefused | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be proposed.

    Attributes:
        numbers: The calls (0-based) that it holds.
        found: What each of them does.
        whole: All of them as one edit.
        amends: Ids of the pending hunks that it takes the place of.
        ready: What the gate says of it; None if it changes nothing.
    """

    numbers: tuple[int, ...]
    found: tuple[_Found, ...]
    whole: MergedEdit
    amends: tuple[str, ...]
    ready: PreparedEdit | RejectedDraft | None


class Batch:
    """Calls that edit one file as it is now.

    Args:
        desk: Where they work.
        live: The file.
        calls: In order.
        new: The pending hunk that makes the file, if it is not there yet; `live` is its text.
    """

    def __init__(
        self, desk: Desk, live: TextDocument, calls: Sequence[EditFile], new: Hunk | None
    ) -> None:
        self._desk = desk
        self._live = live
        self._calls = calls
        self._new = new
        self._view = PendingView(live, ()) if new else desk.pending_in(live)
        # What the workspace knows is asked here, for it belongs to the event loop.
        self._texts = tuple(
            (shown, noted_since(live, shown, desk.workspace))
            for shown in desk.shown.texts_of(live.uri)
        )
        self._seen: dict[str, ShownText] = {}
        self._rules = replace(desk.rules, path_status=cache(desk.rules.path_status))
        self._look = desk.rules.prefetch_status((live.uri,))
        self._located = desk.locate(calls[0].file) if new else None
        self._found: list[_Found | MatchError | InvalidInstruction] = []
        self._clashes: list[tuple[int, ...]] = []
        self._plan: _Plan | None = None
        self._is_found = False

    def _shown_to(self, call: EditFile) -> TextDocument | None:
        """The text that a call is about, as the model was shown it."""
        wanted: tuple[str, ...] = ()
        if call.old_text is not None and call.new_text is not None:
            wanted = QuotedEdit(call.old_text, call.new_text).candidate_texts()
        shown = latest_with([text for text, _ in self._texts], wanted)
        if shown is not None and shown.content_hash not in self._seen:
            noted = next(noted for text, noted in self._texts if text is shown)
            changes = changes_since_text(self._live, shown, noted)
            view = None if changes or shown.text != self._live.text else self._view.normalized_live
            self._seen[shown.content_hash] = ShownText(shown.text, changes, view)
        return shown

    def find(self) -> None:
        """Look for all of it ahead, in a worker thread: it takes long, and asks the disk."""
        self._rules = self._look()
        self._find_all()

    @property
    def is_current(self) -> bool:
        """Whether the text is what it was when this was made."""
        if self._new is not None:
            return self._desk.pending_file(self._calls[0].file) == self._new
        return self._desk.is_current(self._live, self._view)

    @property
    def is_large(self) -> bool:
        """Whether it takes so long to look for them that it must not be done on the event loop."""
        sent = sum(len(call.content) + len(call.old_text or "") for call in self._calls)
        return len(self._live.text) + sent > _LARGE

    def carry(self) -> bool:
        """Carry what was found past what the user has typed elsewhere in a very long text meanwhile.

        Returns:
            Whether it can be proposed now; also where there is only to say why nothing can.
        """
        if not self._live.is_large or self._new is not None:
            return False
        if self._plan is None:
            return True
        return self._carry_plan(self._plan)

    def _carry_plan(self, plan: _Plan) -> bool:
        desk, live = self._desk, self._live
        now = desk.workspace.shown(live.uri)
        changes = None if now is None else noted_since(now, live, desk.workspace)
        is_edit = isinstance(plan.ready, PreparedEdit) and not plan.amends
        if not is_edit or now is None or changes is None:
            return False
        assert isinstance(plan.ready, PreparedEdit)
        ready = carried(plan.ready, changes, now)
        if ready is None:
            return False
        found = []
        for one in plan.found:
            places = [moved_place(place, changes) for place in one.places]
            found.append(replace(one, places=tuple(place for place in places if place)))
        self._plan = replace(plan, found=tuple(found), ready=ready)
        self._live, self._view = now, desk.pending_in(now)
        return True

    def outcomes(self) -> tuple[str | ToolError, ...]:
        """What came of each call."""
        if not self._is_found:
            self._find_all()
        errors: dict[int, ToolError] = {}
        refused: dict[int, ToolError] = {}
        for n, (call, one) in enumerate(zip(self._calls, self._found, strict=True)):
            if not isinstance(one, _Found):
                errors[n] = ToolError(f"{call.file!r}: {one}")
            elif one.refused is not None:
                refusal = one.refused.refusal
                refused[n] = self._desk.refuse(call.file, position_of(call), refusal)
        for numbers in self._clashes:
            errors |= dict.fromkeys(self._left_out(numbers), self._overlap(numbers))
        if self._plan is None:
            return none_of(errors | refused, self._calls)
        try:
            proposed = self._propose(self._plan)
        except ToolError as error:
            against = dict.fromkeys(self._plan.numbers, error)
            return none_of(errors | refused | against, self._calls)
        others = " The other edits of this file in this answer were proposed."
        told = {n: RuleRefused(f"{why}{others}") for n, why in refused.items()}
        found = errors | told | dict(zip(self._plan.numbers, proposed, strict=True))
        return tuple(found[n] for n in range(len(self._calls)))

    def _left_out(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Of calls that overlap, those that are not proposed: in the last round the first one is."""
        return numbers[1:] if self._desk.is_last_round else numbers

    def _find_all(self) -> None:
        """Find what each call does, or why its place can't be found; and what all of them do."""
        self._found, self._clashes, self._plan = [], [], None
        for call in self._calls:
            try:
                self._found.append(self._find(call, self._shown_to(call)))
            except (MatchError, InvalidInstruction) as error:
                self._found.append(error)
        # A refused edit takes no other with it; a missing place may be found when all are sent again.
        if self._desk.is_last_round or all(isinstance(one, _Found) for one in self._found):
            self._plan_valid()
        self._is_found = True

    def _plan_valid(self) -> None:
        """Plan the calls that may be proposed as one edit; those that overlap are noted."""
        found = {
            n: one
            for n, one in enumerate(self._found)
            if isinstance(one, _Found) and not one.refused
        }
        while found:
            wishes = [one.wish for one in found.values()]
            try:
                self._plan = self._planned(found, merge_edits(wishes, self._view))
            except OverlapError:
                numbers = tuple(found)
                clashing = tuple(numbers[k] for k in first_conflict(wishes, self._view))
                self._clashes.append(clashing)
                if not self._desk.is_last_round:
                    return
                found = {n: one for n, one in found.items() if n not in clashing[1:]}
            else:
                return

    def _planned(self, taken: Mapping[int, _Found], whole: MergedEdit) -> _Plan:
        """The calls that are taken as one edit, as the gate has it."""
        numbers, found = tuple(taken), tuple(taken.values())
        changing = [n for n, one in taken.items() if one.places or whole.amends]
        if not changing:
            return _Plan(numbers, found, whole, (), None)
        offset = self._live.offset_at
        notes = tuple(
            (
                offset(place.start),
                offset(place.end),
                self._calls[n].summary or _summary(self._calls[n]),
            )
            for n, one in taken.items()
            for place in one.places
        )
        told = dict.fromkeys(note for _, _, note in notes)
        name, summary = self._calls[changing[0]].file, "; ".join(told)
        if self._located is not None:
            text = whole.edit.apply(self._live.text)
            creation = self._desk.creation(self._located, text, summary)
            return _Plan(numbers, found, whole, (), prepare_or_reject(creation, self._rules))
        draft = self._desk.draft(self._live, name, whole.edit, summary)
        if len(told) > 1:
            draft = replace(draft, notes=notes)
        repeated = self._view.repeated(whole.edit, self._desk.turn, whole.amends)
        amends = (*whole.amends, *repeated)
        return _Plan(numbers, found, whole, amends, prepare_or_reject(draft, self._rules))

    def _find(self, call: EditFile, shown: TextDocument | None) -> _Found:
        """What a call does.

        Raises:
            MatchError, InvalidInstruction: If its place can't be found.
        """
        seen = self._seen[shown.content_hash] if shown else None
        if call.position is None:
            wish = self._by_text(call, seen)
        else:
            wish = self._by_position(call, shown, seen)
        part = merge_edits([wish], self._view)
        places = tuple(place for place, _ in self._view.hunks_of(part.edit))
        refused = None
        if len(self._calls) > 1 and self._new is None:
            try:
                _ = authorize(self._desk.draft(self._live, call.file, part.edit, ""), self._rules)
            except ProposalRefused as against:
                refused = against
        return _Found(wish, part, places, refused)

    def _by_text(self, call: EditFile, seen: ShownText | None) -> ResolvedEdit:
        assert call.old_text is not None
        assert call.new_text is not None
        quote = QuotedEdit(call.old_text, call.new_text, replace_all=call.replace_all)
        return resolve_quote(quote, self._view, seen)

    def _by_position(
        self, call: EditFile, shown: TextDocument | None, seen: ShownText | None
    ) -> ResolvedEdit:
        assert call.position is not None
        if shown is None or seen is None:
            raise InvalidInstruction(
                "You have not been shown this file, so its line numbers mean nothing yet. Read it "
                "first, or use old_text and new_text."
            )
        return resolve_position(call.position, call.content, self._live, shown, seen.changes)

    def _overlap(self, numbers: tuple[int, ...]) -> ToolError:
        named = [f"{n + 1} ({position_of(self._calls[n])!r})" for n in numbers]
        return ToolError(
            f"{self._calls[0].file!r}: edits {' and '.join(named)} of this answer overlap; put the "
            "changes of that place into one call."
        )

    def _propose(self, plan: _Plan) -> tuple[str, ...]:
        """Propose what is planned as one edit; what each of its calls is told.

        Raises:
            ToolError: If the gate or the ledger refuses.
        """
        calls = [self._calls[n] for n in plan.numbers]
        if plan.ready is None:
            return tuple(_nothing(call) for call in calls)
        call = next(
            one
            for one, own in zip(calls, plan.found, strict=True)
            if own.places or plan.whole.amends
        )
        position = "create" if self._new else position_of(call)
        hunks = self._desk.propose_ready(plan.ready, position=position, amends=plan.amends)
        if self._new is not None:
            return tuple(told_new(each.file, hunks[0]) for each in calls)
        return tuple(
            self._told(call, one.part.amends, [hunk for hunk in hunks if _is_of(hunk, one.places)])
            for call, one in zip(calls, plan.found, strict=True)
        )

    def _told(self, call: EditFile, amends: tuple[str, ...], own: list[Hunk]) -> str:
        """What became of one call."""
        told = ""
        if own:
            places = ", ".join(
                f"{hunk.id} at line {hunk.range.start.line + 1} ({hunk.kind})"
                for hunk in own[:_MAX_NAMED]
            )
            if len(own) > _MAX_NAMED:
                places += f" and {len(own) - _MAX_NAMED} more, up to {own[-1].id},"
            told = (
                f"Proposed {places} in {call.file}. They wait for the user; the file itself is "
                "unchanged, so its line numbers stay as shown.\n"
            )
        now = [self._desk.ledger.hunk(hunk.id) for hunk in self._view.hunks]
        by = {f"replaced by {hunk.id}" for hunk in own}
        replaced = ", ".join(hunk.id for hunk in now if hunk.reason in by)
        if replaced:
            told += f"No longer proposed, because this takes its place: {replaced}.\n"
        withdrawn = [hunk.id for hunk in now if hunk.state is HunkState.WITHDRAWN]
        if taken_back := ", ".join(hunk_id for hunk_id in withdrawn if hunk_id in amends):
            told += f"No longer proposed: {taken_back}.\n"
        return told or _nothing(call)


def none_of(
    errors: Mapping[int, ToolError], calls: Sequence[EditFile | ToolError]
) -> tuple[ToolError, ...]:
    """Nothing was proposed, because of `errors` by the number of the call, from 0."""
    if len(calls) == 1 or all(isinstance(error, RuleRefused) for error in errors.values()):
        return tuple(error for _, error in sorted(errors.items()))
    n, error = min((k, one) for k, one in errors.items() if not isinstance(one, RuleRefused))
    reason = str(error).partition("\n")[0]
    again = f"None of the {len(calls)} edits of this file in this answer was proposed; send all of them again."
    held_back = HeldBack(f"Edit {n + 1} of this file failed: {reason} {again}")
    return tuple(
        one
        if isinstance(one := errors.get(k, held_back), HeldBack | RuleRefused)
        else ToolError(f"{one} {again}")
        for k in range(len(calls))
    )


def _is_of(hunk: Hunk, places: Sequence[Range]) -> bool:
    """Whether a hunk stems from an edit of `places`, which are disjoint and in order."""
    at = bisect_left(places, hunk.range.start, key=lambda place: place.end)
    return at < len(places) and places[at].start <= hunk.range.end


def _nothing(call: EditFile) -> str:
    return f"{call.file} already says so; nothing to do.\n"


def position_of(params: EditFile) -> str:
    """Where, as the model said it: the position, or the first line of what is replaced."""
    return params.position or (params.old_text or "").strip().partition("\n")[0][:80]


def _summary(params: EditFile) -> str:
    what = params.position or "replace text"
    return f"Edit {params.file}: {what}"


def told_new(file: str, hunk: Hunk) -> str:
    """What a call is told of the new file that was proposed."""
    return f"Proposed {hunk.id}: the new file {file}. It waits for the user.\n"
