"""Write into a chat document that the editor has open while its user types in it.

Every edit is an insertion into the text of a certain version. The insertion has arrived when the
text that the editor sends contains it; if not, it is made again for the current text. If the editor
refuses all edits, the text is written to the file, and the user can reload the file.

`OpenChatTexts` holds the parts of the chat documents that the editor has open. A worker thread
parses a long document when it is opened; changes that arrive meanwhile are applied afterwards.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from lsprotocol import types as lsp

from stet.chat.chat_document import ChatDocument, ChatReading, PendingInsertion
from stet.chat.chat_layout import ChatSections
from stet.lsp import convert
from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.lsp.editor_client import Client
from stet.lsp.edits.edit_confirmation import shorten_timeout
from stet.lsp.edits.edit_sender import wire_version
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.edit import TextChange
from stet.workspace.uris import canonical

SHORT = 500
"""The most lines of a document that is parsed at once."""
SHORT_LINE = 10_000
"""The most characters of each line of such a document."""


class OpenChatTexts:
    """The parts of the chat documents that are open in the editor; used on the event loop only."""

    def __init__(
        self, generated: GeneratedDocuments, start: Callable[[Coroutine[Any, Any, None], str], None]
    ) -> None:
        """Start with no document; `start` starts a task."""
        self._workspace = generated.workspace
        self._start = start
        self._open: dict[str, ChatSections] = {}
        self._missed: dict[str, list[TextChange]] = {}
        """By URI, the changes of a document since the worker has begun to parse it."""

    def is_being_read(self, uri: str) -> bool:
        """Return whether a document is open, but not parsed yet."""
        return canonical(uri) in self._missed

    def sections(self, uri: str) -> ChatSections | None:
        """Return the current parts of a document, or None if it is not open or not parsed yet."""
        return self._open.get(canonical(uri))

    def opened(self, uri: str, then: Callable[[ChatReading], None]) -> None:
        """Parse a document that was opened, and call `then` with the reading; at once if the
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
        """Discard the parts of a document that was closed."""
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
            return  # the document was closed meanwhile, or opened again
        sections = self._open[key] = ChatSections(buffer.lines, reading.headings)
        sections.apply_changes(missed)
        del self._missed[key]
        then(reading)


log = logging.getLogger(__name__)

EVERY_SECONDS = 0.2
"""The pause between two edits: the editor does not redraw at every word of an answer."""
CONFIRM_SECONDS = 5.0
"""The time limit for the text after the editor has confirmed an edit; eglot waits half a second."""
MAX_TRIES = 3
"""The number of failures of an edit, in a text that does not change meanwhile, after which it is
given up.
"""


class ChatWriter:
    """The writer of the open chat documents, with one edit at a time for each document."""

    def __init__(self, generated: GeneratedDocuments, texts: OpenChatTexts, client: Client) -> None:
        """Create the writer; `texts` holds the documents that are open in the editor."""
        self._workspace = generated.workspace
        self._texts = texts
        self._client = client
        self._writing: set[str] = set()
        self._watches: dict[str, tuple[InsertionWatch, asyncio.Event]] = {}

    def can_write(self, document: ChatDocument) -> bool:
        """Return whether the editor has the document open and accepts edits."""
        is_open = self._workspace.buffer(document.uri) is not None
        return is_open and self._client.capabilities.apply_edit and not document.is_refused

    def document_changed(self, uri: str, changes: Sequence[TextChange]) -> None:
        """Look for a sent insertion in `changes`, the changes of a document from the editor."""
        if (watched := self._watches.get(canonical(uri))) is None:
            return
        watch, changed = watched
        if (buffer := self._workspace.buffer(uri)) is not None:
            watch.follow(changes, buffer.lines)
        changed.set()

    def start(self, document: ChatDocument, give_up: Callable[[], None]) -> None:
        """Start to write the missing text into a document, unless this is running.

        Args:
            document: The document.
            give_up: A function that is called if the editor refuses the edits.
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
        """Write until no text is missing or the document is closed; return False if the editor
        refuses.
        """
        failures = 0.0
        while (text := self._texts.sections(document.uri)) and (
            step := document.next_insertion(text)
        ):
            revision = self._workspace.revision(document.uri)
            if await self._insert(document.uri, text, step):
                step.done()
                failures = 0
            elif step.give_up is not None:
                step.give_up()
            else:
                outrun = self._workspace.revision(document.uri) not in (None, revision)
                failures += 0.25 if outrun else 1
                if failures >= MAX_TRIES:
                    return False
            await asyncio.sleep(EVERY_SECONDS)
        return True

    async def _insert(self, uri: str, text: ChatSections, step: PendingInsertion) -> bool:
        """Send an insertion to the editor; return whether the text contains it afterwards."""
        insertion, encoding = step.insertion, self._workspace.encoding
        at = convert.to_wire_position(insertion.range.start, text.lines, encoding)
        end = convert.to_wire_position(insertion.range.end, text.lines, encoding)
        edits = [lsp.TextEdit(lsp.Range(at, end), insertion.text)]
        version = wire_version(self._workspace.version(uri), self._client.capabilities.name)
        revision, key = self._workspace.revision(uri), canonical(uri)
        watch, changed = self._watches[key] = InsertionWatch(insertion.text), asyncio.Event()

        def has_come() -> bool:
            now = self._texts.sections(uri)
            return watch.has_come if step.has_come is None else bool(now and step.has_come(now))

        try:
            # Without a label: these edits are many, and none of them is a decision of the user.
            outcome = await self._client.apply_edit(None, uri, version, edits)
            if outcome.applied:
                with suppress(TimeoutError):
                    await self._wait_inserted(uri, revision, has_come, changed)
        finally:
            del self._watches[key]
        return has_come()

    async def _wait_inserted(
        self,
        uri: str,
        revision: int | None,
        has_come: Callable[[], bool],
        changed: asyncio.Event,
    ) -> None:
        """Wait until an insertion has arrived, or the document is closed.

        Args:
            uri: The URI of the document.
            revision: The revision of the document when the insertion was sent.
            has_come: A function that returns whether the insertion has arrived.
            changed: An event that is set with each text that arrives from the editor.

        Raises:
            TimeoutError: If the insertion does not arrive.
        """
        async with asyncio.timeout(CONFIRM_SECONDS) as limit:
            while not has_come() and (now := self._workspace.revision(uri)) is not None:
                if now != revision:
                    shorten_timeout(limit)
                changed.clear()
                await changed.wait()
