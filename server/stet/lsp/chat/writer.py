"""Writes into a chat document that the editor has open, while its user types in it.

Every edit is an insertion into the text of a certain version. It has arrived when the text that
comes back shows it; where it does not, it is made anew for the text of then. What an editor never
takes is written to the file instead, from where the user can load it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from lsprotocol import types as lsp

from stet.lsp import to_lsp
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.lsp.chat.layout import Insertion
from stet.lsp.chat.open_texts import OpenTexts
from stet.lsp.chat.page import Page
from stet.lsp.chat.sections import Sections
from stet.lsp.client import ApplyOutcome, Client
from stet.lsp.edits.edit_sender import wire_version
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.change import TextChange
from stet.text.encoding import Encoding
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

EVERY_SECONDS = 0.2
"""Between two edits: an answer that comes word by word is no reason to redraw at each."""
ARRIVAL_SECONDS = 5.0
"""How long after its yes an editor may take to send the text back; eglot waits half a second."""
OUTRUN_SECONDS = 1.0
"""The same once other text has arrived instead: Neovim says yes and drops the edit then."""
TRIES = 3
"""How often an edit may come to nothing in a text that nobody changes meanwhile."""


class PageWriter:
    """Writes pages, one edit at a time each."""

    def __init__(
        self,
        own: GeneratedDocuments,
        texts: OpenTexts,
        client: Client,
        editor: Callable[[], ClientCapabilities],
        encoding: Callable[[], Encoding],
    ) -> None:
        """`texts` are those that the editor has open; `editor` and `encoding` tell what was settled with
        the editor, once it is.
        """
        self._own = own
        self._texts = texts
        self._client = client
        self._editor = editor
        self._encoding = encoding
        self._at_work: set[str] = set()
        self._moved: dict[str, asyncio.Event] = {}
        self._watches: dict[str, InsertionWatch] = {}

    def can_write(self, page: Page) -> bool:
        """Whether the editor has the document open and takes edits."""
        is_open = self._own.buffer(page.uri) is not None
        return is_open and self._editor().apply_edit and not page.is_refused

    def moved(self, uri: str, changes: Sequence[TextChange]) -> None:
        """The text of a document has come from the editor; `changes` is what became of it."""
        watch, buffer = self._watches.get(canonical(uri)), self._own.buffer(uri)
        if watch is not None and buffer is not None:
            watch.follow(changes, buffer.lines)
        if event := self._moved.get(canonical(uri)):
            event.set()

    def start(self, page: Page, give_up: Callable[[], None]) -> None:
        """Write what there is to write, unless that is under way.

        Args:
            page: Where.
            give_up: Called when the editor does not take it.
        """
        if page.uri not in self._at_work:
            self._at_work.add(page.uri)
            self._client.start(self._write(page, give_up), f"write {page.file}")

    async def _write(self, page: Page, give_up: Callable[[], None]) -> None:
        try:
            if not await self._write_all(page):
                give_up()
        finally:
            self._at_work.discard(page.uri)

    async def _write_all(self, page: Page) -> bool:
        """Write until nothing is left or the document is closed; False if the editor refuses."""
        failures = 0.0
        while (text := self._texts.sections(page.uri)) and (step := page.step(text)):
            revision = self._own.world.revision(page.uri)
            if await self._insert(page.uri, text, step.insertion):
                step.done()
                failures = 0
            else:
                now = self._own.world.revision(page.uri)
                outrun = now is not None and now != revision
                failures += 1 if not outrun else 0.25
                if failures >= TRIES:
                    return False
            await asyncio.sleep(EVERY_SECONDS)
        return True

    async def _insert(self, uri: str, text: Sections, insertion: Insertion) -> bool:
        """Have the editor insert something; whether the text shows it afterwards."""
        at = to_lsp.position(insertion.at, text.lines, self._encoding())
        edits = [lsp.TextEdit(lsp.Range(at, at), insertion.text)]
        version = wire_version(self._own.world.version(uri), self._editor().name)
        revision, key = self._own.world.revision(uri), canonical(uri)
        event = self._moved.setdefault(key, asyncio.Event())
        event.clear()
        watch = self._watches[key] = InsertionWatch(insertion.text)
        try:
            # Without a label: the user decides nothing by it, and there are many.
            outcome = await self._client.apply_edit(None, uri, version, edits)
            await self._arrives(uri, revision, watch, outcome, event)
        finally:
            del self._watches[key]
        return watch.has_come

    async def _arrives(
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
            async with asyncio.timeout(ARRIVAL_SECONDS) as limit:
                while not watch.has_come:
                    now = self._own.world.revision(uri)
                    if now is None or not outcome.applied:
                        return  # it was closed, or refused
                    when = limit.when()
                    if now != revision and when is not None:
                        soon = asyncio.get_running_loop().time() + OUTRUN_SECONDS
                        limit.reschedule(min(when, soon))
                    event.clear()
                    await event.wait()
        except TimeoutError:
            return
