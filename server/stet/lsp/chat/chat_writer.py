"""Write into a chat document that the editor has open while its user types in it.

Every edit is an insertion into the text of a certain version. The insertion has arrived when the text
that comes back shows it; if not, it is made again for the current text. What an editor never takes is
written to the file instead, from where the user can load it.

`OpenChatTexts` holds the chat documents that the editor has open, by their parts. A worker thread reads a
long one when it is opened; what is typed meanwhile is followed afterwards.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from lsprotocol import types as lsp

from stet.chat.chat_document import ChatDocument, ChatReading
from stet.chat.chat_layout import ChatSections, Insertion
from stet.lsp import convert
from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.lsp.editor_client import Client
from stet.lsp.edits.edit_confirmation import shorten_timeout
from stet.lsp.edits.edit_sender import wire_version
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.edit import TextChange
from stet.workspace.uris import canonical

SHORT = 500
"""Lines of a document that is read at once."""
SHORT_LINE = 10_000
"""Characters of each of them."""


class OpenChatTexts:
    """Touched on the event loop only."""

    def __init__(
        self, generated: GeneratedDocuments, start: Callable[[Coroutine[Any, Any, None], str], None]
    ) -> None:
        """`start` begins a task."""
        self._workspace = generated.workspace
        self._start = start
        self._open: dict[str, ChatSections] = {}
        self._missed: dict[str, list[TextChange]] = {}
        """How the documents that are being read have changed since that began."""

    def is_being_read(self, uri: str) -> bool:
        """Return whether a document is open whose parts are not known yet."""
        return canonical(uri) in self._missed

    def sections(self, uri: str) -> ChatSections | None:
        """Return the parts of a document as it is now, or None if it is not open or not read yet."""
        return self._open.get(canonical(uri))

    def opened(self, uri: str, then: Callable[[ChatReading], None]) -> None:
        """Handle a document that was opened. `then` is called with the reading, at once if the
        document is short.
        """
        buffer = self._workspace.buffer(uri)
        if buffer is None:
            return
        self.closed(uri)
        lines = buffer.lines
        if len(lines) <= SHORT and all(len(line) <= SHORT_LINE for line in lines):
            sections = self._open[canonical(uri)] = ChatSections(lines)
            then(ChatReading.of(sections))
        else:
            missed = self._missed[canonical(uri)] = []
            self._start(self._read(uri, tuple(lines), missed, then), f"read {uri}")

    def changed(self, uri: str, changes: Sequence[TextChange]) -> None:
        """Update the parts of a document after its text has changed."""
        if (missed := self._missed.get(canonical(uri))) is not None:
            missed += changes
        elif (sections := self._open.get(canonical(uri))) is not None:
            sections.apply_changes(changes)

    def closed(self, uri: str) -> None:
        """Handle a document that was closed."""
        self._open.pop(canonical(uri), None)
        self._missed.pop(canonical(uri), None)

    async def _read(
        self,
        uri: str,
        lines: Sequence[str],
        missed: list[TextChange],
        then: Callable[[ChatReading], None],
    ) -> None:
        reading = await asyncio.to_thread(lambda: ChatReading.of(ChatSections(lines)))
        buffer, key = self._workspace.buffer(uri), canonical(uri)
        if buffer is None or self._missed.get(key) is not missed:
            return  # it was closed meanwhile, or opened once more
        sections = self._open[key] = ChatSections(buffer.lines, reading.headings)
        sections.apply_changes(missed)
        del self._missed[key]
        then(reading)


log = logging.getLogger(__name__)

EVERY_SECONDS = 0.2
"""Between two edits: an answer that comes word by word is no reason to redraw at each."""
CONFIRM_SECONDS = 5.0
"""How long after its yes an editor may take to send the text back; eglot waits half a second."""
MAX_TRIES = 3
"""How often an edit may fail in a text that does not change meanwhile."""


class ChatWriter:
    """Writes pages, one edit at a time each."""

    def __init__(self, generated: GeneratedDocuments, texts: OpenChatTexts, client: Client) -> None:
        """Create the writer; `texts` are the documents open in the editor."""
        self._workspace = generated.workspace
        self._texts = texts
        self._client = client
        self._writing: set[str] = set()
        self._watches: dict[str, tuple[InsertionWatch, asyncio.Event]] = {}

    def can_write(self, document: ChatDocument) -> bool:
        """Return whether the editor has the document open and takes edits."""
        is_open = self._workspace.buffer(document.uri) is not None
        return is_open and self._client.capabilities.apply_edit and not document.is_refused

    def document_changed(self, uri: str, changes: Sequence[TextChange]) -> None:
        """Handle text of a document that came from the editor. `changes` are the changes of the
        text.
        """
        if (watched := self._watches.get(canonical(uri))) is None:
            return
        watch, changed = watched
        if (buffer := self._workspace.buffer(uri)) is not None:
            watch.follow(changes, buffer.lines)
        changed.set()

    def start(self, document: ChatDocument, give_up: Callable[[], None]) -> None:
        """Write what there is to write, unless that is under way.

        Args:
            document: Where.
            give_up: Called when the editor does not take it.
        """
        if document.uri not in self._writing:
            self._writing.add(document.uri)
            self._client.start(self._write(document, give_up), f"write {document.file}")

    async def _write(self, document: ChatDocument, give_up: Callable[[], None]) -> None:
        try:
            if not await self._write_all(document):
                give_up()
        finally:
            self._writing.discard(document.uri)

    async def _write_all(self, document: ChatDocument) -> bool:
        """Write until nothing is left or the document is closed; False if the editor refuses."""
        failures = 0.0
        while (text := self._texts.sections(document.uri)) and (
            step := document.next_insertion(text)
        ):
            revision = self._workspace.revision(document.uri)
            if await self._insert(document.uri, text, step.insertion):
                step.done()
                failures = 0
            else:
                outrun = self._workspace.revision(document.uri) not in (None, revision)
                failures += 0.25 if outrun else 1
                if failures >= MAX_TRIES:
                    return False
            await asyncio.sleep(EVERY_SECONDS)
        return True

    async def _insert(self, uri: str, text: ChatSections, insertion: Insertion) -> bool:
        """Have the editor insert something; whether the text shows it afterwards."""
        at = convert.to_wire_position(insertion.at, text.lines, self._workspace.encoding)
        edits = [lsp.TextEdit(lsp.Range(at, at), insertion.text)]
        version = wire_version(self._workspace.version(uri), self._client.capabilities.name)
        revision, key = self._workspace.revision(uri), canonical(uri)
        watch, changed = self._watches[key] = InsertionWatch(insertion.text), asyncio.Event()
        try:
            # Without a label: the user decides nothing by it, and there are many.
            outcome = await self._client.apply_edit(None, uri, version, edits)
            if outcome.applied:
                with suppress(TimeoutError):
                    await self._wait_inserted(uri, revision, watch, changed)
        finally:
            del self._watches[key]
        return watch.has_come

    async def _wait_inserted(
        self, uri: str, revision: int | None, watch: InsertionWatch, changed: asyncio.Event
    ) -> None:
        """Wait until an insertion has arrived, or the document is closed.

        Args:
            uri: The document.
            revision: The revision of its text when the insertion was sent.
            watch: Reports whether the insertion has arrived.
            changed: Set with each text that arrives from the editor.

        Raises:
            TimeoutError: If the insertion does not arrive.
        """
        async with asyncio.timeout(CONFIRM_SECONDS) as limit:
            while not watch.has_come and (now := self._workspace.revision(uri)) is not None:
                if now != revision:
                    shorten_timeout(limit)
                changed.clear()
                await changed.wait()
