"""Proposing edits and new files for the tools of a turn, with authorization and refusals."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from stet.outline.headings import find_front_matter
from stet.privacy.taint import TaintTracker
from stet.review.errors import HunkOverlap, ReviewError
from stet.review.policy.rules import EditRules, ProposalRefused, check_open
from stet.review.proposal import CreateDraft, EditDraft, Hunk
from stet.review.resolve.pending_view import as_shown
from stet.review.resolve.prepared_edit import (
    PreparedDraft,
    RejectedDraft,
    prepare_or_reject,
    rebase_onto_blocks,
)
from stet.text.document import NOTES, TextDocument, ending_of
from stet.text.edit import TextEdit
from stet.tools.editor_actions import OpenFileRequest
from stet.tools.file_reader import FileReader
from stet.tools.tool_errors import ToolError
from stet.workspace.paths import Located
from stet.workspace.snapshot import Snapshot

_MAX_TRIES = 10
"""The most attempts to compute an edit of a text that the user is changing."""


@dataclass(frozen=True, slots=True)
class ComputedEdit:
    """An edit that was computed in a worker thread.

    Attributes:
        edit: The edit; empty if the file already has the requested text.
        summary: One line for the user.
        detail: The description of the edit in the tool's result for the model.
    """

    edit: TextEdit
    summary: str
    detail: str = ""


@dataclass(slots=True)
class Proposer:
    """The only way by which the tools of one turn propose edits; used on the event loop.

    Attributes:
        reader: Reads the files.
        rules: The rules for proposals of the turn.
        untrusted: Text by others that the model was shown in the chat: it may have named a file.
        user_words: The user's messages in the conversation; the list of the session.
    """

    reader: FileReader
    rules: EditRules
    untrusted: TaintTracker = field(default_factory=TaintTracker)
    user_words: list[str] = field(default_factory=list)

    async def inspect_rules(self, uri: str) -> EditRules:
        """Return the turn's rules with the current status of `uri`, read in a worker thread."""
        return await asyncio.to_thread(self.rules.prefetch_status((uri,)))

    async def create(self, file: str, content: str) -> Hunk:
        """Propose a new file.

        Raises:
            ToolError: If the file exists, or may not be created.
        """
        located = self.reader.locate_to_write(file, "create")
        rules = await self.inspect_rules(located.uri)
        # Check this first: a refusal must not reveal whether the file exists.
        if refusal := rules.path_status(located.uri).refusal:
            raise self.reader.report.record_refusal(located.name, "create", refusal)
        if await asyncio.to_thread(self.reader.snapshot().exists, located.uri):
            raise ToolError(f"{file!r} already exists. Change it with `edit_file`.")
        draft = self.create_draft(located, content, f"Create {located.name}")
        inspect = self.rules.prefetch_status((located.uri,))
        prepared = await asyncio.to_thread(lambda: prepare_or_reject(draft, inspect()))
        return self.propose_prepared(prepared, position="create")[0]

    async def open(self, file: str, line: int | None = None) -> None:
        """Request that the editor shows a file, at a line (1-based) if one is given.

        Raises:
            ToolError: If the file does not exist, or the user wants no files opened.
        """
        located = self.reader.locate_to_write(file, "open")
        rules = await self.inspect_rules(located.uri)
        if refusal := check_open(rules, located.name, located.uri):
            raise self.reader.report.record_refusal(located.name, "open", refusal)
        if not await asyncio.to_thread(self.reader.snapshot().exists, located.uri):
            raise ToolError(f"There is no file {file!r}. `list_files` gives the names.")
        self.reader.report.files_to_open.append(OpenFileRequest(located.uri, line))

    def propose_prepared(
        self,
        prepared: PreparedDraft | RejectedDraft,
        *,
        position: str,
        amends: tuple[str, ...] = (),
        base: str | None = None,
    ) -> tuple[Hunk, ...]:
        """Propose an edit that was prepared (`prepare_or_reject`) for the current text.

        Args:
            prepared: The prepared edit, or its rejection.
            position: The edit's position, for the report of a refusal.
            amends: Pending hunks of this conversation that the edit contains and replaces.
            base: The lines that the agent has read, if the user has changed them since: the hunk is
                then in conflict (`ReviewLedger.propose_conflict`).

        Raises:
            ToolError: If a rule or the ledger refuses.
        """
        name = prepared.draft.name
        with self.reporting_refusals(name, position):
            if isinstance(prepared, RejectedDraft):
                raise prepared.refused
            if prepared.authorized.protected:
                prepared = prepared.with_caution(self.explain_source(name))
            try:
                if base is not None:
                    return self.reader.ledger.propose_conflict(prepared, base, amends)
                snapshot = self.reader.snapshot()
                prepared = rebase_onto_blocks(prepared, snapshot)
                real = prepared.draft.document if isinstance(prepared.draft, EditDraft) else None
                hunks = self.reader.ledger.propose(prepared, amends)
                return tuple(as_shown(hunk, snapshot, real) for hunk in hunks)
            except HunkOverlap as overlap:
                again = "To change what is pending, quote that text as `old_text`."
                raise ToolError(f"{name!r}: {overlap}. {again}") from overlap

    def explain_source(self, *names: str) -> str:
        """Return a sentence for the user if untrusted text named one of the files, or "".

        The file of the question and the active file are ignored.
        """
        snapshot = self.reader.snapshot()
        users = {
            snapshot.name_of(uri)
            for uri in (snapshot.question_uri, snapshot.activity.active)
            if uri
        }
        return self.untrusted.explain_source(
            (name for name in names if name not in users), self.user_words
        )

    def edit_draft(
        self, document: TextDocument, name: str, edit: TextEdit, summary: str
    ) -> EditDraft:
        """Return a draft for the ledger, from this turn, with an edit of `document`."""
        origin = self.reader.turn.origin
        return EditDraft(**origin, document=document, name=name, edit=edit, summary=summary)

    def create_draft(self, located: Located, text: str, summary: str) -> CreateDraft:
        """Return a draft for the ledger, from this turn, with a new file."""
        origin, name = self.reader.turn.origin, located.name
        return CreateDraft(**origin, uri=located.uri, name=name, text=text, summary=summary)

    async def propose_computed(
        self, file: str, find: Callable[[TextDocument, Snapshot], ComputedEdit], *, position: str
    ) -> tuple[ComputedEdit, str]:
        """Propose an edit that is computed from a file's current text.

        Return the edit and the ids of its hunks, separated by commas; "" if it changes nothing.

        Args:
            file: The file, as the model names it.
            find: Computes the edit of a text; called in a worker thread.
            position: The edit's position, for the report of a refusal.

        Raises:
            ToolError: If `find` raises it, a rule or the ledger refuses, or the file changes during
                every attempt.
        """
        reader = self.reader
        for _ in range(_MAX_TRIES):
            document = await reader.document_to_edit(file, position=position)
            # Take the snapshot here: the workspace belongs to the event loop.
            find_now = partial(find, document, reader.snapshot())
            inspect = self.rules.prefetch_status((document.uri,))
            computed, prepared = await asyncio.to_thread(
                self._compute_and_prepare, document, file, find_now, inspect
            )
            has_blocks = reader.ledger.blocks.shown_blocks(document.uri)
            # No await from here on: the edit is proposed for the text that was just checked.
            if reader.is_latest_text(document) and not has_blocks:
                hunks = self.propose_prepared(prepared, position=position)
                return computed, ", ".join(hunk.id for hunk in hunks)
        raise ToolError(f"{file!r} is being changed. Try again later.")

    def _compute_and_prepare(
        self,
        document: TextDocument,
        name: str,
        find: Callable[[], ComputedEdit],
        inspect: Callable[[], EditRules],
    ) -> tuple[ComputedEdit, PreparedDraft | RejectedDraft]:
        """Compute the edit, inspect the rules and authorize the edit. For a worker thread."""
        computed = find()
        draft = self.edit_draft(document, name, computed.edit, computed.summary)
        return computed, prepare_or_reject(draft, inspect())

    @contextmanager
    def reporting_refusals(self, name: str, position: str) -> Iterator[None]:
        """Convert a refusal by a rule or the ledger within the block to an error for the model.

        Raises:
            ToolError: Instead of `ProposalRefused` and `ReviewError`.
        """
        try:
            yield
        except ProposalRefused as refused:
            raise self.reader.report.record_refusal(name, position, refused.refusal) from refused
        except ReviewError as error:
            raise ToolError(f"{name!r}: {error}.") from error


def check_has_properties(file: str, document: TextDocument) -> None:
    """Check that a file, as the model names it, may have YAML front matter.

    Raises:
        ToolError: If the file is not a note and has no front matter.
    """
    if ending_of(file) not in NOTES and find_front_matter(document.text) is None:
        raise ToolError(f"{file!r} is not a Markdown note and has no front matter.")
