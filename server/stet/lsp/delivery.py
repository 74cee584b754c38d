"""Accepting, truly: an accepted hunk goes to the editor, and counts when its text comes back.

One `workspace/applyEdit` for each document, with the version its ranges belong to. What the editor
answers is a hint: some say yes to what they did not do, some do it late, some say no to what stands
there. So the text decides.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from lsprotocol import types as lsp

from stet.lsp import to_lsp
from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.client import ApplyOutcome, Client
from stet.review.anchors import ReadText
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import line_end
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

ARRIVAL_SECONDS = 5.0
"""How long after its yes an editor may take to send the text back; eglot waits half a second."""
OUTRUN_SECONDS = 1.0
"""The same once other text has arrived instead: Neovim says yes and drops the edit then."""
UNSEEN_SECONDS = 0.5
"""The same for a file that is not open: an editor that opens it to edit it does so at once."""


class Delivery:
    """Takes accepted hunks to the editor, one edit a document at a time."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        editor: Callable[[], ClientCapabilities] = ClientCapabilities,
    ) -> None:
        """`editor` tells which one it is, once it has said so."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._editor = editor
        self._locks: dict[str, asyncio.Lock] = {}
        self._moved: dict[str, asyncio.Event] = {}
        ledger.listen(self._note)

    async def deliver(self, uri: str, hunk_ids: Iterable[str]) -> None:
        """Have the editor apply hunks of one document; their states tell how it went."""
        async with self._locks.setdefault(canonical(uri), asyncio.Lock()):
            hunks = [self._ledger.hunk(hunk_id) for hunk_id in hunk_ids]
            waiting = [hunk for hunk in hunks if hunk.state is HunkState.PENDING]
            if not waiting:
                return
            if waiting[0].kind is HunkKind.CREATE:
                problem = await self._create(waiting[0])
            else:
                problem = await self._edit(uri, waiting)
        if problem:
            log.warning("accepting in %s: %s", uri, problem)
            self._client.show_message(f"Stet: not applied. {problem}", lsp.MessageType.Warning)

    async def _edit(self, uri: str, hunks: list[Hunk], *, again: bool = True) -> str:
        """Apply hunks of one existing document; gives what went wrong, or nothing."""
        document = await self._document(uri)
        if document is None:
            return "The file is gone, or may no longer be read."
        ids = tuple(
            hunk.id for hunk in hunks if self._ledger.hunk(hunk.id).state is HunkState.PENDING
        )
        if not ids:
            return "You have changed the text it was made for."
        edit = self._ledger.edit_of(document, ids)
        reason = await self._apply(document, ids, edit, f"Stet: {hunks[0].summary}")
        if not reason:
            return ""
        now = self._workspace.document(uri)
        if again and now is not None and now.version != document.version:
            # The text had moved on under the edit; the hunks have followed it, so send it anew.
            return await self._edit(uri, hunks, again=False)
        return reason

    async def _apply(
        self, document: TextDocument, ids: tuple[str, ...], edit: TextEdit, label: str
    ) -> str:
        """Have the editor change a document; gives what went wrong, or nothing."""
        wire = _before_the_last_line_end(edit, document)
        edits = to_lsp.text_edits(wire, document, self._workspace.encoding)
        version = document.version
        if version == 0 and self._editor().name == "neovim":
            # It doesn't check a version that is 0, its first; and from there it jumps beyond 1.
            version = 1
        self._ledger.send(document, ids, edit)
        outcome = await self._client.apply_edit(label, document.uri, version, edits)
        if await self._settled(document, outcome):
            return ""
        reason = outcome.reason or (
            "The editor said that it applied the edit, but its text does not show it."
        )
        self._ledger.unsend(document.uri, self._text_in(document), reason)
        return reason

    async def _create(self, hunk: Hunk) -> str:
        """Create a file; gives what went wrong, or nothing."""
        snapshot = self._workspace.snapshot()
        path, opened = path_of(hunk.uri), self._workspace.document(hunk.uri)
        found = await asyncio.to_thread(snapshot.system.stat, path) if path else None
        if found or (opened is not None and opened.text.strip()):
            self._ledger.reject(hunk.id, "the file exists by now")
            return f"{snapshot.name_of(hunk.uri)} exists by now; it is left as it is."
        label = f"Stet: {hunk.summary}"
        if opened is not None:
            # The editor shows the file that is to be; it takes the text and writes it on saving.
            fill = TextEdit((Replacement(0, len(opened.text), hunk.new),))
            return await self._apply(opened, (hunk.id,), fill, label)
        empty = TextDocument(hunk.uri, "")
        self._ledger.send(empty, (hunk.id,), TextEdit((Replacement(0, 0, hunk.new),)))
        outcome = await self._client.create_file(label, hunk.uri, hunk.new)
        if await self._settled(empty, outcome):
            return ""
        self._ledger.unsend(hunk.uri, self._text_in(empty), outcome.reason)
        return outcome.reason

    async def _document(self, uri: str) -> TextDocument | None:
        document = self._workspace.document(uri)
        if document is not None:
            return document
        try:
            document = await asyncio.to_thread(self._workspace.snapshot().show, uri)
        except NotShown as refused:
            log.warning("%s", refused)
            return None
        if document.version is None:
            self._ledger.reopened(uri, document.text, document.text_in)
            self._ledger.closed(uri, document.text)
        return document

    async def _settled(self, document: TextDocument, outcome: ApplyOutcome) -> bool:
        """Wait until the text shows the edit, as long as that can still happen."""
        uri = document.uri
        if not outcome.applied:
            return self._ledger.arrived(uri, self._text_in(document))
        unseen = document.version is None
        moved = self._moved.setdefault(canonical(uri), asyncio.Event())
        try:
            async with asyncio.timeout(UNSEEN_SECONDS if unseen else ARRIVAL_SECONDS) as limit:
                while not self._ledger.arrived(uri, self._text_in(document)):
                    self._hurry(limit, document)
                    moved.clear()
                    await moved.wait()
        except TimeoutError:
            if not unseen or self._workspace.document(uri) is not None:
                return False
            self._ledger.confirm_unseen(uri)
        return True

    def _hurry(self, limit: asyncio.Timeout, document: TextDocument) -> None:
        """Wait less long once the text has become another than the one that was sent for."""
        now, when = self._workspace.document(document.uri), limit.when()
        if when is not None and now is not None and now.version != document.version:
            limit.reschedule(min(when, asyncio.get_running_loop().time() + OUTRUN_SECONDS))

    def _text_in(self, document: TextDocument) -> ReadText:
        buffer = self._workspace.buffer(document.uri)
        return document.text_in if buffer is None else buffer.text_in

    def _note(self, uri: str) -> None:
        if event := self._moved.get(canonical(uri)):
            event.set()


def _before_the_last_line_end(edit: TextEdit, document: TextDocument) -> TextEdit:
    """`edit` with lines appended at the end written before the last line end; the result is the same.

    Neovim leaves an empty line behind lines that are inserted behind the last line end.
    """
    *others, last = edit.replacements
    end = line_end(document.lines[-2]) if document.lines[-1] == "" and document.text else ""
    n = len(document.text)
    if not end or last.start != n or not last.text.endswith(end):
        return edit
    if others and others[-1].end == n:
        replaced = others.pop()
        return TextEdit((*others, Replacement(replaced.start, n, replaced.text + last.text)))
    body = end + last.text.removesuffix(end)
    return TextEdit((*others, Replacement(n - len(end), n - len(end), body)))
