"""All chat documents: which there are, what the user sends from them, and what goes into them.

A document outlives its server and may be written in by anybody; the conversation itself is the
agent's and kept with its turns. So a document that is opened is brought up to date from the turns,
and never the other way round.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from stet.agent.agent import Agent, NotRunning
from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.agent.turn import FINAL_STATES, Ask, Turn
from stet.chat.chat_document import ChatDocument, ChatReading, TranscriptBuilder
from stet.lsp.chat.chat_files import ChatFiles
from stet.lsp.chat.chat_writer import ChatWriter
from stet.lsp.chat.open_chat_texts import OpenChatTexts
from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.ledger import ReviewLedger
from stet.system.system import System
from stet.text.change import TextChange
from stet.workspace.modification import ModificationKind
from stet.workspace.workspace import Workspace

DEFAULT_CHAT = "main"
MAX_TURNS = 50
"""How many turns a new document of an old conversation begins with."""


class EmptyMessage(Exception):
    """Nothing is written where the user's words go; the message says what to do."""


class ChatController:
    """The chat documents of one server. Touched on the event loop only."""

    def __init__(  # noqa: PLR0913 - what a chat stands between
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        system: System,
        generated: GeneratedDocuments,
        *,
        texts: OpenChatTexts,
        writer: ChatWriter,
        agent: Callable[[], Agent],
        number: Callable[[], int],
    ) -> None:
        """`texts` are those that the editor has open; `agent` gives who answers, once it is there; `number` one that no chat has had."""
        self._client = client
        self._writer = writer
        self._texts = texts
        self._pages = ChatFiles(
            client,
            system,
            generated,
            texts=self._texts,
            writer=writer,
            folders=lambda: workspace.folders,
        )
        self._agent = agent
        self._number = number
        self._telling = TranscriptBuilder(workspace, ledger)
        self._current: str | None = None
        self._in_order = asyncio.Lock()
        generated.listen(self._document_changed)

    # What the user does

    def new(self) -> Awaitable[ChatDocument]:
        """Begin a conversation and show its document, as `open`."""
        return self.open(f"c{self._number()}")

    def open(self, chat: str | None = None) -> Awaitable[ChatDocument]:
        """Show a conversation's document, by default the latest one's.

        Raises:
            OSError: If it can't be written; when it is waited for, too.
        """
        page = self._pages.page(chat or self.current)
        self._current, page.is_refused = page.chat, False
        return self._open(page)

    async def _open(self, document: ChatDocument) -> ChatDocument:
        async with self._in_order:
            lines = self._pages.lines_in_editor(document)
            if lines is None:
                await self._pages.write_file(
                    document, lambda found: self._add_missing_turns(document, found)
                )
            else:
                reading = await self._pages.read(document, lines)
                if self._add_missing_turns(document, reading):
                    document.adopt(reading)
                self._pages.write(document)
        self._client.start(self._client.show_document(document.uri), "show the chat")
        return document

    @property
    def current(self) -> str:
        """The conversation that the user had to do with last."""
        latest = self._agent().chats()[-1:]
        return self._current or (latest[0] if latest else DEFAULT_CHAT)

    def chat_of(self, uri: str) -> str | None:
        """Return the conversation whose document `uri` names, or None if `uri` is no chat document."""
        return self._pages.chat_of(uri, (*self._agent().chats(), DEFAULT_CHAT))

    def send(self, chat: str, ask: Callable[[str, str], Ask]) -> Awaitable[str]:
        """Send what stands under the last heading of the user's; gives the turn that answers.

        It answers what the chat's turn waits for, steers the turn that runs, or begins one. What is
        sent is what the editor shows when this is called; of a document that is not open, what the
        disk holds.

        Args:
            chat: The conversation.
            ask: Makes a question of words and a conversation.

        Raises:
            OSError: If the document can't be read; when it is waited for, too.
            EmptyMessage: When it is waited for, if nothing is written there.
            NoPendingQuestion, UnknownQuestion: The same, if it is no answer to what is asked.
        """
        page = self._pages.page(chat)
        self._current = chat
        return self._send(page, self._pages.lines_in_editor(page), ask)

    async def _send(
        self, document: ChatDocument, shown: Sequence[str] | None, ask: Callable[[str, str], Ask]
    ) -> str:
        async with self._in_order:
            reading = await self._pages.read(document, shown)
            if not reading.writing:
                raise EmptyMessage(
                    "there is nothing to send: write under the last heading `## You` of the chat"
                )
            if not (text := document.unsent(reading.writing)):
                raise EmptyMessage("there is nothing to send: what stands there has been sent")
            document.is_refused = False
            turn = self._submit(document.chat, text, ask)
            if turn.id not in document.entries:
                document.add(self._telling.create_turn(turn))
            document.sent(turn.id, text)
            self._pages.write(document)
            return turn.id

    def _submit(self, chat: str, text: str, ask: Callable[[str, str], Ask]) -> Turn:
        """Have the agent take what was said; gives the turn that answers.

        Raises:
            NoPendingQuestion, UnknownQuestion: If it is no answer to what is asked.
        """
        agent, running = self._agent(), self._agent().session(chat).running
        turn = agent.turn(running) if running else None
        if turn is not None and turn.question is not None:
            return agent.turn(agent.questions.reply(text, turn.question.id))
        return self._try_steer(turn, text) or agent.ask(ask(text, chat))

    def _try_steer(self, turn: Turn | None, text: str) -> Turn | None:
        """Send a text to a running turn. Return the turn, or None if there is no turn that takes
        steering.
        """
        if turn is None or turn.state in FINAL_STATES:
            return None
        try:
            _ = self._agent().steer(text, turn.id)
        except NotRunning:
            return None
        self._telling.skip_steering(turn.id, text)
        return turn

    # What happens

    def handle_event(self, event: AgentEvent) -> None:
        """Update the transcript after an event of a turn, and the document of its chat if it was
        shown.
        """
        turn = event.turn
        self._telling.handle_event(event)
        page = self._pages.existing_page(turn.ask.chat)
        if page is not None:
            if turn.id not in page.entries:
                page.add(self._telling.create_turn(turn))
            elif isinstance(event, TurnEnded):
                page.entries[turn.id].ending = self._telling.ending(turn)
            self._pages.write(page)
        if isinstance(event, TurnEnded):
            self._telling.forget(turn.id)

    def _document_changed(
        self, uri: str, kind: ModificationKind, changes: Sequence[TextChange]
    ) -> None:
        """Handle a generated document that was opened, changed or closed."""
        if kind is ModificationKind.OPENED:
            chat = self.chat_of(uri)
            if chat is None:
                return
            page = self._pages.page(chat)
            page.uri, self._current = uri, chat
            page.is_refused = False
            self._texts.opened(uri, lambda found: self._adopt_reading(page, found))
        elif kind is ModificationKind.CLOSED:
            self._texts.closed(uri)
        else:
            self._texts.changed(uri, changes)
        self._writer.document_changed(uri, changes)

    def _adopt_reading(self, document: ChatDocument, reading: ChatReading) -> None:
        """Update a document after the text that it had when it was opened has been read."""
        self._add_missing_turns(document, reading)
        document.adopt(reading)
        self._pages.write(document)

    # What is missing

    def _add_missing_turns(self, document: ChatDocument, reading: ChatReading) -> bool:
        """Take in the turns that the document does not show to their end; whether there are any.

        Older ones that are not there the user has deleted.
        """
        n_before = len(document.entries)
        turns = [turn for turn in self._agent().turns() if turn.ask.chat == document.chat]
        is_shown = reading.answers.keys()
        first = next((n for n in range(len(turns), 0, -1) if turns[n - 1].id in is_shown), 0)
        for n, turn in enumerate(turns):
            is_known = turn.id in document.entries
            is_new = n >= max(first, len(turns) - MAX_TURNS) and turn.id not in is_shown
            if not is_known and (is_new or (turn.id in is_shown and turn.id not in reading.ended)):
                document.add(self._telling.create_turn(turn))
        return len(document.entries) > n_before
