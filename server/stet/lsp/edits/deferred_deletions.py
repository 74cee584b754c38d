"""Files that are to be deleted, by us as the editor can't, while they are open there: kept until closed."""

import asyncio
from collections.abc import Awaitable, Callable

from stet.lsp.editor_client import Client
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkState
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

CLOSED_SECONDS = 0.5
"""How long a file stays closed before it is deleted: some editors close and open it to read it anew."""

ApplyHunk = Callable[[Hunk], Awaitable[None]]


class DeferredDeletions:
    """Hunks that wait until their file is closed. Touched on the event loop only."""

    def __init__(
        self, workspace: Workspace, ledger: ReviewLedger, client: Client, apply_hunk: ApplyHunk
    ) -> None:
        """`apply_hunk` carries out a hunk whose file is closed, or takes back one that is accepted."""
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._apply_hunk = apply_hunk
        self._waiting: dict[str, str] = {}

    def add(self, hunk: Hunk) -> None:
        """Let a hunk wait, and tell the user; one that is accepted is to be taken back."""
        name = self._workspace.snapshot().name_of(hunk.uri)
        reason = f"{name} is open in the editor: it is deleted when you close it"
        self._waiting[hunk.id] = canonical(hunk.uri)
        self._ledger.outbox.hold(hunk.uri, [hunk.id], reason)
        self._client.show_message(f"Stet: {reason}.")

    def holds(self, hunk_id: str) -> bool:
        """Return whether a hunk waits here."""
        return hunk_id in self._waiting

    def withdraw(self, hunk_id: str) -> None:
        """Let a hunk wait no more."""
        self._waiting.pop(hunk_id, None)

    def closed(self, uri: str) -> None:
        """Schedule the deletion that waited for a document to be closed."""
        if canonical(uri) in self._waiting.values():
            self._client.start(self._apply_closed(uri), f"delete {uri}")

    async def _apply_closed(self, uri: str) -> None:
        await asyncio.sleep(CLOSED_SECONDS)
        if self._workspace.document(uri) is not None:
            return
        due = [hunk_id for hunk_id, of in self._waiting.items() if of == canonical(uri)]
        for hunk_id in due:
            del self._waiting[hunk_id]
            self._ledger.outbox.end_hold([hunk_id])
            hunk = self._ledger.hunk(hunk_id)
            if hunk.state in {HunkState.PENDING, HunkState.ACCEPTED}:
                await self._apply_hunk(hunk)
