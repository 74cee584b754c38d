"""Writes into a chat document that the editor has open, while its user types in it.

Every edit is an insertion into the text of a certain version. It has arrived when the text that
comes back shows it; where it does not, it is made anew for the text of then. What an editor never
takes is written to the file instead, from where the user can load it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from stet.lsp import to_lsp
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.chat.layout import Insertion
from stet.lsp.chat.page import Page
from stet.lsp.client import ApplyOutcome, Client
from stet.lsp.delivering.edit_sender import wire_version
from stet.lsp.showing.own_documents import OwnDocuments
from stet.text.change import TextChange
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
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
        own: OwnDocuments,
        client: Client,
        editor: Callable[[], ClientCapabilities],
        encoding: Callable[[], Encoding],
    ) -> None:
        """`editor` and `encoding` tell what was settled with the editor, once it is."""
        self._own = own
        self._client = client
        self._editor = editor
        self._encoding = encoding
        self._at_work: set[str] = set()
        self._moved: dict[str, asyncio.Event] = {}

    def can_write(self, page: Page) -> bool:
        """Whether the editor has the document open and takes edits."""
        is_open = self._own.document(page.uri) is not None
        return is_open and self._editor().apply_edit and not page.is_refused

    def moved(self, uri: str) -> None:
        """The text of a document has come from the editor."""
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
        while (document := self._own.document(page.uri)) and (step := page.step(document.text)):
            if await self._insert(document, step.insertion):
                step.done()
                failures = 0
            else:
                now = self._own.document(page.uri)
                outrun = now is not None and now.revision != document.revision
                failures += 1 if not outrun else 0.25
                if failures >= TRIES:
                    return False
            await asyncio.sleep(EVERY_SECONDS)
        return True

    async def _insert(self, document: TextDocument, insertion: Insertion) -> bool:
        """Have the editor insert something; whether the text shows it afterwards."""
        edit = TextEdit((Replacement(insertion.at, insertion.at, insertion.text),))
        edits = to_lsp.text_edits(edit, document, self._encoding())
        version = wire_version(document, self._editor().name)
        event = self._moved.setdefault(canonical(document.uri), asyncio.Event())
        event.clear()
        # Without a label: the user decides nothing by it, and there are many.
        outcome = await self._client.apply_edit(None, document.uri, version, edits)
        return await self._arrives(document, insertion, outcome, event)

    async def _arrives(
        self,
        document: TextDocument,
        insertion: Insertion,
        outcome: ApplyOutcome,
        event: asyncio.Event,
    ) -> bool:
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS) as limit:
                while not self._has_come(document, insertion):
                    now = self._own.document(document.uri)
                    if now is None or not outcome.applied:
                        return False  # it was closed, or refused
                    when = limit.when()
                    if now.revision != document.revision and when is not None:
                        soon = asyncio.get_running_loop().time() + OUTRUN_SECONDS
                        limit.reschedule(min(when, soon))
                    event.clear()
                    await event.wait()
        except TimeoutError:
            return False
        return True

    def _has_come(self, document: TextDocument, insertion: Insertion) -> bool:
        now = self._own.document(document.uri)
        if now is None or now.revision == document.revision:
            return False
        changes = self._own.changes_since(document.uri, document.revision)
        return has_come(document, insertion, changes, now.text)


def has_come(
    document: TextDocument,
    insertion: Insertion,
    changes: Sequence[TextChange] | None,
    now: str,
) -> bool:
    """Whether an insertion is among what has happened to a text.

    Args:
        document: The text it was made for.
        insertion: What was to go in.
        changes: What has happened since, in order; None where that is not known.
        now: The text as it is.
    """
    if now == insertion.apply(document.text):
        return True
    texts = [document.text]
    if changes is not None:
        played = accumulate(changes, _after, initial=document)
        texts = [each.text for each in played]
    new = insertion.text
    if any(_is_inserted(new, a, b) for a, b in pairwise(texts)):
        return True
    # An editor that sends whole texts may have sent it together with what was typed.
    return now.count(new) > document.text.count(new)


def _after(document: TextDocument, change: TextChange) -> TextDocument:
    start, end = document.offset_at(change.range.start), document.offset_at(change.range.end)
    text = document.text[:start] + change.text + document.text[end:]
    return TextDocument(document.uri, text)


def _is_inserted(new: str, before: str, after: str) -> bool:
    """Whether `after` is `before` with `new` in it, wherever."""
    if len(after) != len(before) + len(new):
        return False
    at = after.find(new)
    while at >= 0:
        if after[:at] == before[:at] and after[at + len(new) :] == before[at:]:
            return True
        at = after.find(new, at + 1)
    return False
