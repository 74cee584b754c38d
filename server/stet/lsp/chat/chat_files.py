"""The documents of one server's chats as texts: their names, in the editor and on the disk.

A document is written in the editor if it has the document open, otherwise in the file, in a worker
thread, one document at a time.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from stet.chat.chat_document import ChatDocument, ChatReading
from stet.chat.chat_layout import ChatSections, new_document
from stet.lsp.chat.chat_writer import ChatWriter, OpenChatTexts
from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments, short_digest
from stet.text.lines import split_lines
from stet.workspace.disk_text import decode
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

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
        documents: The documents that the user has used, by the id of the conversation.
    """

    def __init__(self, workspace: Workspace, client: Client, generated: GeneratedDocuments) -> None:
        """Create the object; file names contain a digest of the roots, as servers share a
        folder.
        """
        self._workspace = workspace
        self._client = client
        self._system = generated.system
        self._generated = generated
        self.texts = OpenChatTexts(generated, client.start)
        self.writer = ChatWriter(generated, self.texts, client)
        self.documents: dict[str, ChatDocument] = {}
        self._to_disk: set[str] = set()
        self._opening: dict[str, asyncio.Event] = {}
        self._disk = asyncio.Lock()
        self._write_seconds = 0.0

    def document(self, chat: str) -> ChatDocument:
        """Return the document of a conversation.

        Raises:
            OSError: If the folder of the document can't be created.
        """
        if chat not in self.documents:
            file = self._file_of(chat)
            self.documents[chat] = ChatDocument(
                chat, file, (self._generated.folder / file).as_uri()
            )
        return self.documents[chat]

    def chat_of(self, uri: str, chats: Iterable[str]) -> str | None:
        """Return the conversation whose document has this URI, or None. Known conversations and
        `chats` are searched.
        """
        known = {canonical(document.uri): chat for chat, document in self.documents.items()}
        if (chat := known.get(canonical(uri))) is not None:
            return chat
        if not self._generated.is_generated(uri) or not Path(uri).name.startswith("chat-"):
            return None
        candidates = (*chats, Path(uri).stem.split("-", 2)[-1])
        return next((chat for chat in candidates if Path(uri).name == self._file_of(chat)), None)

    def uri_of(self, chat: str) -> str:
        """Return the URI of the document of a conversation, which the user may never have used.

        Raises:
            OSError: If there is no folder for the documents.
        """
        document = self.documents.get(chat)
        return document.uri if document else (self._generated.folder / self._file_of(chat)).as_uri()

    def lines_in_editor(self, document: ChatDocument) -> tuple[str, ...] | None:
        """Return the current lines of a document in the editor, or None if the document is not open
        there.
        """
        buffer = self._generated.workspace.buffer(document.uri)
        return None if buffer is None else tuple(buffer.lines)

    async def read(self, document: ChatDocument, lines: Sequence[str] | None) -> ChatReading:
        """Read a document in a worker thread: `lines` from the editor, or the file if `lines` is
        None. If there is no file, return the reading of a new document.

        Raises:
            OSError: If the file exists and can't be read.
        """
        if lines is not None:
            return await asyncio.to_thread(lambda: ChatReading.of(ChatSections(lines)))
        async with self._disk:
            return (await asyncio.to_thread(self._read_document, document))[1]

    def write(self, document: ChatDocument) -> None:
        """Start to write the missing text: into the editor if it accepts edits, else into the
        file.
        """
        if self.texts.is_being_read(document.uri) or document.chat in self._opening:
            return  # this is called again after the reading or the opening
        if self.writer.can_write(document):
            self.writer.start(document, lambda: self._on_refused(document))
        elif document.uri not in self._to_disk:
            self._to_disk.add(document.uri)
            self._client.start(self._write_soon(document), f"keep {document.file}")

    def hold(self, document: ChatDocument) -> asyncio.Event:
        """Leave the file of a document as it is until `release`; return an event for that moment.

        Editors warn about files that change while they are opened.
        """
        return self._opening.setdefault(document.chat, asyncio.Event())

    def release(self, document: ChatDocument) -> None:
        """Let `write` write a document again."""
        if (opened := self._opening.pop(document.chat, None)) is not None:
            opened.set()

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
        if document.chat in self._opening:
            return  # `write` is called after the opening
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
