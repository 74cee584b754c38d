"""Proposing what a session writes over the lines of a file."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from stet.bridges.merged_write import WriteConflict, merge_write
from stet.review.policy.rules import EditRules
from stet.review.proposal import OPEN, Hunk
from stet.review.resolve.pending_view import PendingView
from stet.review.resolve.prepared_edit import PreparedDraft, RejectedDraft, prepare_or_reject
from stet.review.tracking.tracked_document import overlap
from stet.review.tracking.tracked_span import range_of
from stet.text.diff import line_edit
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines
from stet.tools.proposer import Proposer
from stet.tools.tool_errors import ToolError

_MAX_TRIES = 10
"""The most attempts to propose a change of a text that the user is changing."""


@dataclass(frozen=True, slots=True)
class _PreparedChange:
    """A change of a file, after the policy check.

    Attributes:
        draft: The change of lines that the user has not changed; None without such lines.
        amends: The hunks that it replaces.
        conflicts: The replacements of lines that the user has changed, with the conflict of each.
    """

    draft: PreparedDraft | RejectedDraft | None
    amends: tuple[str, ...] = ()
    conflicts: tuple[tuple[PreparedDraft | RejectedDraft, WriteConflict], ...] = ()


async def propose_text(proposer: Proposer, uri: str, before: str, after: str) -> tuple[Hunk, ...]:
    """Propose that an existing file has another text, merged with the changes of the user.

    Args:
        proposer: What the session proposes with.
        uri: The file.
        before: The text that the session has changed.
        after: The text that it has written.

    Returns:
        The hunks, in order of place.

    Raises:
        NotShown: If the file can't be read.
        ToolError: If a rule refuses, or the change can't be merged with those of the user.
    """
    reader = proposer.reader
    for _ in range(_MAX_TRIES):
        document = await reader.document_to_edit_at(uri)
        view = reader.pending_view(document)
        work = _SessionWrite(proposer, view, reader.snapshot().name_of(uri))
        inspect = proposer.rules.prefetch_status((document.uri,))
        change = await asyncio.to_thread(work.prepare, before, after, inspect)
        if reader.is_current(document, view):
            return _propose_change(proposer, change)
    raise ToolError(f"{uri} is being changed by the user. Read the file again later.")


@dataclass(frozen=True, slots=True)
class _SessionWrite:
    """A write of a session, which a worker thread merges and checks.

    Attributes:
        proposer: What the session proposes with.
        view: The view.
        name: The name of the file, for messages.
    """

    proposer: Proposer
    view: PendingView
    name: str

    def prepare(self, before: str, after: str, inspect: Callable[[], EditRules]) -> _PreparedChange:
        """Return the change after the policy check.

        Args:
            before: The text that the session has changed.
            after: The text that it has written.
            inspect: Returns the rules, with the status of the file.

        Raises:
            ToolError: If the two can't be merged.
        """
        after, view = with_line_ends_of(before, after), self.view
        if (merged := merge_write(view, before, after)) is None:
            raise ToolError(_same_lines(self.name))
        edit, rules = merged.edit, inspect()
        if merged.conflicts:  # a conflict may end later: the whole edit must be allowed
            then = TextDocument(view.live.uri, before)
            made = line_edit(split_lines(before), split_lines(after))
            if isinstance(refused := self._prepared(then, made, rules), RejectedDraft):
                return _PreparedChange(refused)
        conflicts = tuple(
            (self._prepared_lines(one.place, one.new, rules), one) for one in merged.conflicts
        )
        if not edit.replacements:
            return _PreparedChange(None, (), conflicts)
        amendment = view.amended(edit)
        turn = self.proposer.reader.turn.id
        repeated = view.repeated(amendment.edit, turn, amendment.hunks)
        prepared = self._prepared(view.live, amendment.edit, rules)
        hunks = prepared.authorized.hunks if isinstance(prepared, PreparedDraft) else ()
        if any(
            overlap(one.place, (hunk.old_start, hunk.old_end))
            for one in merged.conflicts
            for hunk in hunks
        ) or any(set(one.hunks) & set(amendment.hunks) for one in merged.conflicts):
            raise ToolError(_same_lines(self.name))
        return _PreparedChange(prepared, (*amendment.hunks, *repeated), conflicts)

    def _prepared_lines(
        self, place: tuple[int, int], new: str, rules: EditRules
    ) -> PreparedDraft | RejectedDraft:
        """Return the replacement of lines of the live text (0-based, half-open)."""
        live = self.view.live
        at = range_of(live.lines, *place)
        edit = TextEdit((Replacement(live.offset_at(at.start), live.offset_at(at.end), new),))
        return self._prepared(live, edit, rules)

    def _prepared(
        self, document: TextDocument, edit: TextEdit, rules: EditRules
    ) -> PreparedDraft | RejectedDraft:
        summary = f"{self.proposer.reader.turn.author}: edit {self.name}"
        draft = self.proposer.edit_draft(document, self.name, edit, summary)
        return prepare_or_reject(draft, rules)


def _propose_change(proposer: Proposer, change: _PreparedChange) -> tuple[Hunk, ...]:
    """Propose a change as a whole, or nothing of it.

    Raises:
        ToolError: If a rule or the ledger refuses.
    """
    made: list[Hunk] = []
    ledger = proposer.reader.ledger
    try:
        for prepared, one in change.conflicts:
            made += proposer.propose_prepared(
                prepared, position="write", amends=one.hunks, base=one.base
            )
        if (draft := change.draft) is not None:
            made += proposer.propose_prepared(draft, position="write", amends=change.amends)
    except ToolError:
        for hunk in made:
            if ledger.hunk(hunk.id).state in OPEN:
                ledger.withdraw(hunk.id, reopens=True)
        raise
    return tuple(sorted(made, key=lambda hunk: hunk.range))


def _same_lines(name: str) -> str:
    """Return the sentence for the agent about an edit that can't be merged."""
    return (
        f"The user has changed the same lines of {name} since then. Nothing was proposed: "
        "read the file again and make the change in its present text."
    )


def with_line_ends_of(before: str, after: str) -> str:
    """Return a text with CRLF if the text before has only these and the agent has written LF."""
    has_only_crlf = before.count("\n") == before.count("\r\n") > 0
    return after.replace("\n", "\r\n") if has_only_crlf and "\r" not in after else after
