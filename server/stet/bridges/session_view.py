"""The view that one session of another agent has of the workspace.

The text of a file is the live text with the pending hunks of this session, and of no other. What
the session writes is compared with the text that it has read, merged with what the user has typed
meanwhile, and proposed as hunks by the same policy as the edits of Stet's own agent.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from stet.agent.turn import Ask, Mode
from stet.agent.turn_rules import create_turn_rules
from stet.bridges.line_changes import propose_text
from stet.context.context_builder import EditorLocation
from stet.context.since_last_turn import cut_off, since_last_turn_section
from stet.review.errors import ReviewError
from stet.review.feedback import ModelKnowledge, collect_feedback
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Draft, Hunk, HunkKind, HunkState, MoveDraft, RemoveDraft
from stet.review.replaced_hunks import amended_text
from stet.review.resolve.pending_view import pending_file
from stet.review.resolve.prepared_edit import PreparedDraft, RejectedDraft, prepare_or_reject
from stet.tools.file_reader import FileReader, TurnIdentity, TurnReport
from stet.tools.proposer import Proposer
from stet.tools.tool_errors import ToolError
from stet.workspace.names import PathRefused
from stet.workspace.paths import Located
from stet.workspace.safe_excerpt import redactor_of
from stet.workspace.snapshot import NO_TEXT, NotShown
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

MAX_SHOWN = 4000
"""The most characters of the user's text in an answer about conflicts."""


class ViewError(Exception):
    """A file can't be read or changed; the message is a sentence for the agent."""


@dataclass(frozen=True, slots=True)
class SessionText:
    """A file as a session sees it.

    Attributes:
        text: The text, with the line ends of the file; None if the session sees no such file.
        is_live: Whether the text is that on the disk or in the editor, without pending hunks.
    """

    text: str | None
    is_live: bool = True


class SessionView:
    """The view of one session; used on the event loop only.

    Attributes:
        agent: The name of the agent, the author of its hunks.
        chat: The id of the session, which its hunks have as their conversation.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        number: Callable[[], int],
        agent: str,
        chat: str,
    ) -> None:
        """Create a view; nothing is read yet.

        Args:
            workspace: The open documents and the files.
            ledger: The proposals.
            number: Returns the number of a new turn.
            agent: The name of the agent.
            chat: The id of the session.
        """
        self.agent = agent
        self.chat = chat
        self._workspace = workspace
        self._ledger = ledger
        self._number = number
        self._knowledge = ModelKnowledge(upto=0)  # after a restart, all decisions are reported
        self._proposer = self._new_turn(f"{chat}-0")

    @property
    def proposer(self) -> Proposer:
        """What the session reads and proposes with in the present turn."""
        return self._proposer

    @property
    def hunks(self) -> tuple[Hunk, ...]:
        """The hunks of the session, in any state."""
        return self._ledger.hunks(chat=self.chat)

    async def begin_turn(self, turn: str = "") -> str:
        """Begin a turn; return what the user has decided and changed since the last one, or "".

        Args:
            turn: The id of the turn; "" for a new one.
        """
        turn = turn or f"t{await asyncio.to_thread(self._number)}"
        shown = self._proposer.reader.shown
        self._proposer = self._new_turn(turn)
        snapshot, hunks, knowledge = self._workspace.snapshot(), self.hunks, self._knowledge
        knowledge = replace(knowledge, shown={**knowledge.shown, **shown})
        feedback = await asyncio.to_thread(collect_feedback, snapshot, hunks, knowledge)
        self._knowledge = feedback.knowledge
        redactor = redactor_of(snapshot)
        section = since_last_turn_section(feedback, redactor.excerpt if redactor else cut_off)
        return section.text if section else ""

    def is_ours(self, uri: str) -> bool:
        """Return whether a file is below a folder of the workspace."""
        path = path_of(uri)
        roots = self._workspace.roots
        return path is not None and any(path.is_relative_to(root.path) for root in roots)

    async def read(self, uri: str) -> SessionText | None:
        """Return a file as the session sees it; None for a folder, and a file without usable text.

        Raises:
            ViewError: If the privacy settings hide the file.
        """
        if (new := self._pending_file(uri)) is not None:
            return SessionText(new.new, is_live=False)
        if self._gone(uri) is not None:
            return SessionText(None, is_live=False)
        if (move := self._pending_move(uri)) is not None:
            moved = await self._read_live(move.uri)
            return moved and SessionText(moved.text, is_live=False)
        return await self._read_live(uri)

    async def _read_live(self, uri: str) -> SessionText | None:
        """Return an existing file with the pending hunks of the session."""
        try:
            document = await self._proposer.reader.document_at(uri)
        except NotShown as refused:
            if refused.rule in NO_TEXT | {"unreadable", "special"}:
                return None
            if refused.rule == "missing":
                return SessionText(None)
            raise ViewError(str(refused)) from refused
        if document.is_large:
            return None
        self._proposer.reader.shown.record(document)
        view = self._proposer.reader.pending_view(document)
        return SessionText(view.text, is_live=not view.hunks and document.version is None)

    async def refusal(self, uri: str, *, is_new: bool) -> str:
        """Return why the session may not change or create a file, or ""."""
        rules = await self._proposer.inspect_rules(uri)
        if refusal := rules.path_status(uri).refusal:
            return refusal.for_model
        if is_new and not (rules.settings.can_create and rules.may_create(uri)):
            return "The user's settings do not let agents create this file."
        if not is_new and not rules.editable(uri):
            return "The user's settings (edit.scope) do not let agents change this file."
        return ""

    async def write(self, uri: str, before: str | None, after: str) -> tuple[Hunk, ...]:
        """Propose that a file has another text.

        Args:
            uri: The file.
            before: The text that the session has changed; None for a new file.
            after: The text that it has written.

        Returns:
            The hunks of the change; empty if the file would not change. Lines that the user has
            changed since are hunks in conflict (`describe_conflicts`).

        Raises:
            ViewError: If a rule refuses, or the change can't be merged with those of the user.
        """
        with _errors_for_agents():
            if self._whole_file_hunk(uri, HunkKind.REMOVE) is not None or (
                before is None and self._gone(uri) is not None
            ):
                return await self._recreate(uri, after)
            if (move := self._pending_move(uri)) is not None:
                uri = move.uri
            return await self._change_or_create(uri, before, after)

    async def describe_conflicts(self, hunks: Sequence[Hunk]) -> str:
        """Return sentences for the agent about conflicts, with the user's lines cut, or ""."""
        found = [hunk for hunk in hunks if hunk.state is HunkState.CONFLICT]
        snapshot = self._workspace.snapshot()
        redactor, proposed = redactor_of(snapshot), self.hunks

        def shown(text: str) -> str:
            return (redactor.redact(text).text if redactor else text)[: MAX_SHOWN // len(found)]

        def describe() -> str:
            return "\n".join(
                f"The user has changed the same lines of {snapshot.name_of(hunk.uri)} since then. "
                f"Your lines wait as {hunk.id}, in conflict with those of the user, who decides: "
                f"don't make this edit again. The user's lines are now:\n"
                f"{shown(amended_text(proposed, hunk) or hunk.old)}"
                for hunk in found
            )

        return await asyncio.to_thread(describe) if found else ""

    async def _recreate(self, uri: str, after: str) -> tuple[Hunk, ...]:
        """Propose a new text for a file that the session has deleted, or moved away.

        A file that the session has moved away is then copied, as git shows it.

        Raises:
            NotShown: If the file can't be read.
            ToolError: If a rule refuses.
            ViewError: If the file has no usable text.
        """
        removed, moved = (
            self._whole_file_hunk(uri, kind) for kind in (HunkKind.REMOVE, HunkKind.MOVE)
        )
        live = await self._read_live(uri)
        if live is None or live.text is None:
            return await self._create(uri, after)
        copies: tuple[Hunk, ...] = ()
        if moved is not None:
            copies = await self._create(moved.new_uri, live.text)
        try:
            hunks = await propose_text(self._proposer, uri, live.text, after)
        except (NotShown, ToolError):
            for hunk in copies:
                self._withdraw(hunk)
            raise
        for gone in filter(None, (removed, moved)):
            self._withdraw(gone)
        return (*copies, *hunks)

    async def delete(self, uri: str) -> tuple[Hunk, ...]:
        """Propose that a file goes to the trash; pending hunks of the session for it are withdrawn.

        Returns:
            The hunk; empty if the file was only proposed by the session.

        Raises:
            ViewError: If a rule refuses.
        """
        with _errors_for_agents():
            if (new := self._pending_file(uri)) is not None:
                self._ledger.withdraw(new.id)
                return ()
            if (move := self._pending_move(uri)) is not None:
                uri = move.uri
            removal = await self._prepare_removal(uri)
            hunks = self._proposer.propose_prepared(removal, position="delete")
            made = {hunk.id for hunk in hunks}
            for hunk in self._ledger.live(uri):
                if hunk.chat == self.chat and hunk.id not in made:
                    self._withdraw(hunk)
            return hunks

    async def _prepare_removal(self, uri: str) -> PreparedDraft | RejectedDraft:
        """Return the removal of an existing file.

        Raises:
            ViewError: If the file has no usable text.
        """
        shown = await self._read_live(uri)
        if shown is None or shown.text is None:
            raise ViewError(f"{uri} can't be deleted: it is not a text file.")
        located = self._located(uri)
        document = await self._proposer.reader.document_at(located.uri)
        draft = RemoveDraft(
            **self._proposer.reader.turn.origin,
            uri=located.uri,
            name=located.name,
            text=document.text,
            summary=f"{self.agent}: delete {located.name}",
        )
        return await self._prepare(draft, (located.uri,))

    async def move(self, uri: str, new_uri: str) -> tuple[Hunk, ...]:
        """Propose that a file gets another name; links to the file are not changed.

        Raises:
            ViewError: If a rule refuses.
        """
        with _errors_for_agents():
            move = self._pending_move(uri)
            is_back = move is not None and canonical(move.uri) == canonical(new_uri)
            if self._gone(new_uri) is not None and not is_back:
                return await self._move_over(uri, new_uri)
            if (new := self._pending_file(uri)) is not None:
                hunks = await self._create(new_uri, new.new)
                self._withdraw(new)
                return hunks
            if move is not None:
                if is_back:
                    # The user may have restored both a move and a deletion of the file.
                    while (gone := self._gone(move.uri)) is not None:
                        self._ledger.withdraw(gone.id)
                    return ()
                uri = move.uri  # the new move replaces the earlier one
            self._check_free(new_uri)
            old, new_place = self._located(uri), self._located(new_uri)
            draft = MoveDraft(
                **self._proposer.reader.turn.origin,
                uri=old.uri,
                name=old.name,
                new_uri=new_place.uri,
                new_name=new_place.name,
                summary=f"{self.agent}: move {old.name} to {new_place.name}",
            )
            return await self._propose(draft, (old.uri, new_place.uri), "move")

    async def _move_over(self, uri: str, new_uri: str) -> tuple[Hunk, ...]:
        """Propose a move to the name of a file that the session has deleted, or moved away.

        Raises:
            NotShown: If a file can't be read.
            ToolError: If a rule refuses.
            ViewError: If a file has no usable text.
        """
        shown = await self.read(uri)
        if shown is None or shown.text is None:
            raise ViewError(f"{uri} can't be moved there: it is not a text file.")
        if self._pending_file(uri) is None:
            moved = self._pending_move(uri)
            removal = await self._prepare_removal(moved.uri if moved else uri)
            if isinstance(removal, RejectedDraft):
                return self._proposer.propose_prepared(removal, position="move")
        hunks = await self._recreate(new_uri, shown.text)
        return (*hunks, *await self.delete(uri))

    async def _change_or_create(self, uri: str, before: str | None, after: str) -> tuple[Hunk, ...]:
        if before is None or self._pending_file(uri) is not None:
            return await self._create(uri, after)
        return await propose_text(self._proposer, uri, before, after)

    async def _create(self, uri: str, text: str) -> tuple[Hunk, ...]:
        self._check_free(uri)
        located = self._located(uri)
        draft = self._proposer.create_draft(located, text, f"{self.agent}: create {located.name}")
        return await self._propose(draft, (located.uri,), "create")

    async def _propose(self, draft: Draft, uris: Sequence[str], position: str) -> tuple[Hunk, ...]:
        prepared = await self._prepare(draft, uris)
        return self._proposer.propose_prepared(prepared, position=position)

    async def _prepare(self, draft: Draft, uris: Sequence[str]) -> PreparedDraft | RejectedDraft:
        inspect = self._proposer.rules.prefetch_status(uris)
        return await asyncio.to_thread(lambda: prepare_or_reject(draft, inspect()))

    def _withdraw(self, hunk: Hunk) -> None:
        """Withdraw a hunk, unless the user has decided it since."""
        if self._ledger.hunk(hunk.id).state in OPEN:
            self._ledger.withdraw(hunk.id)

    def _check_free(self, uri: str) -> None:
        """Check that no file has the name only until the user accepts a hunk of the session.

        Raises:
            ViewError: If there is such a file.
        """
        if (hunk := self._gone(uri)) is not None:
            raise ViewError(
                f"{self._located(uri).name} exists until the user accepts your proposal "
                f"{hunk.id}. Use another name, or wait for the user's decision."
            )

    def _located(self, uri: str) -> Located:
        return self._proposer.reader.snapshot().locate(str(path_of(uri) or uri))

    def _pending_file(self, uri: str) -> Hunk | None:
        return pending_file(self._ledger.live(uri), self.chat)

    def _pending_move(self, new_uri: str) -> Hunk | None:
        """Return the pending move of the session to a new name."""
        wanted = canonical(new_uri)
        moves = (one for one in self.hunks if one.kind is HunkKind.MOVE and one.state in OPEN)
        return next((one for one in moves if canonical(one.new_uri) == wanted), None)

    def _whole_file_hunk(self, uri: str, kind: HunkKind) -> Hunk | None:
        live = self._ledger.live(uri)
        found = (one for one in live if (one.kind, one.chat) == (kind, self.chat))
        return next((one for one in found if one.state in OPEN), None)

    def _gone(self, uri: str) -> Hunk | None:
        """Return the hunk by which the session deletes a file, or moves it away."""
        kinds = (HunkKind.REMOVE, HunkKind.MOVE)
        return next(filter(None, (self._whole_file_hunk(uri, kind) for kind in kinds)), None)

    def _new_turn(self, turn: str) -> Proposer:
        identity = TurnIdentity(turn, self.agent, self.chat)
        reader = FileReader(self._workspace, self._ledger, identity, TurnReport())
        active = self._workspace.snapshot().activity.active
        ask = Ask(prompt="", mode=Mode.AGENT, place=EditorLocation(active, None), chat=self.chat)
        rules = create_turn_rules(ask, self._workspace, reader.shown)
        if self._workspace.settings.edit.scope == "context":
            # The agent reads on its own: its context is the workspace.
            rules = replace(rules, editable=self.is_ours)
        return Proposer(reader, rules)


@contextmanager
def _errors_for_agents() -> Iterator[None]:
    """Convert a refusal within the block to an error for the agent.

    Raises:
        ViewError: Instead of the refusals of the workspace, the policy and the ledger.
    """
    try:
        yield
    except (NotShown, PathRefused, ReviewError, ToolError) as refused:
        raise ViewError(str(refused)) from refused
