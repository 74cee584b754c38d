"""Whether something was done to a user's file: as the disk and the open documents have it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.editor_client import ApplyOutcome
from stet.lsp.edits.edit_errors import EditError
from stet.system.system import System
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import path_of
from stet.workspace.workspace import Workspace

CONFIRM_SECONDS = 2.0
"""How long after its yes an editor may take until its work is seen."""
POLL_SECONDS = 0.05
"""How often is looked: the disk tells nobody."""


class FileState:
    """Looks at files as they are now; changes none."""

    def __init__(self, workspace: Workspace, editor: Callable[[], ClientCapabilities]) -> None:
        """`editor` tells which one it is, once it has said so."""
        self._workspace = workspace
        self._editor = editor

    @property
    def system(self) -> System:
        """The disk."""
        return self._workspace.snapshot().system

    def real(self, path: Path) -> Path:
        """`path` with the links above it resolved: it may itself be one, which is never followed."""
        return self.system.real_path(path.parent) / path.name

    def name(self, uri: str) -> str:
        """What a user calls a file."""
        return self._workspace.snapshot().name_of(uri)

    async def wait(self, outcome: ApplyOutcome, is_done: Callable[[], Awaitable[bool]]) -> None:
        """Wait until it is seen that the editor did what was asked.

        Raises:
            EditError: If it is not.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + (CONFIRM_SECONDS if outcome.applied else 0.0)
        while not await is_done():
            if outcome.applied and self._editor().saves_later:
                return
            if loop.time() >= end:
                is_seen = "The editor said that it was done, but it was not."
                raise EditError(outcome.reason or is_seen)
            await asyncio.sleep(POLL_SECONDS)

    async def read_disk(self, uri: str) -> tuple[Path | None, str | None]:
        """Where a document lies, and its text on the disk; None if it lies nowhere, or is not there."""
        path = path_of(uri)
        if path is None or await asyncio.to_thread(self.system.stat, path) is None:
            return path, None
        return path, decode(await asyncio.to_thread(self.system.read_bytes, path, MAX_FILE_BYTES))

    async def check_saved(self, uri: str) -> None:
        """Make sure that no text would be lost with the file.

        Raises:
            EditError: If the document is open with text that the disk does not have.
        """
        _, disk_text = await self.read_disk(uri)
        self._check_open(uri, disk_text)

    async def check_same(
        self, uri: str, path: Path, copy: Path, saved_text: str | None = None
    ) -> None:
        """Make sure that a copy of a document's file, at `path`, holds all there is of its text.

        Nothing may be waited for between this and what takes the file away.

        Args:
            uri: The document.
            path: Its file.
            copy: The copy.
            saved_text: A text that is not lost with the document, as it is kept elsewhere.

        Raises:
            EditError: If the file is another by now, or its document has text that neither has.
            OSError: If one of them can't be read.
        """
        read = self.system.read_bytes
        disk_text = await asyncio.to_thread(read, path, MAX_FILE_BYTES)
        copied = await asyncio.to_thread(read, copy, MAX_FILE_BYTES)
        self._check_open(uri, decode(copied), saved_text)
        if disk_text != copied:
            raise EditError(f"{self.name(uri)} was written to just now: look, and try again.")

    def _check_open(self, uri: str, *texts: str | None) -> None:
        """Make sure that a document, if it is open, has no other text than one of `texts`.

        Raises:
            EditError: If it has.
        """
        opened = self._workspace.document(uri)
        if opened is not None and opened.text not in texts:
            raise EditError(
                f"{self.name(uri)} has text that is not saved: save it, or take it back, and "
                "then try again."
            )
