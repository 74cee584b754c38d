"""The desk that the tools of one turn work at: what they read by, and the one way to propose."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stet.links.link_scan import LinkCache
from stet.privacy.taint import TaintTracker
from stet.review.drafts import CreateDraft, EditDraft
from stet.review.errors import HunkOverlap, ReviewError
from stet.review.inline.block_rebase import rebase_onto_blocks
from stet.review.ledger import ReviewLedger
from stet.review.policy.rules import EditRules, ProposalRefused, RejectedEdit, check_open
from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import PendingView, pending_file
from stet.review.resolve.prepared_edit import PreparedEdit, RejectedDraft, prepare_or_reject
from stet.review.resolve.shown_documents import (
    ShownDocuments,
    as_shown,
    changes_since_text,
    noted_since,
)
from stet.search.search_query import Searcher
from stet.search.word_search import WordSearcher
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.tools.editor_actions import EditorActions, OpenFileRequest
from stet.tools.question import MAX_TEXT, AskQuestion, Question, QuestionKind
from stet.tools.tool_errors import RefusedByRule, ToolError
from stet.web.web_access import WebAccess
from stet.web.web_address import WebSource
from stet.workspace.paths import Located, PathRefused
from stet.workspace.refusal import Refusal
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot
from stet.workspace.workspace import Workspace

_MAX_TRIES = 3
_NO_REFUSAL = NO_TEXT | {"missing", "unreadable"}
"""Why a file is not shown where no rule is against it: there is no text."""


async def no_user(question: Question) -> str:
    """Where no user can be asked.

    Raises:
        ToolError: Always.
    """
    raise ToolError(f"Nobody can be asked here: {question.text!r}. Go on without an answer.")


async def no_current_context() -> str:
    """Return what the user has attached if there is no editor: an empty text."""
    return ""


@dataclass(slots=True)
class ToolContext:
    """What the tools of one turn share: the world, the ledger, and what the model has seen of it.

    Attributes:
        workspace: Documents over the disk.
        ledger: Where proposals go.
        rules: What this turn may propose.
        turn: Its id.
        author: The model's name.
        chat: The conversation it is part of.
        question_uri: The file the question is about (see `stet.workspace.privacy_filter`).
        shown: What the model has been shown of files.
        files_read: Names of files read, in order, without repeats.
        rejected: Edits that the gate refused.
        is_last_round: Whether the model can send nothing after the calls that are being carried out.
        files_to_open: What the model wants the user to see, until the loop has passed it on.
        summary: What `done` said, or None while the turn goes on.
        links: What files link to, as found before.
        searcher: Finds passages by words or by meaning.
        ask_question: Puts a question to the user.
        current_context: Gives what the editor shows now, as the question's context had it when it was asked.
        user_words: What the user has said in this conversation, the chat's own list: who named what.
        web: The way to search APIs and pages; None where none is configured.
        copied: Names of files whose contents were gathered for the user, in order.
        sources: Pages that were found or read, in order, without repeats.
        n_questions: How many questions the user has been asked.
        untrusted: What others have written and the chat's model was shown, the chat's own: who named what.
        editor: What the editor may be made to do at once.
    """

    workspace: Workspace
    ledger: ReviewLedger
    rules: EditRules
    turn: str
    author: str
    chat: str = ""
    question_uri: str | None = None
    shown: ShownDocuments = field(default_factory=ShownDocuments)
    files_read: list[str] = field(default_factory=list)
    rejected: list[RejectedEdit] = field(default_factory=list)
    is_last_round: bool = False
    files_to_open: list[OpenFileRequest] = field(default_factory=list)
    summary: str | None = None
    links: LinkCache = field(default_factory=LinkCache)
    searcher: Searcher = field(default_factory=WordSearcher)
    ask_question: AskQuestion = no_user
    current_context: Callable[[], Awaitable[str]] = no_current_context
    user_words: list[str] = field(default_factory=list)
    web: WebAccess | None = None
    copied: list[str] = field(default_factory=list)
    sources: list[WebSource] = field(default_factory=list)
    n_questions: int = 0
    untrusted: TaintTracker = field(default_factory=TaintTracker)
    editor: EditorActions = field(default_factory=EditorActions)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the current workspace, for this turn's question."""
        return self.workspace.snapshot().asked_about(self.question_uri)

    def locate(self, name: str) -> Located:
        """Return the file that a model means by `name`.

        Raises:
            ToolError: If the name leads out of the workspace or is none.
        """
        try:
            return self.snapshot().locate(name)
        except PathRefused as refused:
            raise ToolError(str(refused)) from refused

    def locate_to_write(self, name: str, position: str) -> Located:
        """As `locate`, for an edit at `position`: the user is told of a refusal too.

        Raises:
            ToolError: If the name leads out of the workspace or is none.
        """
        try:
            return self.snapshot().locate(name)
        except PathRefused as refused:
            refusal = Refusal(refused.rule, refused.message)
            raise self.record_refusal(name, position, refusal) from refused

    async def read(self, name: str) -> TextDocument:
        """Return the current text of a file, including unsaved text. Record the text as shown to
        the model.

        Raises:
            ToolError: If there is no such file or it may not be shown.
        """
        located = self.locate(name)
        document = await self._read_or_raise(located.uri)
        self.shown.record(document)
        if located.name not in self.files_read:
            self.files_read.append(located.name)
        return document

    async def inspect_rules(self, uri: str) -> EditRules:
        """Return the turn's rules with the current status of `uri`, inspected in a worker thread."""
        return await asyncio.to_thread(self.rules.prefetch_status((uri,)))

    async def ask_user(self, kind: QuestionKind, text: str, choices: Sequence[str] = ()) -> str:
        """Put a question to the user and wait for the answer.

        Raises:
            ToolError: If nobody can be asked, or nobody could read so much.
        """
        self.n_questions += 1
        question = Question(f"q-{self.turn}-{self.n_questions}", kind, text, tuple(choices))
        if len(question.text) > MAX_TEXT:
            raise ToolError(
                f"The user would have to be asked in {len(question.text)} characters; {MAX_TEXT} is "
                "the most. Send less at once."
            )
        return await self.ask_question(question)

    async def create(self, file: str, content: str) -> Hunk:
        """Propose a new file.

        Raises:
            ToolError: If it exists, or may not be created.
        """
        located = self.locate_to_write(file, "create")
        rules = await self.inspect_rules(located.uri)
        if refusal := rules.path_status(located.uri).refusal:  # nor is told whether it is there
            raise self.record_refusal(located.name, "create", refusal)
        if await asyncio.to_thread(self.snapshot().exists, located.uri):
            raise ToolError(f"{file!r} exists already. Change it with `edit_file`.")
        draft = self.create_draft(located, content, f"Create {located.name}")
        inspect = self.rules.prefetch_status((located.uri,))
        (hunk,) = self.propose_prepared(
            await asyncio.to_thread(lambda: prepare_or_reject(draft, inspect())), position="create"
        )
        return hunk

    async def open(self, file: str, line: int | None = None) -> None:
        """Have the editor show a file, at a line (1-based) if one is named.

        Raises:
            ToolError: If it is not there, or the user wants no files opened.
        """
        located = self.locate_to_write(file, "open")
        rules = await self.inspect_rules(located.uri)
        if refusal := check_open(rules, located.name, located.uri):
            raise self.record_refusal(located.name, "open", refusal)
        if not await asyncio.to_thread(self.snapshot().exists, located.uri):
            raise ToolError(f"There is no file {file!r}. `list_files` gives the names.")
        self.files_to_open.append(OpenFileRequest(located.uri, line))

    async def document_to_edit(self, name: str, *, position: str = "") -> TextDocument:
        """Return the current text of a file, for resolving an edit at `position`.

        It is the current text as long as the caller awaits nothing.

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
            raise self.record_refusal(name, position, refusal) from refused

    async def document_to_edit_at(self, uri: str) -> TextDocument:
        """As `live`, for a file that Stet names itself."""
        try:
            return await self._clear_inline_blocks(uri)
        except NotShown as refused:
            raise ToolError(str(refused)) from refused

    async def _clear_inline_blocks(self, uri: str) -> TextDocument:
        """Return the text of a document to be edited, after its inline blocks are removed.

        Raises:
            NotShown: If there is none, or it may not be shown.
            ToolError: If the editor does not take the blocks out.
        """
        for _ in range(_MAX_TRIES):
            await self.ledger.blocks.clear(uri)
            document = await self._read_document(uri)
            if not self.ledger.blocks.shown_blocks(uri):
                return document
        raise ToolError(
            "The editor did not take what is pending there out of the text. Ask the user to decide "
            "the blocks that stand in the file first."
        )

    async def _read_or_raise(self, uri: str) -> TextDocument:
        try:
            return await self._read_document(uri)
        except NotShown as refused:
            raise ToolError(str(refused)) from refused

    async def _read_document(self, uri: str) -> TextDocument:
        """Return the text of a document.

        Raises:
            NotShown: If there is none, or it may not be shown.
        """
        while True:
            # The snapshot is taken here: the workspace belongs to the event loop.
            document = await asyncio.to_thread(self.snapshot().show_and_learn, uri)
            # The user went on typing while the disk was asked.
            now = self.workspace.shown(uri)
            if now is not None or document.version is None:
                return now or document

    async def learn_around(self, document: TextDocument, first: int, end: int) -> None:
        """Get to know the secrets about some lines (0-based, half-open) of a text too long to be learnt
        whole.
        """
        if document.is_large:
            await asyncio.to_thread(self.snapshot().learn_around, document, first, end)

    def last_shown(self, uri: str, quotes: Sequence[str] = ()) -> TextDocument | None:
        """Return the text of a file as shown to the model (`ShownDocuments.last`); None if never
        shown.
        """
        return self.shown.last(uri, quotes)

    def changes_since_shown(
        self, document: TextDocument, shown: TextDocument | None = None
    ) -> tuple[TextChange, ...]:
        """Return the user's changes to a file since the model saw the file, last or as `shown`.
        Return no changes if the model never saw the file.
        """
        shown = shown or self.last_shown(document.uri)
        if shown is None:
            return ()
        return changes_since_text(document, shown, noted_since(document, shown, self.workspace))

    def pending_view(self, document: TextDocument) -> PendingView:
        """`live` with what this conversation has pending in it."""
        snapshot = self.snapshot()
        hunks = [as_shown(hunk, snapshot, document.real) for hunk in self.ledger.live(document.uri)]
        return PendingView.build(document, hunks, self.chat)

    def is_current(self, document: TextDocument, view: PendingView) -> bool:
        """Whether `live` is the text to edit still, and `view` what is pending in it."""
        return (
            self.is_latest_text(document)
            and not self.ledger.blocks.shown_blocks(document.uri)
            and self.pending_view(document).hunks == view.hunks
        )

    def is_latest_text(self, document: TextDocument) -> bool:
        """Whether `live` is the text of its file still, as far as the editor tells."""
        now = self.workspace.shown(document.uri)
        return document.version is None if now is None else now == document

    def pending_file(self, name: str) -> Hunk | None:
        """Return the pending new file of the given name from this conversation, if there is one."""
        try:
            uri = self.snapshot().locate(name).uri
        except PathRefused:
            return None  # whoever asked for the file itself has said why
        return pending_file(self.ledger.live(uri), self.chat)

    def edit_draft(
        self, document: TextDocument, name: str, edit: TextEdit, summary: str
    ) -> EditDraft:
        """Return a draft for the ledger, from this turn, with an edit of `document`."""
        return EditDraft(
            turn=self.turn,
            chat=self.chat,
            author=self.author,
            document=document,
            name=name,
            edit=edit,
            summary=summary,
        )

    def propose_prepared(
        self, prepared: PreparedEdit | RejectedDraft, *, position: str, amends: tuple[str, ...] = ()
    ) -> tuple[Hunk, ...]:
        """Propose what the gate was asked about before (`prepare_or_reject`), for the text as it is now.

        Args:
            prepared: What it said.
            position: Where, for the user who is told of a refusal.
            amends: Own pending hunks that it takes the place of, and holds.

        Raises:
            ToolError: If the gate or the ledger refuses.
        """
        name = prepared.draft.name
        with self.reporting_refusals(name, position):
            if isinstance(prepared, RejectedDraft):
                raise prepared.refused
            if prepared.authorized.protected:
                prepared = prepared.with_caution(self.explain_source(name))
            try:
                snapshot = self.snapshot()
                prepared = rebase_onto_blocks(prepared, snapshot)
                real = prepared.draft.document if isinstance(prepared.draft, EditDraft) else None
                hunks = self.ledger.propose(prepared, amends)
                return tuple(as_shown(hunk, snapshot, real) for hunk in hunks)
            except HunkOverlap as overlap:
                again = "To change what is pending, quote that text as `old_text`."
                raise ToolError(f"{name!r}: {overlap}. {again}") from overlap

    def explain_source(self, *names: str) -> str:
        """Return a sentence for the user if others named one of the files. Return "" if nobody did,
        the question is about the file, or the user's cursor is in the file.
        """
        snapshot = self.snapshot()
        users = {snapshot.name_of(uri) for uri in (snapshot.asked, snapshot.activity.active) if uri}
        return self.untrusted.explain_source(
            (name for name in names if name not in users), self.user_words
        )

    def create_draft(self, located: Located, text: str, summary: str) -> CreateDraft:
        """Return a draft for the ledger, from this turn, with a new file."""
        return CreateDraft(
            turn=self.turn,
            chat=self.chat,
            author=self.author,
            uri=located.uri,
            name=located.name,
            text=text,
            summary=summary,
        )

    @contextmanager
    def reporting_refusals(self, name: str, position: str) -> Iterator[None]:
        """Whatever the gate or the ledger refuses within is told to the model.

        Raises:
            ToolError: In the place of what they raise.
        """
        try:
            yield
        except ProposalRefused as refused:
            raise self.record_refusal(name, position, refused.refusal) from refused
        except ReviewError as error:
            raise ToolError(f"{name!r}: {error}.") from error

    def record_refusal(self, name: str, position: str, refusal: Refusal) -> ToolError:
        """Record a refusal for the user and return the error that reports the refusal to the model.
        The caller raises the error.
        """
        self.rejected.append(RejectedEdit(name, position, refusal.rule, refusal.message))
        return RefusedByRule(f"Refused by the rule {refusal.rule}: {refusal.for_model}")
