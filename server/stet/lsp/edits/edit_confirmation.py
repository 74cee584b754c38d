"""Waiting for the text that an editor sends back: it decides whether an edit was applied."""

import asyncio

from stet.lsp.editor_client import ApplyOutcome, Client
from stet.lsp.edits.misapplied_edits import find_misapplied
from stet.review.ledger import ReviewLedger
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

CONFIRM_SECONDS = 5.0
"""How long after its yes an editor may take to send the text back; eglot waits half a second."""
CONFIRM_AFTER_CHANGE_SECONDS = 1.0
"""The same once other text has arrived instead: Neovim says yes and drops the edit then."""
UNOPENED_SECONDS = 2.0
"""How long a file that is not open is looked for: in a document that is opened now, and on the disk."""
POLL_SECONDS = 0.1
"""How often the disk is looked at then: it tells nobody."""
OPENED_SECONDS = 2.0
"""How long an editor may take to open a file that it says it shows."""


class EditConfirmation:
    """Knows when the text of a document with hunks has become another."""

    def __init__(self, workspace: Workspace, ledger: ReviewLedger, client: Client) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._shows = True
        self._moved: dict[str, asyncio.Event] = {}
        ledger.subscribe(self._note)

    async def wait_confirmed(
        self, document: TextDocument, edit: TextEdit, outcome: ApplyOutcome
    ) -> bool:
        """Wait until the text shows all of the edit that was sent, as long as that can still happen.

        Args:
            document: What the edit was made for.
            edit: As it was sent.
            outcome: What the editor said to it.
        """
        unseen = document.version is None
        if not outcome.applied:
            # Some say no to what they did.
            if self.find_misapplied(document, edit) is not None:
                return False
            return self._is_applied(document) or (unseen and await self._is_on_disk(document))
        if unseen and not await self._show_and_wait(document):
            return self._is_applied(document)
        return await self._wait_in_document(document, edit)

    def is_open(self, uri: str) -> bool:
        """Whether the editor has shown us its text."""
        return self._workspace.document(uri) is not None

    async def wait_for_text(self, uri: str, text: str) -> bool:
        """Wait until a document is exactly this."""
        moved = self._moved.setdefault(canonical(uri), asyncio.Event())
        try:
            async with asyncio.timeout(CONFIRM_SECONDS):
                while (now := self._workspace.document(uri)) is not None and now.text != text:
                    moved.clear()
                    await moved.wait()
        except TimeoutError:
            return False
        return now is not None

    def find_misapplied(self, document: TextDocument, edit: TextEdit) -> TextDocument | None:
        """The text that the user had when the edit was applied to it in the wrong place, if it was."""
        changes = self._workspace.changes_since(document.uri, document.revision)
        if document.version is None or changes is None:
            return None
        return find_misapplied(document, edit, changes)

    async def _wait_in_document(self, document: TextDocument, edit: TextEdit) -> bool:
        """Wait for the text of an open document."""
        now = self._workspace.document(document.uri)
        version = document.version if document.version is not None or now is None else now.version
        moved = self._moved.setdefault(canonical(document.uri), asyncio.Event())
        try:
            async with asyncio.timeout(CONFIRM_SECONDS) as limit:
                while self.find_misapplied(document, edit) is None:
                    if self._is_applied(document):
                        return True
                    self._shorten_timeout(limit, document.uri, version)
                    moved.clear()
                    await moved.wait()
        except TimeoutError:
            pass
        return False

    async def _show_and_wait(self, document: TextDocument) -> bool:
        """Have the text of a file shown to us that was not open when its edit was sent.

        Most editors open it to edit it, as far as they have Stet serve such files; some edit it on the
        disk. Else the edit may stand in a buffer that we are not told of: so the editor is asked to
        show the file, which changes nothing. One that does not open it then has no reason to do so
        for the next file.
        """
        uri = document.uri
        if await self._wait_opened(document, UNOPENED_SECONDS) or self._is_applied(document):
            return self.is_open(uri)
        if not self._shows or await self._disk_text(uri) not in {None, document.text}:
            return False
        if not await self._client.show_document(uri, take_focus=False):
            return False
        self._shows = await self._wait_opened(document, OPENED_SECONDS)
        return self._shows

    async def _wait_opened(self, document: TextDocument, seconds: float) -> bool:
        """Wait until a file is open, or the edit stands on the disk."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not self.is_open(document.uri) and loop.time() < end:
            if await self._is_on_disk(document):
                break
            await asyncio.sleep(POLL_SECONDS)
        return self.is_open(document.uri)

    def _is_applied(self, document: TextDocument) -> bool:
        return self._ledger.outbox.arrived(document.uri)

    def _shorten_timeout(self, limit: asyncio.Timeout, uri: str, version: int | None) -> None:
        """Wait less long once the text has become another than it was at `version`."""
        now, when = self._workspace.document(uri), limit.when()
        if when is not None and now is not None and now.version != version:
            limit.reschedule(
                min(when, asyncio.get_running_loop().time() + CONFIRM_AFTER_CHANGE_SECONDS)
            )

    async def _is_on_disk(self, document: TextDocument) -> bool:
        text = await self._disk_text(document.uri)
        return text is not None and self._accept_disk_text(document.uri, text)

    def _accept_disk_text(self, uri: str, text: str) -> bool:
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
