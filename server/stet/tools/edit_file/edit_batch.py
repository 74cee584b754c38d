"""The calls of one answer that edit one file: resolved in a thread, and proposed as one edit.

A call that a rule refuses affects no other call. If a call can't be resolved, none is proposed, so
that the model sends all again; in the last round, where it can't, the others are proposed.

An edit of a very long text is rebased onto the user's changes in other lines: resolving it again
takes a second, and the user's next keystroke comes sooner.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

from pydantic import Field, model_validator

from stet.review.policy.authorization import authorize
from stet.review.policy.rules import ProposalRefused
from stet.review.proposal import EditDraft, Hunk, HunkState
from stet.review.resolve.edit_instruction import InvalidInstruction
from stet.review.resolve.edit_resolver import (
    QuotedEdit,
    ResolvedEdit,
    first_conflict,
    merge_edits,
    resolve_position,
    resolve_quote,
)
from stet.review.resolve.pending_view import (
    Amendment,
    PendingView,
    changes_since_text,
    latest_with,
    noted_since,
)
from stet.review.resolve.prepared_edit import PreparedDraft, RejectedDraft, prepare_or_reject
from stet.text.document import TextDocument
from stet.text.edit import OverlapError, TextChange
from stet.text.lines import n_breaks
from stet.text.match_result import MatchError
from stet.text.normalized_text import ShownText
from stet.text.position import Range
from stet.tools.tool import Params, ToolContext
from stet.tools.tool_errors import BatchFailed, RefusedByRule, ToolError


class EditFile(Params):
    """Propose a change of a file. The user reviews it; nothing is written until they accept.

    Give either `old_text` and `new_text`: `old_text` is copied exactly from the file, without line
    numbers, with enough lines to be unique; or `position` and `content`. Positions: `start`, `end`,
    `after:## Heading`, `insert:N` (before line N), `replace:N`, `replace:N-M`, `delete:N`,
    `delete:N-M`, with the line numbers you were shown; `create` makes a new file of `content`, and
    `open` shows the file to the user.
    Put all changes that touch the same lines into one call. Read the file first.
    Several calls for one file in one answer count as one edit: all of them are proposed or none,
    but for those that a rule refuses. To change what you have proposed, quote that text as
    `old_text`; put the old text back to take it back.
    """

    file: str = Field(description="Path relative to the workspace root.")
    old_text: str | None = Field(default=None, description="The text to replace, exactly.")
    new_text: str | None = Field(default=None, description="What it becomes; empty deletes it.")
    replace_all: bool = Field(default=False, description="Replace every place, not just one.")
    position: str | None = Field(default=None, description="Where `content` goes.")
    content: str = Field(default="", description="Whole lines for `position`.")
    summary: str = Field(default="", description="One line for the user: what and why.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        by_text = self.old_text is not None and self.new_text is not None
        if by_text == (self.position is not None):
            raise ValueError("give either old_text and new_text, or position and content")
        return self


_LARGE_TEXT = 100_000
"""Texts with more characters than this are not searched on the event loop."""
_MAX_NAMED = 100
"""The most hunks that are named in one answer."""


@dataclass(frozen=True, slots=True)
class _CallEdit:
    """The resolved edit of a call.

    Attributes:
        edit: The edit, to be merged with those of other calls.
        amends: Ids of the pending hunks that the edit changes.
        lines: The whole lines of the present text that the edit changes.
        refusal: The refusal of the edit by a rule, or None if it is allowed.
    """

    edit: ResolvedEdit
    amends: tuple[str, ...]
    lines: tuple[Range, ...]
    refusal: ProposalRefused | None


@dataclass(frozen=True, slots=True)
class _BatchPlan:
    """The edit to propose.

    Attributes:
        calls: The resolved edits that the plan contains, by the number of the call (0-based).
        amends: Ids of the pending hunks that the plan replaces.
        prepared: The edit after authorization; None if it changes nothing.
        position: The position of the first call that changes something.
    """

    calls: Mapping[int, _CallEdit]
    amends: tuple[str, ...] = ()
    prepared: PreparedDraft | RejectedDraft | None = None
    position: str = ""


class EditBatch:
    """The calls of one answer that edit one file, for its current text.

    Args:
        ctx: The context of the calls.
        doc: The file.
        calls: The calls, in order.
        new: The pending hunk that creates the file, if the file does not exist; `doc` is its text.
    """

    def __init__(
        self, ctx: ToolContext, doc: TextDocument, calls: Sequence[EditFile], new: Hunk | None
    ) -> None:
        self._ctx = ctx
        self._doc = doc
        self._calls = calls
        self._new = new
        self._view = PendingView(doc, ()) if new else ctx.reader.pending_view(doc)
        # Read the workspace here: it belongs to the event loop.
        self._text_versions = tuple(
            (shown, noted_since(doc, shown, ctx.reader.workspace))
            for shown in ctx.reader.shown.texts_of(doc.uri)
        )
        self._shown_texts: dict[str, ShownText] = {}
        self._rules = replace(ctx.proposer.rules, path_status=cache(ctx.proposer.rules.path_status))
        self._inspect = ctx.proposer.rules.prefetch_status((doc.uri,))
        self._located = ctx.reader.locate(calls[0].file) if new else None
        self._resolved: list[_CallEdit | MatchError | InvalidInstruction] = []
        self._conflicts: list[tuple[int, ...]] = []
        self._plan: _BatchPlan | None = None

    def _shown_text(self, call: EditFile) -> TextDocument | None:
        """Return the shown text that the call refers to; None if there is none."""
        quote = _quote(call)
        quotes = quote.candidate_texts() if quote else ()
        shown = latest_with([text for text, _ in self._text_versions], quotes)
        if shown is not None and shown.content_hash not in self._shown_texts:
            noted = next(noted for text, noted in self._text_versions if text is shown)
            changes = changes_since_text(self._doc, shown, noted)
            view = None if changes or shown.text != self._doc.text else self._view.normalized_live
            self._shown_texts[shown.content_hash] = ShownText(shown.text, changes, view)
        return shown

    def inspect_and_resolve(self) -> None:
        """Inspect the rules and resolve the calls. For a worker thread: it blocks on the disk."""
        self._rules = self._inspect()
        self.resolve()

    @property
    def is_current(self) -> bool:
        """Whether the text and its pending hunks are unchanged since the batch was created."""
        if self._new is not None:
            return self._ctx.reader.pending_file(self._calls[0].file) == self._new
        return self._ctx.reader.is_current(self._doc, self._view)

    @property
    def is_large(self) -> bool:
        """Whether resolving the calls would block the event loop for too long."""
        sent = sum(len(call.content) + len(call.old_text or "") for call in self._calls)
        return len(self._doc.text) + sent > _LARGE_TEXT

    def rebase(self) -> bool:
        """Rebase the edits onto the user's current text, if the text is very long.

        Returns:
            Whether the edits can be proposed now; also True if there are only errors to report.
        """
        if not self._doc.is_large or self._new is not None:
            return False
        plan, reader = self._plan, self._ctx.reader
        if plan is None:
            return True
        if plan.amends or not isinstance(plan.prepared, PreparedDraft):
            return False
        now = reader.workspace.shown(self._doc.uri)
        changes = None if now is None else noted_since(now, self._doc, reader.workspace)
        if now is None or changes is None:
            return False
        prepared = rebase_prepared(plan.prepared, changes, now)
        if prepared is None:
            return False
        calls = {}
        for n, call in plan.calls.items():
            places = (shift_range(place, changes) for place in call.lines)
            calls[n] = replace(call, lines=tuple(place for place in places if place))
        self._plan = replace(plan, calls=calls, prepared=prepared)
        self._doc, self._view = now, reader.pending_view(now)
        return True

    def outcomes(self) -> tuple[str | ToolError, ...]:
        """Propose the resolved calls and return the outcome of each call."""
        errors: dict[int, ToolError] = {}
        refused: dict[int, ToolError] = {}
        for n, (call, resolved) in enumerate(zip(self._calls, self._resolved, strict=True)):
            if not isinstance(resolved, _CallEdit):
                errors[n] = ToolError(f"{call.file!r}: {resolved}")
            elif resolved.refusal is not None:
                refusal = resolved.refusal.refusal
                report = self._ctx.reader.report
                refused[n] = report.record_refusal(call.file, position_of(call), refusal)
        for numbers in self._conflicts:
            # In the last round the first of the overlapping calls is proposed.
            dropped = numbers[1:] if self._ctx.is_last_round else numbers
            errors |= dict.fromkeys(dropped, self._overlap_error(numbers))
        if self._plan is None:
            return fail_all(errors | refused, self._calls)
        try:
            proposed = self._propose(self._plan)
        except ToolError as error:
            return fail_all(errors | refused | dict.fromkeys(self._plan.calls, error), self._calls)
        others = " The other edits of this file in this answer were proposed."
        refusals = {n: RefusedByRule(f"{why}{others}") for n, why in refused.items()}
        by_number = errors | refusals | proposed
        return tuple(by_number[n] for n in range(len(self._calls)))

    def resolve(self) -> None:
        """Resolve each call to an edit or an error, and plan the edits as one."""
        self._resolved, self._conflicts, self._plan = [], [], None
        for call in self._calls:
            try:
                self._resolved.append(self._resolve_call(call))
            except (MatchError, InvalidInstruction) as error:
                self._resolved.append(error)
        # A refused edit does not affect others; after an error the model sends all calls again.
        if self._ctx.is_last_round or all(isinstance(one, _CallEdit) for one in self._resolved):
            self._plan_valid_calls()

    def _plan_valid_calls(self) -> None:
        """Plan the calls that may be proposed as one edit, and record the calls that overlap."""
        resolved = {
            n: one
            for n, one in enumerate(self._resolved)
            if isinstance(one, _CallEdit) and not one.refusal
        }
        while resolved:
            edits = [one.edit for one in resolved.values()]
            try:
                self._plan = self._create_plan(resolved, merge_edits(edits, self._view))
            except OverlapError:
                numbers = tuple(resolved)
                clashing = tuple(numbers[k] for k in first_conflict(edits, self._view))
                self._conflicts.append(clashing)
                if not self._ctx.is_last_round:
                    return
                resolved = {n: one for n, one in resolved.items() if n not in clashing[1:]}
            else:
                return

    def _create_plan(self, resolved: Mapping[int, _CallEdit], merged: Amendment) -> _BatchPlan:
        """Return the plan of the calls that become one edit, after authorization."""
        changing = [self._calls[n] for n, one in resolved.items() if one.lines or merged.hunks]
        if not changing:
            return _BatchPlan(resolved)
        offset = self._doc.offset_at
        notes = tuple(
            (offset(place.start), offset(place.end), _summary(self._calls[n]))
            for n, one in resolved.items()
            for place in one.lines
        )
        summaries = dict.fromkeys(note for _, _, note in notes)
        summary = "; ".join(summaries)
        if self._located is not None:
            text = merged.edit.apply(self._doc.text)
            creation = self._ctx.proposer.create_draft(self._located, text, summary)
            return _BatchPlan(resolved, (), prepare_or_reject(creation, self._rules), "create")
        draft = self._ctx.proposer.edit_draft(self._doc, changing[0].file, merged.edit, summary)
        if len(summaries) > 1:
            draft = replace(draft, notes=notes)
        repeated = self._view.repeated(merged.edit, self._ctx.reader.turn.id, merged.hunks)
        prepared = prepare_or_reject(draft, self._rules)
        return _BatchPlan(resolved, (*merged.hunks, *repeated), prepared, position_of(changing[0]))

    def _resolve_call(self, call: EditFile) -> _CallEdit:
        """Return the edit of a call.

        Raises:
            MatchError, InvalidInstruction: If the call can't be resolved.
        """
        shown = self._shown_text(call)
        seen = self._shown_texts[shown.content_hash] if shown else None
        if quote := _quote(call):
            edit = resolve_quote(quote, self._view, seen)
        elif shown is None or seen is None:
            raise InvalidInstruction(
                "You have not been shown this file, so its line numbers mean nothing yet. Read it "
                "first, or use old_text and new_text."
            )
        else:
            position = call.position or ""
            edit = resolve_position(position, call.content, self._doc, shown, seen.changes)
        merged = merge_edits([edit], self._view)
        places = tuple(place for place, _ in self._view.hunks_of(merged.edit))
        refused = None
        if len(self._calls) > 1 and self._new is None:
            draft = self._ctx.proposer.edit_draft(self._doc, call.file, merged.edit, "")
            try:
                _ = authorize(draft, self._rules)
            except ProposalRefused as against:
                refused = against
        return _CallEdit(edit, merged.hunks, places, refused)

    def _overlap_error(self, numbers: tuple[int, ...]) -> ToolError:
        named = [f"{n + 1} ({position_of(self._calls[n])!r})" for n in numbers]
        return ToolError(
            f"{self._calls[0].file!r}: edits {' and '.join(named)} of this answer overlap; put the "
            "changes of that place into one call."
        )

    def _propose(self, plan: _BatchPlan) -> dict[int, str]:
        """Propose the plan as one edit; return the outcomes by the numbers of the calls.

        Raises:
            ToolError: If authorization or the ledger refuses.
        """
        if plan.prepared is None:
            return {n: _no_change(self._calls[n]) for n in plan.calls}
        hunks = self._ctx.proposer.propose_prepared(
            plan.prepared, position=plan.position, amends=plan.amends
        )
        if self._new is not None:
            return {n: describe_new(self._calls[n].file, hunks[0]) for n in plan.calls}
        return {n: self._report(self._calls[n], one, hunks) for n, one in plan.calls.items()}

    def _report(self, call: EditFile, resolved: _CallEdit, proposed: Sequence[Hunk]) -> str:
        """Return the report on the outcome of one call."""
        hunks = [hunk for hunk in proposed if _is_of(hunk, resolved.lines)]
        text = ""
        if hunks:
            places = ", ".join(
                f"{hunk.id} at line {hunk.range.start.line + 1} ({hunk.kind})"
                for hunk in hunks[:_MAX_NAMED]
            )
            if len(hunks) > _MAX_NAMED:
                places += f" and {len(hunks) - _MAX_NAMED} more, up to {hunks[-1].id},"
            text = (
                f"Proposed {places} in {call.file}. They wait for the user; the file itself is "
                "unchanged, so its line numbers stay as shown.\n"
            )
        now = [self._ctx.reader.ledger.hunk(hunk.id) for hunk in self._view.hunks]
        by = {f"replaced by {hunk.id}" for hunk in hunks}
        replaced = ", ".join(hunk.id for hunk in now if hunk.reason in by)
        if replaced:
            text += f"No longer proposed, because this takes its place: {replaced}.\n"
        withdrawn = [hunk.id for hunk in now if hunk.state is HunkState.WITHDRAWN]
        if taken_back := ", ".join(hunk_id for hunk_id in withdrawn if hunk_id in resolved.amends):
            text += f"No longer proposed: {taken_back}.\n"
        return text or _no_change(call)


def fail_all(
    errors: Mapping[int, ToolError], calls: Sequence[EditFile | ToolError]
) -> tuple[ToolError, ...]:
    """Return an error for each call if `errors`, by 0-based number, prevent all of them."""
    if len(calls) == 1 or all(isinstance(error, RefusedByRule) for error in errors.values()):
        return tuple(error for _, error in sorted(errors.items()))
    n, error = min((k, one) for k, one in errors.items() if not isinstance(one, RefusedByRule))
    reason = str(error).partition("\n")[0]
    again = f"None of the {len(calls)} edits of this file in this answer was proposed; send all of them again."
    held_back = BatchFailed(f"Edit {n + 1} of this file failed: {reason} {again}")
    found = [errors.get(k, held_back) for k in range(len(calls))]
    final = (BatchFailed, RefusedByRule)
    return tuple(one if isinstance(one, final) else ToolError(f"{one} {again}") for one in found)


def _is_of(hunk: Hunk, places: Sequence[Range]) -> bool:
    """Return whether a hunk is part of an edit of `places`, which are disjoint and in order."""
    at = bisect_left(places, hunk.range.start, key=lambda place: place.end)
    return at < len(places) and places[at].start <= hunk.range.end


def _no_change(call: EditFile) -> str:
    return f"{call.file} already says so; nothing to do.\n"


def position_of(params: EditFile) -> str:
    """Return the position that the model wrote, or the first line of the text to replace."""
    return params.position or (params.old_text or "").strip().partition("\n")[0][:80]


def _quote(params: EditFile) -> QuotedEdit | None:
    """Return the quotation and its replacement, or None for a call with a position."""
    if params.old_text is None or params.new_text is None:
        return None
    return QuotedEdit(params.old_text, params.new_text, replace_all=params.replace_all)


def _summary(params: EditFile) -> str:
    """Return the summary of the edit for the user."""
    return params.summary or f"Edit {params.file}: {params.position or 'replace text'}"


def describe_new(file: str, hunk: Hunk) -> str:
    """Return the result of a call that proposed a new file."""
    return f"Proposed {hunk.id}: the new file {file}. It waits for the user.\n"


def rebase_prepared(
    prepared: PreparedDraft, changes: Sequence[TextChange], now: TextDocument
) -> PreparedDraft | None:
    """Return an authorized edit, rebased onto the current text.

    Args:
        prepared: The edit of the text before `changes`.
        changes: The user's changes, in order.
        now: The text after the changes.

    Returns:
        The edit; None if a change touches its lines or adjacent lines, or the draft is no edit.
    """
    if not isinstance(prepared.draft, EditDraft):
        return None
    hunks = prepared.authorized.hunks
    shifted = [shift_first_line((hunk.old_start, hunk.old_end), changes) for hunk in hunks]
    firsts = [first for first in shifted if first is not None]
    return prepared.moved_to(now, firsts) if len(firsts) == len(hunks) else None


def shift_range(line_range: Range, changes: Sequence[TextChange]) -> Range | None:
    """Return whole lines after `changes`; None if a change touches these or adjacent lines."""
    first = shift_first_line((line_range.start.line, line_range.end.line), changes)
    return None if first is None else line_range.shifted(first - line_range.start.line)


def shift_first_line(lines: tuple[int, int], changes: Sequence[TextChange]) -> int | None:
    """Return the first of `lines` (0-based, half-open) after `changes`; see `shift_range`."""
    first, end = lines
    for change in changes:
        begin, last = change.range.start.line, change.range.end.line
        if begin > end:
            continue
        if last >= first - 1:
            return None
        n = n_breaks(change.text) - (last - begin)
        first, end = first + n, end + n
    return first
