"""The chat documents as files: what they are called, how one is read, and how it is written.

One that the editor has open is written there; else its file is, in a worker and one at a time.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from stet.chat.chat_document import ChatDocument, ChatReading
from stet.chat.chat_layout import ChatSections, new_document
from stet.lsp.chat.chat_writer import ChatWriter
from stet.lsp.chat.open_chat_texts import OpenChatTexts
from stet.lsp.editor_client import Client
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.system.system import System
from stet.workspace.disk_text import decode
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

DISK_SECONDS = 0.3
"""How long words that stream in are gathered before the file is written."""
PAUSES = 10
"""How many times as long as the last writing took they are gathered: a long file is written as a whole."""
MAX_BYTES = 20_000_000
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")


class ChatFiles:
    """The pages of one server's conversations. Touched on the event loop only."""

    def __init__(  # noqa: PLR0913 - the editor, the disk, and who knows of both
        self,
        client: Client,
        system: System,
        generated: GeneratedDocuments,
        *,
        texts: OpenChatTexts,
        writer: ChatWriter,
        folders: Callable[[], Iterable[str]],
    ) -> None:
        """`texts` are those that the editor has open; `folders` gives the URIs of the workspace: other
        servers write in the same folder.
        """
        self._client = client
        self._system = system
        self._generated = generated
        self._texts = texts
        self._writer = writer
        self._folders = folders
        self._pages: dict[str, ChatDocument] = {}
        self._to_disk: set[str] = set()
        self._disk = asyncio.Lock()
        self._took_seconds = 0.0

    def page(self, chat: str) -> ChatDocument:
        """Return a conversation's page.

        Raises:
            OSError: If there is no folder for it.
        """
        if chat not in self._pages:
            file = self._file_of(chat)
            self._pages[chat] = ChatDocument(chat, file, (self._generated.folder / file).as_uri())
        return self._pages[chat]

    def existing_page(self, chat: str) -> ChatDocument | None:
        """Return a conversation's page, or None if the user has not used the page."""
        return self._pages.get(chat)

    def chat_of(self, uri: str, chats: Iterable[str]) -> str | None:
        """Return the conversation whose document `uri` names, among the known ones and `chats`, or
        None.
        """
        known = {canonical(page.uri): chat for chat, page in self._pages.items()}
        if (chat := known.get(canonical(uri))) is not None:
            return chat
        if not self._generated.is_generated(uri) or not Path(uri).name.startswith("chat-"):
            return None
        name = Path(uri).stem.split("-", 2)[-1]
        return next(
            (
                candidate
                for candidate in (*chats, name)
                if Path(uri).name == self._file_of(candidate)
            ),
            None,
        )

    def lines_in_editor(self, document: ChatDocument) -> tuple[str, ...] | None:
        """Return the current lines of a document in the editor, or None if the document is not open
        there.
        """
        buffer = self._generated.buffer(document.uri)
        return None if buffer is None else tuple(buffer.lines)

    async def read(self, document: ChatDocument, lines: Sequence[str] | None) -> ChatReading:
        """Read its text in a worker: what the editor shows, or else the file; of one that is not there,
        what a new one holds.

        Raises:
            OSError: If it is there and can't be read.
        """
        if lines is not None:
            return await asyncio.to_thread(lambda: ChatReading.of(ChatSections(lines)))
        async with self._disk:
            return (await asyncio.to_thread(self._read_document, document))[1]

    def write(self, document: ChatDocument) -> None:
        """Write what there is to write, into the editor if it takes it, else into the file."""
        if self._texts.is_being_read(document.uri):
            return  # it is written to once that is done
        if self._writer.can_write(document):
            self._writer.start(document, lambda: self._on_refused(document))
        elif document.uri not in self._to_disk:
            self._to_disk.add(document.uri)
            self._client.start(self._write_soon(document), f"keep {document.file}")

    async def write_file(
        self, document: ChatDocument, note: Callable[[ChatReading], object] | None = None
    ) -> None:
        """Write the file with all that is missing in it.

        Args:
            document: Whose.
            note: Called with what stands there, before it is filled.

        Raises:
            OSError: If it can't be read or written.
        """
        async with self._disk:
            began = self._system.monotonic()
            lines = self.lines_in_editor(document)
            stands, reading = await asyncio.to_thread(self._read_document, document, lines)
            if note is not None:
                note(reading)
            scratch = document.frozen()
            reading = await asyncio.to_thread(self._write_file, scratch, stands)
            self._took_seconds = self._system.monotonic() - began
        if self._generated.buffer(document.uri) is None:
            document.adopt(reading, scratch.written())

    def _read_document(
        self, document: ChatDocument, lines: Sequence[str] | None = None
    ) -> tuple[str | None, ChatReading]:
        """Return the text of a document from the editor or the disk, or None, and its reading.
        Without a text the reading is that of a new document. Blocks on the disk.
        """
        text = self._read(document) if lines is None else "".join(lines)
        return text, ChatReading.of(
            ChatSections.of(new_document(document.chat) if text is None else text)
        )

    def _write_file(self, document: ChatDocument, current_text: str | None) -> ChatReading:
        """Write a file with all that is missing in it, and return what it holds. Block on the disk.

        `document` is a copy, which knows afterwards what has been written.
        """
        new = document.fill(new_document(document.chat) if current_text is None else current_text)
        if new != current_text:
            _ = self._system.write_generated(document.file, new)
        return ChatReading.of(ChatSections.of(new))

    async def _write_soon(self, document: ChatDocument) -> None:
        await asyncio.sleep(max(DISK_SECONDS, PAUSES * self._took_seconds))
        self._to_disk.discard(document.uri)
        try:
            await self.write_file(document)
        except OSError as error:
            log.warning("%s can't be written: %s", document.file, error)

    def _on_refused(self, document: ChatDocument) -> None:
        log.info("%s: the editor takes no edits; the file is written", document.uri)
        document.is_refused = True
        self.write(document)

    def _read(self, document: ChatDocument) -> str | None:
        """Return the text of a document's file, or None if there is no file. Blocks on the disk."""
        path = self._generated.folder / document.file
        if self._system.stat(path) is None:
            return None
        return decode(self._system.read_bytes(path, MAX_BYTES))

    def _file_of(self, chat: str) -> str:
        """Return the file name of a chat's document."""
        roots = "\n".join(canonical(uri) for uri in self._folders())
        name = chat if _PLAIN_NAME.fullmatch(chat) else f"x{_digest(chat)}"
        return f"chat-{_digest(roots)}-{name}.md"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
