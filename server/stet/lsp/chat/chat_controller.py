"""The chat documents: open them, send the user's text, write the answers, and keep their files.

A document outlives its server, and anybody may edit it; the agent owns the conversation and stores it
with its turns. So an opened document is updated from the turns, never the turns from the document.
`ChatFiles` names, reads and writes the documents: in the editor if it has the document open, otherwise
in the file, in a worker thread, one document at a time.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from stet.agent.agent import Agent, NotRunning
from stet.agent.agent_events import AgentEvent, TurnEnded
from stet.agent.turn import FINAL_STATES, Ask, Turn
from stet.chat.chat_document import ChatDocument, ChatReading, TranscriptBuilder
from stet.chat.chat_layout import ChatSections, new_document
from stet.lsp.chat.chat_writer import ChatWriter, OpenChatTexts
from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments, short_digest
from stet.review.ledger import ReviewLedger
from stet.text.edit import TextChange
from stet.text.lines import split_lines
from stet.workspace.disk_text import decode
from stet.workspace.uris import canonical
from stet.workspace.workspace import ModificationKind, Workspace

log = logging.getLogger(__name__)

DISK_SECONDS = 0.3
"""The minimum time for which streamed text is collected before the file is written."""
PAUSES = 10
"""The same as a multiple of the last write's duration: a file is always written as a whole."""
MAX_BYTES = 20_000_000
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


class ChatFiles:
    """The chat documents of one server; used on the event loop only.

    Attributes:
        texts: The documents that are open in the editor.
        writer: The writer of the open documents.
        pages: The documents that the user has used, by the id of the conversation.
    """

    def __init__(self, workspace: Workspace, client: Client, generated: GeneratedDocuments) -> None:
        """Create the object; file names contain a digest of the roots, as servers share a folder."""
        self._workspace = workspace
        self._client = client
        self._system = generated.system
        self._generated = generated
        self.texts = OpenChatTexts(generated, client.start)
        self.writer = ChatWriter(generated, self.texts, client)
        self.pages: dict[str, ChatDocument] = {}
        self._to_disk: set[str] = set()
        self._disk = asyncio.Lock()
        self._write_seconds = 0.0

    def page(self, chat: str) -> ChatDocument:
        """Return the document of a conversation.

        Raises:
            OSError: If the folder of the document can't be created.
        """
        if chat not in self.pages:
            file = self._file_of(chat)
            self.pages[chat] = ChatDocument(chat, file, (self._generated.folder / file).as_uri())
        return self.pages[chat]

    def chat_of(self, uri: str, chats: Iterable[str]) -> str | None:
        """Return the conversation whose document has this URI, or None. Known conversations and
        `chats` are searched.
        """
        known = {canonical(page.uri): chat for chat, page in self.pages.items()}
        if (chat := known.get(canonical(uri))) is not None:
            return chat
        if not self._generated.is_generated(uri) or not Path(uri).name.startswith("chat-"):
            return None
        candidates = (*chats, Path(uri).stem.split("-", 2)[-1])
        return next((chat for chat in candidates if Path(uri).name == self._file_of(chat)), None)

    def lines_in_editor(self, document: ChatDocument) -> tuple[str, ...] | None:
        """Return the current lines of a document in the editor, or None if the document is not open
        there.
        """
        buffer = self._generated.workspace.buffer(document.uri)
        return None if buffer is None else tuple(buffer.lines)

    async def read(self, document: ChatDocument, lines: Sequence[str] | None) -> ChatReading:
        """Read a document in a worker thread: `lines` from the editor, or the file if `lines` is None.
        If there is no file, return the reading of a new document.

        Raises:
            OSError: If the file exists and can't be read.
        """
        if lines is not None:
            return await asyncio.to_thread(lambda: ChatReading.of(ChatSections(lines)))
        async with self._disk:
            return (await asyncio.to_thread(self._read_document, document))[1]

    def write(self, document: ChatDocument) -> None:
        """Start to write the missing text: into the editor if it accepts edits, else into the file."""
        if self.texts.is_being_read(document.uri):
            return  # this is called again after the reading
        if self.writer.can_write(document):
            self.writer.start(document, lambda: self._on_refused(document))
        elif document.uri not in self._to_disk:
            self._to_disk.add(document.uri)
            self._client.start(self._write_soon(document), f"keep {document.file}")

    async def write_file(
        self, document: ChatDocument, note: Callable[[ChatReading], object] | None = None
    ) -> None:
        """Write the file of a document, with all missing text.

        Args:
            document: The document.
            note: A function that is called with the current reading, before text is added.

        Raises:
            OSError: If the file can't be read or written.
        """
        async with self._disk:
            began = self._system.monotonic()
            lines = self.lines_in_editor(document)
            current_text, reading = await asyncio.to_thread(self._read_document, document, lines)
            if note is not None:
                note(reading)
            scratch = document.frozen()
            reading = await asyncio.to_thread(self._write_file, scratch, current_text)
            self._write_seconds = self._system.monotonic() - began
        if self._generated.workspace.buffer(document.uri) is None:
            document.adopt(reading, scratch.written())

    def _read_document(
        self, document: ChatDocument, lines: Sequence[str] | None = None
    ) -> tuple[str | None, ChatReading]:
        """Return the text of a document and its reading. The text is `lines`, or that of the file;
        if there is no file, return None and the reading of a new document. Block on the disk.
        """
        text = self._read(document) if lines is None else "".join(lines)
        shown = new_document(document.chat) if text is None else text
        return text, ChatReading.of(ChatSections(split_lines(shown)))

    def _write_file(self, document: ChatDocument, current_text: str | None) -> ChatReading:
        """Write a file with all missing text in it, and return its content. Block on the disk.

        `document` is a copy, which records the text that has been written.
        """
        new = document.fill(new_document(document.chat) if current_text is None else current_text)
        if new != current_text:
            _ = self._system.write_generated(document.file, new)
        return ChatReading.of(ChatSections(split_lines(new)))

    async def _write_soon(self, document: ChatDocument) -> None:
        await asyncio.sleep(max(DISK_SECONDS, PAUSES * self._write_seconds))
        self._to_disk.discard(document.uri)
        try:
            await self.write_file(document)
        except OSError as error:
            log.warning("%s can't be written: %s", document.file, error)

    def _on_refused(self, document: ChatDocument) -> None:
        log.info("%s: the editor accepts no edits; the file is written", document.uri)
        document.is_refused = True
        self.write(document)

    def _read(self, document: ChatDocument) -> str | None:
        """Return the text of a document's file, or None if there is no file. Block on the disk."""
        path = self._generated.folder / document.file
        if self._system.stat(path) is None:
            return None
        return decode(self._system.read_bytes(path, MAX_BYTES))

    def _file_of(self, chat: str) -> str:
        """Return the file name of a chat's document."""
        roots = "\n".join(canonical(uri) for uri in self._workspace.folders)
        name = chat if _PLAIN_NAME.fullmatch(chat) else f"x{short_digest(chat)}"
        return f"chat-{short_digest(roots)}-{name}.md"


DEFAULT_CHAT = "main"
MAX_TURNS = 50
"""The most turns that a new document of an existing conversation shows."""


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
    ) -> None:
        """Create the controller; `number` returns a number that no chat has used."""
        self._client = client
        self._files = ChatFiles(workspace, client, generated)
        self._agent = agent
        self._number = number
        self._transcripts = TranscriptBuilder(workspace, ledger)
        self._current: str | None = None
        self._in_order = asyncio.Lock()
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
        page = self._files.page(chat or self.current)
        self._current, page.is_refused = page.chat, False
        return self._open(page)

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

    @property
    def current(self) -> str:
        """The id of the conversation that the user has used last."""
        latest = self._agent.chats()[-1:]
        return self._current or (latest[0] if latest else DEFAULT_CHAT)

    def chat_of(self, uri: str) -> str | None:
        """Return the conversation whose document has this URI, or None if it is no chat document."""
        return self._files.chat_of(uri, (*self._agent.chats(), DEFAULT_CHAT))

    def send(self, chat: str, ask: Callable[[str, str], Ask]) -> Awaitable[str]:
        """Send the text under the user's last heading; return the id of the turn that answers.

        The text answers the pending question of the chat's turn, steers the running turn, or begins
        a turn. The text is the editor's at the time of this call, or the disk's if the document is
        not open.

        Args:
            chat: The id of the conversation.
            ask: A function that creates a question from a text and the id of a conversation.

        Raises:
            OSError: By the call or by awaiting its result, if the document can't be read.
            EmptyMessage: By awaiting the result, if there is no text to send.
            NoPendingQuestion, UnknownQuestion: By awaiting the result, if the text does not answer
                the pending question.
        """
        page = self._files.page(chat)
        self._current = chat
        return self._send(page, self._files.lines_in_editor(page), ask)

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
        if turn is not None and turn.state not in FINAL_STATES:
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
        page = self._files.pages.get(turn.ask.chat)
        if page is not None:
            if turn.id not in page.entries:
                page.add(self._transcripts.create_turn(turn))
            elif isinstance(event, TurnEnded):
                page.entries[turn.id].ending = self._transcripts.ending(turn)
            self._files.write(page)
        if isinstance(event, TurnEnded):
            self._transcripts.forget(turn.id)

    def _document_changed(
        self, uri: str, kind: ModificationKind, changes: Sequence[TextChange]
    ) -> None:
        """Handle a generated document that was opened, changed or closed."""
        if kind is ModificationKind.OPENED:
            chat = self.chat_of(uri)
            if chat is None:
                return
            page = self._files.page(chat)
            page.uri, self._current = uri, chat
            page.is_refused = False
            self._files.texts.opened(uri, partial(self._adopt_reading, page))
        elif kind is ModificationKind.CLOSED:
            self._files.texts.closed(uri)
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
        return len(document.entries) > n_before
