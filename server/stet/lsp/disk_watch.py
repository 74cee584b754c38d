"""Files that change on the disk while they are not open: their hunks follow, and are shown anew.

A branch is switched, another program writes. Editors that watch files for a server tell of it; with
the others the files with hunks are looked at when the user asks for what is pending.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from stet.lsp.capabilities import ClientCapabilities
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkKind, HunkState
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

MOMENT_SECONDS = 0.1
"""What is told within is read once: a branch switch deletes files and makes them again."""
MANY = 20
"""Files that are read at a time, before others have their turn."""

Start = Callable[[Coroutine[Any, Any, None], str], None]


class DiskWatch:
    """Between the disk and the ledger. Touched on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        start: Start,
        editor: Callable[[], ClientCapabilities] = ClientCapabilities,
    ) -> None:
        """`start` begins a task; `editor` tells which one it is, once it has said so."""
        self._workspace = workspace
        self._ledger = ledger
        self._start = start
        self._editor = editor
        self._due: dict[str, None] = {}
        self._is_reading = False

    def handle_watched_files(self, params: object) -> None:
        """`workspace/didChangeWatchedFiles`, as the editor sent it, unchecked: it may name every file of
        a workspace, nearly all of them without hunks.
        """
        events = params.get("changes") if isinstance(params, dict) else None
        if isinstance(events, list):
            named = [event.get("uri") for event in events if isinstance(event, dict)]
            self.changed([uri for uri in named if isinstance(uri, str)])

    def changed(self, uris: Iterable[str]) -> None:
        """Record that these files were created, changed or deleted. Files with hunks are read soon."""
        closed = {canonical(uri): uri for uri in self._ledger.closed_uris()}
        if not closed:
            return
        names = {unquote(key.rpartition("/")[2]) for key in closed}
        for uri in uris:
            # The whole comparison is dear, a look at the last name decides nearly always.
            name = uri.rpartition("/")[2]
            if ("%" in name or name in names) and (known := closed.get(canonical(uri))):
                self._due[known] = None
        self._read_soon()

    def check_unwatched(self) -> None:
        """Read the files of hunks soon, because the user asks for pending hunks. Skip this if the
        editor watches files.
        """
        if not self._editor().watches_files:
            self._due.update(dict.fromkeys(self._ledger.closed_uris()))
            self._read_soon()

    def _read_soon(self) -> None:
        if self._due and not self._is_reading:
            self._is_reading = True
            self._start(self._read_due(), "files changed on the disk")

    async def _read_due(self) -> None:
        try:
            while self._due:
                await asyncio.sleep(MOMENT_SECONDS)
                uris, self._due = tuple(self._due), {}
                for at in range(0, len(uris), MANY):
                    await self._read(uris[at : at + MANY])
        finally:
            self._is_reading = False

    async def _read(self, uris: Sequence[str]) -> None:
        snapshot = self._workspace.snapshot()
        for uri, text in (await asyncio.to_thread(_read_texts, snapshot, uris)).items():
            if self._workspace.document(uri) is None and not self._is_moving(uri):
                self._ledger.on_disk(uri, text)

    def _is_moving(self, uri: str) -> bool:
        """Whether a file is getting another name just now: its hunks go there, they are not lost."""
        return any(
            hunk.kind is HunkKind.MOVE and hunk.state is HunkState.SENT
            for hunk in self._ledger.live(uri)
        )


def _read_texts(snapshot: Snapshot, uris: Iterable[str]) -> dict[str, str]:
    """Return the texts of files, empty for a file that is gone. Files that may not be read are left
    out.
    """
    texts = {}
    for uri in uris:
        try:
            texts[uri] = snapshot.document_with_blocks(uri).text
        except NotShown as refused:
            if refused.rule == "missing":
                texts[uri] = ""
    return texts
