"""One program that sees its own version of the workspace; what it changes there becomes hunks."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
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
from stet.review.proposal import LIVE, Hunk
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
SCAN_SECONDS = 1.0
"""The least time between two scans of the layers of a session; a scan takes a twentieth of it at most."""
_SCAN_SHARE = 20
INTRODUCTION = (
    "The user reviews your changes in an editor, with Stet. You work in an overlay of {folders}: "
    "what you change there, by tools or by shell, becomes a proposal, and the user's files change "
    "when the user accepts. Commits, and files that git ignores, are dropped at the end."
)
"""The first text for an agent; `{folders}` are the folders of the workspace."""


class IsolatedSession:
    """The session; used on the event loop only.

    Attributes:
        view: What the session may read and propose.
        hunks: The hunks that were proposed, by id.
        warnings: What was not proposed, in sentences for the user.
    """

    def __init__(
        self,
        view: SessionView,
        workspace: Workspace,
        folders: Sequence[LayeredFolder],
        *,
        can_write: bool = True,
    ) -> None:
        """Create a session whose layers are empty.

        Args:
            view: What the session may read and propose.
            workspace: The files.
            folders: The workspace folders with their layers.
            can_write: Whether changes are proposed until another turn begins.
        """
        self.hunks: dict[str, Hunk] = {}
        self.warnings: dict[str, None] = {}
        self.view = view
        self._workspace = workspace
        self._folders = folders
        self._files = ChangedFiles(folders)
        self._began = workspace.snapshot().system.now()
        self._can_write = can_write
        self._lock = asyncio.Lock()
        self._texts: dict[Path, str | None] = {}
        self._failed: set[Path] = set()
        self._proposed: set[Path] = set()
        self._named: set[str] = set()

    async def prepare(self) -> None:
        """Write into the layers what the session sees and the disk does not have: unsaved text of
        the editor, and pending hunks of the session. Hide secret files.

        Raises:
            OSError: If a layer can't be written.
        """
        for path, uri in (*self._open_files(), *self._pending_files()):
            with suppress(ViewError):
                if (view := await self.view.read(uri)) is not None:
                    self._texts[path] = view.text
        snapshot, texts = self._workspace.snapshot(), dict(self._texts)
        if not await asyncio.to_thread(_seed, snapshot, self._folders, texts):
            self._warn(
                f"The folder has more than {MAX_LISTED} files: secret files among the last of them "
                "are not hidden from the program."
            )

    async def begin_turn(
        self, view: SessionView, turn: str = "", *, can_write: bool = True
    ) -> tuple[str, dict[Path, str | None]]:
        """Begin a turn of an agent that waits for it.

        Args:
            view: The view with which the session goes on: that of the agent's own session.
            turn: The id of the turn; "" for a new one.
            can_write: Whether changes of the turn are proposed.

        Returns:
            What the user has decided and changed since the last turn, and what was not proposed, or
            "", and the files that have another text now than the program sees: by real path, the
            text, None for no file.
        """
        await self.collect(is_end=True)
        async with self._lock:
            self.view = view
            self._proposed.clear()
            self._failed.clear()
            faults = [one for one in self.warnings if one not in self._named]
            self._named.update(faults)
            feedback = await view.begin_turn(turn)
            self._can_write, self._began = can_write, self._workspace.snapshot().system.now()
            return "\n".join(filter(None, (*faults, feedback))), await self._changed_since(
                self._texts
            )

    async def text_to_show(self, uri: str) -> dict[Path, str | None]:
        """Return the text of a file, by its real path, if the program sees another one."""
        path = path_of(uri)
        if path is None:
            return {}
        async with self._lock:
            if path not in self._texts:
                await self._note_disk_text(path)
            return await self._changed_since((path,))

    async def watch(self, is_running: Callable[[], bool]) -> None:
        """Propose what the program changes while it runs."""
        system = self._workspace.snapshot().system
        while is_running():
            began = system.monotonic()
            await self.collect(is_end=False)
            took = system.monotonic() - began
            await asyncio.sleep(max(SCAN_SECONDS, took * _SCAN_SHARE))

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
        for sentence in self.describe_dropped("Dropped"):
            self._warn(sentence)

    def describe_dropped(self, verb: str) -> list[str]:
        """Return a sentence about the files that are never proposed, if there are any."""
        if not (dropped := list(self._files.dropped)):
            return []
        more = ", …" if len(dropped) > _MAX_NAMED else ""
        names = ", ".join(dropped[:_MAX_NAMED])
        return [f"{verb}, as ignored, hidden or special files: {names}{more}."]

    async def _changed_since(self, paths: Iterable[Path]) -> dict[Path, str | None]:
        """Return the present texts of those files of which the program sees another text.

        They are found by real path: a link of the workspace is followed here, since links of the
        program are not followed when the file is written.
        """
        changed: dict[Path, str | None] = {}
        left = MAX_REFRESHED
        for path in tuple(paths):
            with suppress(ViewError):
                view, text = await self.view.read(self._uri(path)), self._texts[path]
                if view is not None and view.text != text and len(view.text or "") <= left:
                    left -= len(view.text or "")
                    changed[path] = self._texts[path] = view.text
        return await asyncio.to_thread(_with_real_paths, self._workspace.snapshot().system, changed)

    def _open_files(self) -> list[tuple[Path, str]]:
        """Return the paths and URIs of the files that were opened since the last scan.

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

    def _pending_files(self) -> list[tuple[Path, str]]:
        """Return the paths and URIs of the files that have pending hunks of the session."""
        hunks = [hunk for hunk in self.view.hunks if hunk.state in LIVE]
        uris = dict.fromkeys(uri for hunk in hunks for uri in (hunk.uri, hunk.new_uri))
        return [(path, uri) for uri in uris if (path := path_of(uri)) and self.view.is_ours(uri)]

    async def _propose(self, changes: Sequence[ChangedFile]) -> None:
        """Propose changes; a file that is deleted here and created there is moved."""
        before = {change.path: await self._text_before(change.path) for change in changes}
        if not self._can_write:
            self._refuse([one for one in changes if one.text != before[one.path]])
            return
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

    def _refuse(self, changes: Sequence[ChangedFile]) -> None:
        """Propose no change; the program sees its own text until the next turn begins."""
        for change in changes:
            self._texts[change.path] = change.text
            name = self._name(change.path)
            self._warn(f"Not proposed: {name} was changed, and the turn was only a question.")

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


def _with_real_paths(system: System, texts: Mapping[Path, str | None]) -> dict[Path, str | None]:
    return {system.real_path(path): text for path, text in texts.items()}


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
        if hidden.isdisjoint((real, *real.parents)):
            _seed_text(folders, real, text, _disk_text(system, real))
    return is_whole


def _seed_text(
    folders: Sequence[LayeredFolder], real: Path, text: str | None, saved: str | None
) -> None:
    """Show the program the text of a file that differs from the saved text; None for no file.

    Raises:
        OSError: If a layer can't be written.
    """
    for folder in folders:
        if (parts := folder.parts_of(real)) and text != saved:
            if text is None:
                seed_whiteout(folder.overlay, parts)
            else:
                seed_text(folder.overlay, parts, text)
