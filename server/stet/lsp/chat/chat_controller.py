"""The chat documents: open them, send the user's text, write the answers, and keep their files.

A document outlives its server, and anybody may edit it; the agent owns the conversation and stores
it with its turns. So an opened document is updated from the turns, never the turns from the
document. `ChatFiles` names, reads and writes the documents.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from stet.agent.agent import Agent, NotRunning, UnknownTurn
from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.agent.turn import FINAL_STATES, REMOVAL, Ask, Turn, TurnState
from stet.chat.chat_document import ChatDocument, ChatReading, TranscriptBuilder
from stet.lsp.chat.answer_opener import AnswerOpener
from stet.lsp.chat.chat_files import ChatFiles
from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.ledger import ReviewLedger
from stet.text.edit import TextChange
from stet.text.escape import escape_line
from stet.workspace.workspace import ModificationKind, Workspace

log = logging.getLogger(__name__)

QUIET_SECONDS = 1.0
"""The time without new text of a running turn after which the document shows what the turn does."""
OPEN_SECONDS = 5.0
"""The time limit for an editor to open a document after it has agreed to show it."""
DEFAULT_CHAT = "main"
MAX_TITLE = 60
"""The most characters of a conversation's title."""
MAX_TURNS = 50
"""The most turns that a new document of an existing conversation shows."""


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A conversation in the list of all.

    Attributes:
        chat: The id of the conversation.
        title: The beginning of the first question.
        uri: The URI of the document.
        updated: When the last turn began or ended, in seconds since the epoch.
        n_turns: The number of turns.
    """

    chat: str
    title: str
    uri: str
    updated: float
    n_turns: int


def title_of(prompt: str) -> str:
    """Return the first line of a question that has words, at most `MAX_TITLE` characters."""
    line = escape_line(prompt.strip().split("\n")[0]).strip()
    return line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1].rstrip()}…"


class EmptyMessage(Exception):
    """There is no text to send; the message says what to do."""


class ChatController:
    """The controller of one server's chat documents; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - what a chat connects
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        generated: GeneratedDocuments,
        *,
        agent: Agent,
        number: Callable[[], int],
        activity: Callable[[str], str],
    ) -> None:
        """Create the controller.

        Args:
            workspace: The user's workspace.
            ledger: The ledger, which has the hunks of turns.
            client: The editor.
            generated: The registry of Stet's own documents.
            agent: The agent, which has the conversations.
            number: A function that returns a number that no chat has used.
            activity: A function that returns what a turn does now, by its id; "" if unknown.
        """
        self._client = client
        self._ledger = ledger
        self._files = ChatFiles(workspace, client, generated)
        self._agent = agent
        self._number = number
        self._activity = activity
        self._watched: set[str] = set()
        self._transcripts = TranscriptBuilder(workspace, ledger)
        self._current: str | None = None
        self._in_order = asyncio.Lock()
        self._opener = AnswerOpener(workspace, self._open_beside, self._has_proposed)
        generated.listen(self._document_changed)

    # Actions of the user

    def new(self) -> Awaitable[ChatDocument]:
        """Begin a conversation and show its document, like `open`."""
        return self.open(f"c{self._number()}")

    def open(self, chat: str | None = None) -> Awaitable[ChatDocument]:
        """Show the document of a conversation, by default of the latest.

        Raises:
            OSError: By the call or by awaiting its result, if the document can't be written.
        """
        document = self._files.document(chat or self.current)
        self._current, document.is_refused = document.chat, False
        return self._open(document)

    async def _open(self, document: ChatDocument) -> ChatDocument:
        async with self._in_order:
            lines = self._files.lines_in_editor(document)
            if lines is None:
                await self._files.write_file(document, partial(self._add_missing_turns, document))
            else:
                reading = await self._files.read(document, lines)
                if self._add_missing_turns(document, reading):
                    document.adopt(reading)
                self._files.write(document)
        self._client.start(self._client.show_document(document.uri), "show the chat")
        return document

    def _open_beside(self, chat: str) -> None:
        """Open the document of a conversation beside the code, unless it is open."""
        if not self._client.can_show_chat:
            return
        try:
            document = self._files.document(chat)
        except OSError as error:
            log.warning("the chat can't be shown: %s", error)
            return
        if self._files.lines_in_editor(document) is None:
            opened = self._files.hold(document)
            self._client.start(self._write_and_show(document, opened), "show an answer")

    async def _write_and_show(self, document: ChatDocument, opened: asyncio.Event) -> None:
        """Write the file of a document, ask the editor to show it, and wait until it is open."""
        try:
            async with self._in_order:
                note = partial(self._add_missing_turns, document)
                await self._files.write_file(document, note)
            if await self._client.show_chat(document.uri, document.chat):
                with suppress(TimeoutError):
                    async with asyncio.timeout(OPEN_SECONDS):
                        _ = await opened.wait()
        except OSError as error:
            log.warning("the chat can't be shown: %s", error)
        finally:
            self._files.release(document)
            self._files.write(document)

    def _has_proposed(self, turn: Turn) -> bool:
        return any(hunk.summary != REMOVAL for hunk in self._ledger.hunks(turn=turn.id))

    @property
    def current(self) -> str:
        """The id of the conversation that the user has used last."""
        latest = self._agent.chats()[-1:]
        return self._current or (latest[0] if latest else DEFAULT_CHAT)

    def list_chats(self) -> list[ChatEntry]:
        """Return the conversations that have a turn, the most recently used first.

        Raises:
            OSError: If there is no folder for the documents.
        """
        turns: dict[str, list[Turn]] = {}
        for turn in self._agent.turns():
            turns.setdefault(turn.ask.chat, []).append(turn)
        entries = [
            ChatEntry(
                chat,
                title_of(some[0].ask.prompt),
                self._files.uri_of(chat),
                max(max(turn.at, turn.ended_at) for turn in some),
                len(some),
            )
            for chat, some in turns.items()
        ]
        return sorted(entries, key=lambda entry: entry.updated, reverse=True)

    def chat_of(self, uri: str) -> str | None:
        """Return the conversation whose document has this URI, or None if it is no chat
        document.
        """
        return self._files.chat_of(uri, (*self._agent.chats(), DEFAULT_CHAT))

    def send(self, chat: str, ask: Callable[[str, str], Ask]) -> Awaitable[str]:
        """Send the text under the user's last heading; return the id of the turn that answers.

        The text answers the pending question of the chat's turn, steers the running turn, or begins
        a turn, which waits for a turn of another agent to end. The text is the editor's at the time
        of this call, or the disk's if the document is not open.

        Args:
            chat: The id of the conversation.
            ask: A function that creates a question from a text and the id of a conversation.

        Raises:
            OSError: By the call or by awaiting its result, if the document can't be read.
            EmptyMessage: By awaiting the result, if there is no text to send.
            NoPendingQuestion, UnknownQuestion: By awaiting the result, if the text does not answer
                the pending question.
        """
        document = self._files.document(chat)
        self._current = chat
        return self._send(document, self._files.lines_in_editor(document), ask)

    async def _send(
        self, document: ChatDocument, shown: Sequence[str] | None, ask: Callable[[str, str], Ask]
    ) -> str:
        async with self._in_order:
            reading = await self._files.read(document, shown)
            if not reading.writing:
                raise EmptyMessage(
                    "nothing to send: write below the last `## You` heading of the chat"
                )
            if not (text := document.unsent(reading.writing)):
                raise EmptyMessage("nothing to send: this message was already sent")
            document.is_refused = False
            turn = self._submit(document.chat, text, ask)
            if turn.id not in document.entries:
                document.add(self._transcripts.create_turn(turn))
            document.sent(turn.id, text)
            self._files.write(document)
            return turn.id

    def _submit(self, chat: str, text: str, ask: Callable[[str, str], Ask]) -> Turn:
        """Pass the user's text to the agent; return the turn that answers.

        Raises:
            NoPendingQuestion, UnknownQuestion: If the text is not a valid answer to the question.
        """
        agent, running = self._agent, self._agent.session(chat).running
        turn = agent.turn(running) if running else None
        if turn is not None and turn.question is not None:
            return agent.turn(agent.questions.reply(text, turn.question.id))
        if turn is not None and turn.state not in FINAL_STATES and not turn.agent:
            with suppress(NotRunning):
                _ = agent.steer(text, turn.id)
                self._transcripts.skip_steering(turn.id, text)
                return turn
        return agent.ask(ask(text, chat))

    # Events

    def handle_event(self, event: AgentEvent) -> None:
        """Update the transcript after an event of a turn, and the document of its chat if the user
        has used it.
        """
        turn = event.turn
        self._transcripts.handle_event(event)
        document = self._files.documents.get(turn.ask.chat)
        if document is not None:
            if turn.id not in document.entries:
                document.add(self._transcripts.create_turn(turn))
            elif isinstance(event, TurnEnded):
                document.entries[turn.id].ending = self._transcripts.ending(turn)
            self._files.write(document)
            self._watch_activity(document, turn)
        self._opener.handle_event(event)
        if isinstance(event, TurnEnded):
            self._transcripts.forget(turn.id)

    def show_queued(self, turn: Turn) -> None:
        """Show a turn that has not begun in the document of its chat, if the user has used it."""
        document = self._files.documents.get(turn.ask.chat)
        if document is not None and turn.id not in document.entries:
            document.add(self._transcripts.create_turn(turn))
            self._files.write(document)

    def _watch_activity(self, document: ChatDocument, turn: Turn) -> None:
        """Show what a running turn does while its text does not grow, unless this is shown
        already.
        """
        if turn.state is TurnState.RUNNING and turn.id not in self._watched:
            self._watched.add(turn.id)
            self._client.start(self._show_activity(document, turn.id), f"activity of {turn.id}")

    async def _show_activity(self, document: ChatDocument, turn_id: str) -> None:
        try:
            n_before = -1
            while (turn := self._running_turn(turn_id)) and (
                entry := document.entries.get(turn_id)
            ):
                n_written = entry.n_written
                if n_written == n_before and not entry.rest:
                    entry.status = "" if turn.question is not None else self._activity(turn_id)
                    if self._files.writer.can_write(document):
                        self._files.write(document)
                n_before = n_written
                await asyncio.sleep(QUIET_SECONDS)
        finally:
            self._watched.discard(turn_id)

    def _running_turn(self, turn_id: str) -> Turn | None:
        """Return the turn; None if the turn is over, or forgotten since."""
        try:
            turn = self._agent.turn(turn_id)
        except UnknownTurn:
            return None
        return None if turn.state in FINAL_STATES else turn

    def _document_changed(
        self, uri: str, kind: ModificationKind, changes: Sequence[TextChange]
    ) -> None:
        """Handle a generated document that was opened, changed or closed."""
        if kind is ModificationKind.OPENED:
            chat = self.chat_of(uri)
            if chat is None:
                return
            document = self._files.document(chat)
            document.uri, self._current = uri, chat
            document.is_refused = False
            self._files.release(document)
            self._files.texts.opened(uri, partial(self._adopt_reading, document))
        elif kind is ModificationKind.CLOSED:
            self._files.texts.closed(uri)
            if (chat := self.chat_of(uri)) is not None:
                self._opener.document_closed(chat)
        else:
            self._files.texts.changed(uri, changes)
        self._files.writer.document_changed(uri, changes)

    def _adopt_reading(self, document: ChatDocument, reading: ChatReading) -> None:
        """Update a document after the text that it had when it was opened has been read."""
        self._add_missing_turns(document, reading)
        document.adopt(reading)
        self._files.write(document)

    # Missing turns

    def _add_missing_turns(self, document: ChatDocument, reading: ChatReading) -> bool:
        """Add the turns that the document does not show completely; return whether there are any.

        An older turn that is missing was deleted by the user and is not added.
        """
        n_before = len(document.entries)
        turns = [turn for turn in self._agent.turns() if turn.ask.chat == document.chat]
        is_shown = reading.answers.keys()
        first = next((n for n in range(len(turns), 0, -1) if turns[n - 1].id in is_shown), 0)
        for n, turn in enumerate(turns):
            is_known = turn.id in document.entries
            is_new = n >= max(first, len(turns) - MAX_TURNS) and turn.id not in is_shown
            if not is_known and (is_new or (turn.id in is_shown and turn.id not in reading.ended)):
                document.add(self._transcripts.create_turn(turn))
        # A turn that began while the document was read is there already.
        document.sort(turn.id for turn in turns)
        return len(document.entries) > n_before
