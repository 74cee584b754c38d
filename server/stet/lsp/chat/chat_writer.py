"""Writes into a chat document that the editor has open, while its user types in it.

Every edit is an insertion into the text of a certain version. It has arrived when the text that
comes back shows it; where it does not, it is made anew for the text of then. What an editor never
takes is written to the file instead, from where the user can load it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from lsprotocol import types as lsp

from stet.chat.chat_document import ChatDocument
from stet.chat.chat_layout import ChatSections, Insertion
from stet.lsp import to_lsp
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.lsp.chat.open_chat_texts import OpenChatTexts
from stet.lsp.editor_client import ApplyOutcome, Client
from stet.lsp.edits.edit_sender import wire_version
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.change import TextChange
from stet.text.encoding import Encoding
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

EVERY_SECONDS = 0.2
"""Between two edits: an answer that comes word by word is no reason to redraw at each."""
CONFIRM_SECONDS = 5.0
"""How long after its yes an editor may take to send the text back; eglot waits half a second."""
CONFIRM_AFTER_CHANGE_SECONDS = 1.0
"""The same once other text has arrived instead: Neovim says yes and drops the edit then."""
MAX_TRIES = 3
"""How often an edit may come to nothing in a text that nobody changes meanwhile."""


class ChatWriter:
    """Writes pages, one edit at a time each."""

    def __init__(
        self,
        generated: GeneratedDocuments,
        texts: OpenChatTexts,
        client: Client,
        editor: Callable[[], ClientCapabilities],
        encoding: Callable[[], Encoding],
    ) -> None:
        """`texts` are those that the editor has open; `editor` and `encoding` tell what was settled with
        the editor, once it is.
        """
        self._generated = generated
        self._texts = texts
        self._client = client
        self._editor = editor
        self._encoding = encoding
        self._writing: set[str] = set()
        self._moved: dict[str, asyncio.Event] = {}
        self._watches: dict[str, InsertionWatch] = {}

    def can_write(self, document: ChatDocument) -> bool:
        """Whether the editor has the document open and takes edits."""
        is_open = self._generated.buffer(document.uri) is not None
        return is_open and self._editor().apply_edit and not document.is_refused

    def document_changed(self, uri: str, changes: Sequence[TextChange]) -> None:
        """Handle text of a document that came from the editor. `changes` are the changes of the
        text.
        """
        watch, buffer = self._watches.get(canonical(uri)), self._generated.buffer(uri)
        if watch is not None and buffer is not None:
            watch.follow(changes, buffer.lines)
        if event := self._moved.get(canonical(uri)):
            event.set()

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
            revision = self._generated.world.revision(document.uri)
            if await self._insert(document.uri, text, step.insertion):
                step.done()
                failures = 0
            else:
                now = self._generated.world.revision(document.uri)
                outrun = now is not None and now != revision
                failures += 1 if not outrun else 0.25
                if failures >= MAX_TRIES:
                    return False
            await asyncio.sleep(EVERY_SECONDS)
        return True

    async def _insert(self, uri: str, text: ChatSections, insertion: Insertion) -> bool:
        """Have the editor insert something; whether the text shows it afterwards."""
        at = to_lsp.to_wire_position(insertion.at, text.lines, self._encoding())
        edits = [lsp.TextEdit(lsp.Range(at, at), insertion.text)]
        version = wire_version(self._generated.world.version(uri), self._editor().name)
        revision, key = self._generated.world.revision(uri), canonical(uri)
        event = self._moved.setdefault(key, asyncio.Event())
        event.clear()
        watch = self._watches[key] = InsertionWatch(insertion.text)
        try:
            # Without a label: the user decides nothing by it, and there are many.
            outcome = await self._client.apply_edit(None, uri, version, edits)
            await self._wait_inserted(uri, revision, watch, outcome, event)
        finally:
            del self._watches[key]
        return watch.has_come

    async def _wait_inserted(
        self,
        uri: str,
        revision: int | None,
        watch: InsertionWatch,
        outcome: ApplyOutcome,
        event: asyncio.Event,
    ) -> None:
        """Wait until an insertion has come, or can't come any more.

        Args:
            uri: The document.
            revision: Of its text when the insertion was sent.
            watch: Tells whether it has come.
            outcome: What the editor has said of it.
            event: Set with each text that comes from the editor.
        """
        try:
            async with asyncio.timeout(CONFIRM_SECONDS) as limit:
                while not watch.has_come:
                    now = self._generated.world.revision(uri)
                    if now is None or not outcome.applied:
                        return  # it was closed, or refused
                    when = limit.when()
                    if now != revision and when is not None:
                        soon = asyncio.get_running_loop().time() + CONFIRM_AFTER_CHANGE_SECONDS
                        limit.reschedule(min(when, soon))
                    event.clear()
                    await event.wait()
        except TimeoutError:
            return
