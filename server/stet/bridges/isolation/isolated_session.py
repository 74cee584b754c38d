"""One program that sees its own version of the workspace; what it changes there becomes hunks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from stet.bridges.isolation.changed_files import MAX_BYTES, ChangedFile, ChangedFiles
from stet.bridges.isolation.workspace_layers import (
    MAX_LISTED,
    LayeredFolder,
    hidden_entries,
    seed_text,
    seed_whiteout,
)
from stet.bridges.session_view import SessionView, ViewError
from stet.review.proposal import Hunk
from stet.system.system import System
from stet.workspace.names import PathRefused
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import path_of, uri_of
from stet.workspace.workspace import Workspace

MAX_FILES = 300
"""The most files of a session whose changes are proposed."""
MAX_REFRESHED = 4_000_000
"""The most characters of the files that are refreshed at once."""
_MAX_NAMED = 5


class IsolatedSession:
    """The session; used on the event loop only.

    Attributes:
        view: What the session may read and propose.
        hunks: The hunks that were proposed, by id.
        warnings: What was not proposed, in sentences for the user.
    """

    def __init__(
        self, view: SessionView, workspace: Workspace, folders: Sequence[LayeredFolder], now: float
    ) -> None:
        """Create a session whose layers are empty.

        Args:
            view: What the session may read and propose.
            workspace: The files.
            folders: The workspace folders with their layers.
            now: The time in seconds since the epoch.
        """
        self.hunks: dict[str, Hunk] = {}
        self.warnings: dict[str, None] = {}
        self.view = view
        self._workspace = workspace
        self._folders = folders
        self._files = ChangedFiles(folders)
        self._began = now
        self._lock = asyncio.Lock()
        self._texts: dict[Path, str | None] = {}
        self._failed: set[Path] = set()
        self._proposed: set[Path] = set()
        self._named: set[str] = set()

    async def prepare(self) -> None:
        """Write the unsaved text of the editor into the layers, and hide secret files.

        Raises:
            OSError: If a layer can't be written.
        """
        await self.view.begin_turn()
        for path, uri in self._open_files():
            with suppress(ViewError):
                if (view := await self.view.read(uri)) is not None:
                    self._texts[path] = view.text
        snapshot, texts = self._workspace.snapshot(), dict(self._texts)
        if not await asyncio.to_thread(_seed, snapshot, self._folders, texts):
            self._warn(
                f"The folder has more than {MAX_LISTED} files: secret files among the last of them "
                "are not hidden from the program."
            )

    async def begin_turn(self, view: SessionView) -> tuple[str, dict[Path, str | None]]:
        """Begin a turn of an agent that waits for it.

        Args:
            view: The view with which the session goes on: that of the agent's own session.

        Returns:
            What the user has decided and changed since the last turn, and what was not proposed, or
            "", and the files that have another text now than the program sees, with their texts,
            None for no file.
        """
        await self.collect(is_end=True)
        async with self._lock:
            self.view = view
            self._proposed.clear()
            self._failed.clear()
            faults = [one for one in self.warnings if one not in self._named]
            self._named.update(faults)
            news = await view.begin_turn()
            return "\n".join(filter(None, (*faults, news))), await self._changed_since()

    async def collect(self, *, is_end: bool) -> None:
        """Propose what the program has changed; `is_end`: whether it or its turn has ended."""
        async with self._lock:
            for path, _ in self._open_files():
                await self._note_disk_text(path)  # the user may save the file soon
            for path in self._failed if is_end else ():
                self._files.scan_again(path)
            snapshot = self._workspace.snapshot()
            changes = await asyncio.to_thread(self._files.scan, snapshot, is_end=is_end)
            await self._propose(changes)
            for fault in self._files.faults:
                self._warn(fault)

    async def finish(self) -> None:
        """Propose what the program has changed until its end, and name what is dropped."""
        await self.collect(is_end=True)
        if dropped := list(self._files.dropped):
            more = ", …" if len(dropped) > _MAX_NAMED else ""
            names = ", ".join(dropped[:_MAX_NAMED])
            self._warn(f"Dropped, as ignored, hidden or special files: {names}{more}.")

    async def _changed_since(self) -> dict[Path, str | None]:
        """Return the present texts of the files of which the program sees another text."""
        changed: dict[Path, str | None] = {}
        left = MAX_REFRESHED
        for path, text in list(self._texts.items()):
            with suppress(ViewError):
                view = await self.view.read(self._uri(path))
                if view is not None and view.text != text and len(view.text or "") <= left:
                    left -= len(view.text or "")
                    changed[path] = self._texts[path] = view.text
        return changed

    def _open_files(self) -> list[tuple[Path, str]]:
        """Return the paths and URIs of the files that were opened since the last look.

        What the program changes is compared with the text that it sees: that of the editor if the
        file was open at the start, else that of the disk. It does not matter if the program has
        read a later text that the user has saved: both sides of the merge then have that change.
        """
        found = []
        for document in self._workspace.snapshot().documents.values():
            path = path_of(document.uri)
            if path is not None and path not in self._texts and self.view.is_ours(document.uri):
                found.append((path, document.uri))
        return found

    async def _propose(self, changes: Sequence[ChangedFile]) -> None:
        """Propose changes; a file that is deleted here and created there is moved."""
        before = {change.path: await self._text_before(change.path) for change in changes}
        created = {one.text: one for one in changes if one.text and before[one.path] is None}
        moved: set[Path] = set()
        for change in changes:
            text = before[change.path]
            if change.text is None and text is not None and (new := created.pop(text, None)):
                moved |= {change.path, new.path}
                move = partial(self.view.move, self._uri(change.path), self._uri(new.path))
                await self._attempt((change, new), move)
        for change in changes:
            text = before[change.path]
            if change.path in moved or change.text == text:
                continue
            uri = self._uri(change.path)
            if change.text is None:
                await self._attempt((change,), partial(self.view.delete, uri))
            else:
                await self._attempt((change,), partial(self.view.write, uri, text, change.text))

    async def _attempt(
        self, changes: Sequence[ChangedFile], propose: Callable[[], Awaitable[tuple[Hunk, ...]]]
    ) -> None:
        """Propose the change of files; what is refused is tried again at the end."""
        paths = {change.path for change in changes}
        if len(self._proposed | paths) > MAX_FILES:
            self._warn(f"More than {MAX_FILES} files were changed; the rest is not proposed.")
            return
        try:
            hunks = await propose()
        except ViewError as error:
            self._failed |= paths
            self._warn(f"Not proposed: {error}")
            return
        self._failed -= paths
        self._proposed |= paths
        for change in changes:
            self._texts[change.path] = change.text
        self.hunks.update((hunk.id, hunk) for hunk in hunks)

    async def _text_before(self, path: Path) -> str | None:
        """Return the text that the program has changed, None for a new file."""
        if path not in self._texts:
            system = self._workspace.snapshot().system
            status = await asyncio.to_thread(system.stat, path)
            if status is not None and status.mtime > self._began:
                self._warn(f"{self._name(path)} changed on the disk at the same time: check it.")
            await self._note_disk_text(path)
        return self._texts[path]

    async def _note_disk_text(self, path: Path) -> None:
        system = self._workspace.snapshot().system
        self._texts[path] = await asyncio.to_thread(_disk_text, system, path)

    def _uri(self, path: Path) -> str:
        try:
            return self._workspace.snapshot().locate(str(path)).uri
        except PathRefused:  # the view refuses it too, with the reason
            return uri_of(path)

    def _name(self, path: Path) -> str:
        return self._workspace.snapshot().name_of(self._uri(path))

    def _warn(self, warning: str) -> None:
        self.warnings[warning] = None


def _disk_text(system: System, path: Path) -> str | None:
    """Return the text of a file in the workspace folder; None if there is no text file."""
    try:
        return system.read_bytes(path, MAX_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return None


def _seed(
    snapshot: Snapshot, folders: Sequence[LayeredFolder], texts: Mapping[Path, str | None]
) -> bool:
    """Write the unsaved texts and the whiteouts; return whether all secret files are hidden.

    Raises:
        OSError: If a layer can't be written.
    """
    system, privacy, is_whole = snapshot.system, snapshot.privacy(), True
    hidden: set[Path] = set()
    for folder in folders:
        for parts in hidden_entries(folder, privacy, system):
            if parts is None:
                is_whole = False
            else:
                seed_whiteout(folder.overlay, parts)
                hidden.add(folder.overlay.folder.joinpath(*parts))
    for path, text in texts.items():
        real = system.real_path(path)
        if text is not None and hidden.isdisjoint((real, *real.parents)):
            _seed_text(folders, real, text, _disk_text(system, real))
    return is_whole


def _seed_text(folders: Sequence[LayeredFolder], real: Path, text: str, saved: str | None) -> None:
    """Show the program the text of a file that differs from the saved text.

    Raises:
        OSError: If a layer can't be written.
    """
    for folder in folders:
        if (parts := folder.parts_of(real)) and text != saved:
            seed_text(folder.overlay, parts, text)
