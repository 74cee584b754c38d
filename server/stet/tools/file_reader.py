"""Reading files for the tools of a turn, and the record of the files shown and the turn's work."""

import asyncio
import difflib
from dataclasses import dataclass, field
from itertools import islice
from typing import TypedDict

from stet.review.ledger import ReviewLedger
from stet.review.policy.rules import RejectedEdit
from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import (
    PendingView,
    ShownDocuments,
    as_shown,
    changes_since_text,
    noted_since,
    pending_file,
)
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.tools.editor_actions import OpenFileRequest
from stet.tools.tool_errors import RefusedByRule, ToolError, refusals_as_errors
from stet.web.web_address import WebSource
from stet.workspace.names import Refusal
from stet.workspace.paths import Located, PathRefused
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.workspace import Workspace

MAX_FILES = 10_000
"""The most files of the workspace that are compared with a name that does not exist."""
MAX_NAMES = 5
_MAX_LENGTH = 200
"""The most characters of a name that are compared, from its end: long names take long."""
_CUTOFF = 0.7
_MAX_TRIES = 3
_NO_REFUSAL = NO_TEXT | {"missing", "unreadable"}
"""Reasons not to show a file that are no rule of the user: there is no text to read."""


class DraftOrigin(TypedDict):
    """The fields of a draft that name its turn, chat and author."""

    turn: str
    chat: str
    author: str


@dataclass(frozen=True, slots=True)
class TurnIdentity:
    """The turn that reads and proposes.

    Attributes:
        id: The id of the turn.
        author: The author of its proposals: `stet`, or the name of another agent.
        chat: The id of the conversation.
    """

    id: str
    author: str
    chat: str = ""

    @property
    def origin(self) -> DraftOrigin:
        """The fields of a draft that name its turn, chat and author."""
        return {"turn": self.id, "chat": self.chat, "author": self.author}


@dataclass(slots=True)
class TurnReport:
    """The report of one turn; used on the event loop only.

    Attributes:
        files_read: Names of files read, in order, without repeats.
        rejected: Edits that a rule refused, in order.
        files_to_open: Files to show to the user, until the loop has reported them.
        copied: Names of files whose contents were collected for the user, in order.
        sources: Web pages that were found or read, in order, without repeats.
        summary: The summary of the tool `done`; None before its call.
        n_questions: The number of questions that the tools have asked the user.
    """

    files_read: list[str] = field(default_factory=list)
    rejected: list[RejectedEdit] = field(default_factory=list)
    files_to_open: list[OpenFileRequest] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    sources: list[WebSource] = field(default_factory=list)
    summary: str | None = None
    n_questions: int = 0

    def record_read(self, name: str) -> None:
        """Record that a file was read."""
        if name not in self.files_read:
            self.files_read.append(name)

    def record_refusal(self, name: str, position: str, refusal: Refusal) -> RefusedByRule:
        """Record a refusal for the user. Return the error for the model; the caller raises it."""
        self.rejected.append(RejectedEdit(name, position, refusal.rule, refusal.message))
        return RefusedByRule(f"Refused by the rule {refusal.rule}: {refusal.for_model}")


@dataclass(slots=True)
class FileReader:
    """The reader of files for one turn; used on the event loop, with disk access in threads.

    Attributes:
        workspace: The workspace, with the open documents.
        ledger: The ledger, with the pending hunks.
        turn: The turn that reads.
        report: The report that records files read and refusals.
        question_uri: The file that the question is about (see `stet.workspace.privacy_filter`).
        shown: The documents that the model has been shown.
    """

    workspace: Workspace
    ledger: ReviewLedger
    turn: TurnIdentity
    report: TurnReport
    question_uri: str | None = None
    shown: ShownDocuments = field(default_factory=ShownDocuments)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current workspace, for this turn's question."""
        return self.workspace.snapshot().asked_about(self.question_uri)

    def locate(self, name: str) -> Located:
        """Return the file that a model means by `name`.

        Raises:
            ToolError: If the name leads out of the workspace or names no file.
        """
        with refusals_as_errors():
            return self.snapshot().locate(name)

    def locate_to_write(self, name: str, position: str) -> Located:
        """Return the file that a model means by `name`, for an edit at `position`.

        A refusal is recorded for the user.

        Raises:
            ToolError: If the name leads out of the workspace or names no file.
        """
        try:
            return self.snapshot().locate(name)
        except PathRefused as refused:
            refusal = Refusal(refused.rule, refused.message)
            raise self.report.record_refusal(name, position, refusal) from refused

    async def read(self, name: str) -> TextDocument:
        """Return the current text of a file, including unsaved text, and record it as shown.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        located = self.locate(name)
        document = await self.peek(name)
        self.shown.record(document)
        self.report.record_read(located.name)
        return document

    async def peek(self, name: str) -> TextDocument:
        """Return the current text of a file, including unsaved text, that the model is not shown.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        with refusals_as_errors():
            return await self.document_at(self.locate(name).uri)

    async def document_to_edit(self, name: str, *, position: str = "") -> TextDocument:
        """Return the current text of a file, for resolving an edit at `position`.

        The text is current until the caller awaits.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        located = self.locate_to_write(name, position)
        try:
            return await self._clear_inline_blocks(located.uri)
        except NotShown as refused:
            if refused.rule in _NO_REFUSAL:
                raise ToolError(str(refused)) from refused
            refusal = Refusal(refused.rule, refused.message)
            raise self.report.record_refusal(name, position, refusal) from refused

    async def document_to_edit_at(self, uri: str) -> TextDocument:
        """Return the current text of a file with a known URI, for resolving an edit.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        with refusals_as_errors():
            return await self._clear_inline_blocks(uri)

    async def _clear_inline_blocks(self, uri: str) -> TextDocument:
        """Return the text of a document to be edited, after its inline blocks are removed.

        Raises:
            NotShown: If there is no document, or it may not be shown.
            ToolError: If the editor does not remove the blocks.
        """
        for _ in range(_MAX_TRIES):
            await self.ledger.blocks.clear(uri)
            document = await self.document_at(uri)
            if not self.ledger.blocks.shown_blocks(uri):
                return document
        raise ToolError(
            "The editor did not remove the pending blocks from the text. Ask the user to decide "
            "the blocks in the file first."
        )

    async def document_at(self, uri: str) -> TextDocument:
        """Return the current text of a document with a known URI, including unsaved text.

        Raises:
            NotShown: If there is no document, or it may not be shown.
        """
        while True:
            # Take the snapshot here: the workspace belongs to the event loop.
            document = await asyncio.to_thread(self.snapshot().show_and_learn, uri)
            # The user may have edited the document during the disk access.
            now = self.workspace.shown(uri)
            if now is not None or document.version is None:
                return now or document

    async def learn_around(self, document: TextDocument, first: int, end: int) -> None:
        """Learn the secrets near lines (0-based, half-open) of a large text."""
        if document.is_large:
            await asyncio.to_thread(self.snapshot().learn_around, document, first, end)

    def changes_since_shown(self, document: TextDocument) -> tuple[TextChange, ...]:
        """Return the user's changes to a file since it was last shown to the model; else none."""
        shown = self.shown.last(document.uri)
        if shown is None:
            return ()
        return changes_since_text(document, shown, noted_since(document, shown, self.workspace))

    def pending_view(self, document: TextDocument) -> PendingView:
        """Return `document` with the pending hunks of this conversation."""
        snapshot = self.snapshot()
        hunks = [as_shown(hunk, snapshot, document.real) for hunk in self.ledger.live(document.uri)]
        return PendingView.build(document, hunks, self.turn.chat)

    def is_current(self, document: TextDocument, view: PendingView) -> bool:
        """Return whether `document` and the pending hunks of `view` are still current."""
        if self.ledger.blocks.shown_blocks(document.uri) or not self.is_latest_text(document):
            return False
        return self.pending_view(document).hunks == view.hunks

    def is_latest_text(self, document: TextDocument) -> bool:
        """Return whether the editor has reported no other text of the file of `document`."""
        now = self.workspace.shown(document.uri)
        return document.version is None if now is None else now == document

    def pending_file(self, name: str) -> Hunk | None:
        """Return the pending new file of the given name from this conversation, if there is one."""
        try:
            uri = self.snapshot().locate(name).uri
        except PathRefused:
            return None  # reading the file reports the reason
        return pending_file(self.ledger.live(uri), self.turn.chat)


async def pending_file_or_raise(error: ToolError, name: str, reader: FileReader) -> Hunk:
    """Return the pending new file of a name that can't be read.

    Raises:
        ToolError: If there is no such hunk. For a missing file, the message suggests similar names
            of files that may be shown; any other error is raised unchanged.
    """
    if (new := reader.pending_file(name)) is not None:
        return new
    cause = error.__cause__
    if not isinstance(cause, NotShown) or cause.rule != "missing":
        raise error
    suggestions = await asyncio.to_thread(similar_names, name, reader.snapshot())
    alternatives = " or ".join(map(repr, suggestions))
    hint = f"Did you mean {alternatives}?" if alternatives else "`list_files` gives the names."
    raise ToolError(f"{error} {hint}") from error


def similar_names(name: str, snapshot: Snapshot) -> list[str]:
    """Return names of files that are similar to a name, the most similar first.

    Names with the same last part come first, then names with a similarly spelt last part. This
    function blocks on the disk.
    """
    path = name.strip().replace("\\", "/").casefold()[-_MAX_LENGTH:]
    last = path.rpartition("/")[2]
    by_last: dict[str, list[str]] = {}
    for located in islice(snapshot.walk(), MAX_FILES):
        by_last.setdefault(located.name.rpartition("/")[2].casefold(), []).append(located.name)
    like = difflib.get_close_matches(last, by_last, MAX_NAMES, _CUTOFF)
    names: list[str] = []
    for last_part in dict.fromkeys((last, *like)):
        names += sorted(
            by_last.get(last_part, ()),
            key=lambda each: -difflib.SequenceMatcher(None, path, each.casefold()).ratio(),
        )
    return names[:MAX_NAMES]
