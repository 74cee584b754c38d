"""Waiting for the text that an editor sends back: it decides whether an edit was applied."""

import asyncio

from stet.lsp.client import ApplyOutcome
from stet.lsp.delivering.misplaced import misplaced
from stet.review.ledger import ReviewLedger
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

ARRIVAL_SECONDS = 5.0
"""How long after its yes an editor may take to send the text back; eglot waits half a second."""
OUTRUN_SECONDS = 1.0
"""The same once other text has arrived instead: Neovim says yes and drops the edit then."""
UNSEEN_SECONDS = 0.5
"""The same for a file that is not open: an editor that opens it to edit it does so at once."""


class Arrivals:
    """Knows when the text of a document with hunks has become another."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._moved: dict[str, asyncio.Event] = {}
        ledger.listen(self._note)

    async def settled(self, document: TextDocument, edit: TextEdit, outcome: ApplyOutcome) -> bool:
        """Wait until the text shows all of the edit that was sent, as long as that can still happen.

        Args:
            document: What the edit was made for.
            edit: As it was sent.
            outcome: What the editor said to it.
        """
        uri, outbox = document.uri, self._ledger.outbox
        unseen = document.version is None
        if not outcome.applied:
            # Some say no to what they did.
            if self.misplaced(document, edit) is not None:
                return False
            return outbox.arrived(uri) or (unseen and await self._stands_on_disk(document))
        moved = self._moved.setdefault(canonical(uri), asyncio.Event())
        try:
            async with asyncio.timeout(UNSEEN_SECONDS if unseen else ARRIVAL_SECONDS) as limit:
                while self.misplaced(document, edit) is None:
                    if outbox.arrived(uri):
                        return True
                    self._hurry(limit, document)
                    moved.clear()
                    await moved.wait()
        except TimeoutError:
            if unseen and self._workspace.document(uri) is None:
                return await self._is_believed(document)
        return False

    async def becomes(self, uri: str, text: str) -> bool:
        """Wait until a document is exactly this."""
        moved = self._moved.setdefault(canonical(uri), asyncio.Event())
        try:
            async with asyncio.timeout(ARRIVAL_SECONDS):
                while (now := self._workspace.document(uri)) is not None and now.text != text:
                    moved.clear()
                    await moved.wait()
        except TimeoutError:
            return False
        return now is not None

    def misplaced(self, document: TextDocument, edit: TextEdit) -> TextDocument | None:
        """The text that the user had when the edit was applied to it in the wrong place, if it was."""
        changes = self._workspace.changes_since(document.uri, document.revision)
        if document.version is None or changes is None:
            return None
        return misplaced(document, edit, changes)

    def _hurry(self, limit: asyncio.Timeout, document: TextDocument) -> None:
        """Wait less long once the text has become another than the one that was sent for."""
        now, when = self._workspace.document(document.uri), limit.when()
        if when is not None and now is not None and now.version != document.version:
            limit.reschedule(min(when, asyncio.get_running_loop().time() + OUTRUN_SECONDS))

    async def _is_believed(self, document: TextDocument) -> bool:
        """An editor said yes to a file that it has not shown us: what the disk says to that."""
        text = await self._disk_text(document.uri)
        if text is None or text == document.text:
            # It keeps the file in a buffer of its own, not saved: its word is all there is.
            self._ledger.outbox.confirm_unseen(document.uri)
            return True
        return self._take_from_disk(document.uri, text)

    async def _stands_on_disk(self, document: TextDocument) -> bool:
        text = await self._disk_text(document.uri)
        return text is not None and self._take_from_disk(document.uri, text)

    def _take_from_disk(self, uri: str, text: str) -> bool:
        """The editor wrote the file itself: that is the text that came back."""
        self._ledger.on_disk(uri, text)
        return self._ledger.outbox.arrived(uri)

    async def _disk_text(self, uri: str) -> str | None:
        path = path_of(uri)
        if path is None:
            return None
        system = self._workspace.snapshot().system
        try:
            return decode(await asyncio.to_thread(system.read_bytes, path, MAX_FILE_BYTES))
        except OSError:
            return None

    def _note(self, uri: str) -> None:
        if event := self._moved.get(canonical(uri)):
            event.set()
