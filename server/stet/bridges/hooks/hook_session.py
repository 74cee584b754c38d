"""One session of an agent whose tools are redirected to the shadow folder."""

import asyncio
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stet.bridges.hooks.shadow_folder import MAX_BYTES, ShadowFolder, ShadowUnreadable
from stet.bridges.session_view import SessionText, SessionView, ViewError
from stet.bridges.unsaved_changes import unsaved_changes
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.workspace.names import PathRefused
from stet.workspace.paths import Located
from stet.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Redirected:
    """A tool is to use the copy of a file.

    Attributes:
        path: The path of the copy.
        note: A sentence for the agent; may be empty.
    """

    path: Path
    note: str = ""


@dataclass(frozen=True, slots=True)
class Denied:
    """A tool may not run; `reason` is a sentence for the agent."""

    reason: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A tool runs as if there were no Stet."""


ToolDecision = Redirected | Denied | Passed


@dataclass(frozen=True, slots=True)
class _Copy:
    """What is known of the copy of a file.

    Attributes:
        located: The file.
        text: The text when the copy was last written or compared; None if there was no file.
        turn: The number of the turn in which that was.
        is_of_disk: Whether the text was that of the saved file, not that of the view.
    """

    located: Located
    text: str | None
    turn: int
    is_of_disk: bool = False


class HookSession:
    """The session; used on the event loop only, for one event at a time (`lock`).

    Attributes:
        lock: Held while an event is handled.
        hunks: The hunks that were proposed in the turn.
        warnings: Warnings for the user that are not shown yet.
        is_shared: Whether Stet runs the agent itself, and begins its turns.
    """

    def __init__(self, view: SessionView, shadow: ShadowFolder, workspace: Workspace) -> None:
        """Create a session that has read nothing.

        Args:
            view: What the session sees.
            shadow: Its copies.
            workspace: The files.
        """
        self.lock = asyncio.Lock()
        self.hunks: list[Hunk] = []
        self.warnings: list[str] = []
        self.is_shared = False
        self._view = view
        self._shadow = shadow
        self._workspace = workspace
        self._copies: dict[str, _Copy] = {}
        self._on_disk: dict[str, str | None] = {}
        self._turn = 0
        self._to_delete: set[str] = set()
        self._notes: list[str] = []
        self._reported: set[str] = set()

    def share(self, view: SessionView) -> None:
        """Use the view of a session that Stet runs itself, and that begins its turns there."""
        self.is_shared, self._view = True, view

    async def begin_turn(self) -> str:
        """Begin a turn; return what the agent is to know of the last one, or "".

        That is what was proposed at its end, and what the user has decided and changed since then.
        """
        await self.end_turn()
        self._turn += 1
        self.hunks.clear()
        self._reported.clear()
        notes = " ".join(self._notes)
        self._notes.clear()
        feedback = "" if self.is_shared else await self._view.begin_turn()
        return "\n\n".join(filter(None, (notes, feedback)))

    async def end_turn(self) -> None:
        """Propose what the agent has changed in copies without a hook after it."""
        copies = {self._shadow.path_of(one.located.name): one for one in self._copies.values()}
        deleted = [path for path, one in copies.items() if one.located.uri in self._to_delete]
        self._to_delete.clear()
        if note := await self.after_write(*copies, deleted=deleted):
            self._notes.append(note)

    async def expect_deletions(self, paths: Collection[Path]) -> None:
        """Record that the agent is about to delete or move files, with no hook after it."""
        for path in paths:
            if (located := await self._locate(path)) is not None:
                self._to_delete.add(located.uri)

    async def before_read(self, path: Path) -> ToolDecision:
        """Return how a tool reads a file. The copy gets the text of this moment."""
        located = await self._target(path)
        if not isinstance(located, Located):
            return located
        note = await self._propose_copy(located)
        try:
            view = await self._view.read(located.uri)
        except ViewError as error:
            return Denied(str(error))
        if view is None or view.text is None:
            return PASSED
        note = " ".join(filter(None, (note, self._rejections(located))))
        return await self._redirect(located, view, note)

    def _rejections(self, located: Located) -> str:
        """Return a sentence about hunks of a file that the user has rejected within the turn.

        The agent would take the text before for a failed edit, and make the edit again.
        """
        proposed = {hunk.id for hunk in self.hunks if hunk.uri == located.uri} - self._reported
        now = (hunk for hunk in self._view.hunks if hunk.id in proposed)
        rejected = [hunk for hunk in now if hunk.state is HunkState.REJECTED]
        self._reported |= {hunk.id for hunk in rejected}
        if not rejected:
            return ""
        named = ", ".join(
            f"{hunk.id} ({hunk.reason})" if hunk.reason else hunk.id for hunk in rejected
        )
        return f"The user has rejected {named}. Don't make this edit again."

    async def unsaved_changes(self, paths: Sequence[Path] | None = None) -> str:
        """Return how the editor's text differs from the saved files, or ""; None for all files."""
        if paths is None:
            return await unsaved_changes(self._workspace)
        located = [await self._locate(path) for path in paths]
        return await unsaved_changes(self._workspace, [one.uri for one in located if one])

    async def before_write(
        self, path: Path, fits: Callable[[str], bool] | None = None
    ) -> ToolDecision:
        """Return how a tool changes or creates a file.

        Args:
            path: The path that the tool names.
            fits: Returns whether the tool can change a text. If it can't change the text of the
                view and can change the saved text, which the agent may have read by shell, the copy
                has the saved text, and the change is merged into the view.
        """
        located = await self._target(path)
        if not isinstance(located, Located):
            return located
        view = await self._view_to_write(located)
        if isinstance(view, Denied):
            return view
        saved = self._on_disk[located.uri] = await self._disk_text(located)
        copy = self._copies.get(located.uri)
        if copy is not None and copy.turn == self._turn and not copy.is_of_disk:
            # The agent changes what it has read; what the user types meanwhile is merged.
            return Redirected(self._shadow.path_of(located.name))
        note = await self._propose_copy(located)
        if (
            fits is not None and view.text is not None and not fits(view.text)
            and saved is not None and fits(saved)
        ):  # fmt: skip
            return await self._redirect(located, SessionText(saved), note, is_of_disk=True)
        return await self._redirect(located, view, note)

    async def _view_to_write(self, located: Located) -> SessionText | Denied:
        """Return the text that the session may change; or why it may not."""
        try:
            view = await self._view.read(located.uri)
            if view is None:
                return Denied(
                    f"{located.name} can't be reviewed: it is too large, or not a text file. "
                    "Leave it unchanged."
                )
            if refusal := await self._view.refusal(located.uri, is_new=view.text is None):
                return Denied(refusal)
        except ViewError as error:
            return Denied(str(error))
        return view

    async def after_write(self, *paths: Path, deleted: Collection[Path] = ()) -> str:
        """Propose what a tool has written; return sentences for the agent.

        Args:
            paths: What the tool has written: copies, or files that it was not to write.
            deleted: Those of the paths that the tool was to delete or to move away.
        """
        notes: list[str] = []
        gone: list[_Copy] = []
        written: list[Located] = []
        for path in paths:
            if (located := await self._locate(path)) is None:
                continue
            if self._shadow.name_of(path) is None:
                notes.append(await self._check_disk(located))
                continue
            copy = self._copies.get(located.uri)
            if path in deleted and copy is not None and await self._is_gone(located):
                gone.append(copy)
            else:
                written.append(located)
        notes += [await self._propose_gone(copy, written) for copy in gone]
        notes += [await self._propose_copy(located) for located in written]
        return " ".join(filter(None, notes))

    async def _is_gone(self, located: Located) -> bool:
        """Return whether the copy of a file no longer exists."""
        try:
            return await self._shadow.read(self._shadow.path_of(located.name)) is None
        except ShadowUnreadable:
            return False

    async def _propose_gone(self, copy: _Copy, written: list[Located]) -> str:
        """Propose the deletion of a file whose copy is gone, or its move to a written path.

        A file is moved if a written copy has its text; it is then removed from `written`.
        """
        located, target = copy.located, None
        for one in written:
            other = self._copies.get(one.uri)
            is_new = other is not None and other.text is None
            if is_new and await self._shadow.read(self._shadow.path_of(one.name)) == copy.text:
                target = one
        try:
            if target is None:
                hunks = await self._view.delete(located.uri)
            else:
                written.remove(target)
                self._copies[target.uri] = _Copy(target, copy.text, self._turn)
                hunks = await self._view.move(located.uri, target.uri)
        except ViewError as error:
            del self._copies[located.uri]
            return f"Not proposed: {error}"
        self._copies[located.uri] = replace(copy, text=None, turn=self._turn)
        return self._proposed(located, hunks) if hunks else ""

    async def advice(self, path: Path) -> str:
        """Return a sentence for the agent after a tool has failed: which path to use instead."""
        located = await self._locate(path)
        if located is None or located.uri not in self._copies:
            return ""
        return _use(located, self._shadow.path_of(located.name))

    async def close(self) -> None:
        """Propose what the copies hold, and remove them; the session may go on later."""
        for copy in list(self._copies.values()):
            await self._propose_copy(copy.located)
        self._copies.clear()
        await self._shadow.clear()

    async def _target(self, path: Path) -> Located | ToolDecision:
        """Return the file of the workspace that a path means, or what happens to another path."""
        if self._shadow.is_of_another(path):
            return FOREIGN
        if (located := await self._locate(path)) is not None:
            return located
        return UNNAMED if await asyncio.to_thread(self._is_inside, path) else PASSED

    def _is_inside(self, path: Path) -> bool:
        """Return whether a path is below a folder of the workspace. Blocks on the disk."""
        real_path = self._workspace.snapshot().system.real_path
        real = real_path(path)
        return any(real.is_relative_to(real_path(root.path)) for root in self._workspace.roots)

    async def _locate(self, path: Path) -> Located | None:
        """Return the file of the workspace that a path means, also by links; None for others."""
        name = self._shadow.name_of(path)
        if name is None and self._locate_name(str(path)) is None:
            real = await asyncio.to_thread(self._workspace.snapshot().system.real_path, path)
            return self._locate_name(str(real))
        return self._locate_name(name or str(path))

    def _locate_name(self, name: str) -> Located | None:
        try:
            located = self._workspace.snapshot().locate(name)
        except PathRefused:
            return None
        return located if self._view.is_ours(located.uri) else None

    async def _redirect(
        self, located: Located, view: SessionText, note: str = "", *, is_of_disk: bool = False
    ) -> ToolDecision:
        """Write the copy of a file, and return its path.

        An agent may check an edit against the file that it names, before a hook is called, so it is
        sent the path of the copy.
        """
        path = self._shadow.path_of(located.name)
        try:
            if view.text is None:
                await self._shadow.remove(path)
            else:
                await self._shadow.write(path, view.text)
        except OSError as error:
            return Denied(f"Stet can't make a copy of {located.name} for the review: {error}")
        is_first = located.uri not in self._copies
        self._copies[located.uri] = _Copy(located, view.text, self._turn, is_of_disk)
        if (not view.is_live or is_first) and not is_of_disk:
            note = f"{note} {_use(located, path)}".strip()
        return Redirected(path, note)

    async def _propose_copy(self, located: Located) -> str:
        """Propose what an agent has changed in a copy; return a sentence for the agent."""
        copy = self._copies.get(located.uri)
        if copy is None:
            return ""
        path = self._shadow.path_of(located.name)
        try:
            text = await self._shadow.read(path)
            if text is None or text == copy.text:
                return ""
            hunks = await self._view.write(located.uri, copy.text, text)
        except (ViewError, ShadowUnreadable) as error:
            del self._copies[located.uri]  # the next read makes it anew
            return f"Not proposed: {error}"
        self._copies[located.uri] = _Copy(located, text, self._turn)
        if copy.is_of_disk:  # the agent goes on with the present text
            view = await self._view.read(located.uri)
            if view is not None:
                await self._redirect(located, view)
        conflicts = await self._view.describe_conflicts(hunks)
        return " ".join(filter(None, (self._proposed(located, hunks), conflicts)))

    def _proposed(self, located: Located, hunks: tuple[Hunk, ...]) -> str:
        """Record the hunks of a file; return a sentence for the agent."""
        self.hunks += hunks
        if not hunks:
            return ""
        ids = ", ".join(hunk.id for hunk in hunks)
        is_lines = all(hunk.kind not in {HunkKind.REMOVE, HunkKind.MOVE} for hunk in hunks)
        use = _use(located, self._shadow.path_of(located.name)) if is_lines else ""
        return (
            f"Proposed to the user as {ids}. {located.name} itself is unchanged until the user "
            f"accepts. {use}"
        ).rstrip()

    async def _disk_text(self, located: Located) -> str | None:
        """Return the text of a file on the disk, or None if the file does not exist."""
        system = self._workspace.snapshot().system
        if located.path is None:
            return None
        path = located.path

        def read() -> str | None:
            try:
                return system.read_bytes(path, MAX_BYTES).decode(errors="replace")
            except OSError:
                return None

        return await asyncio.to_thread(read)

    async def _check_disk(self, located: Located) -> str:
        """Handle a tool that was redirected and has written the file nevertheless.

        The user is warned. If the file is not open, the change back is proposed.
        """
        if located.uri not in self._on_disk:
            return ""  # the editor was opened while the tool ran
        before, now = self._on_disk.pop(located.uri), await self._disk_text(located)
        if now is None or now == before:
            return ""
        warning = f"{self._view.agent} has written {located.name} to the disk, past the review."
        if self._workspace.buffer(located.uri) is not None:
            self.warnings.append(f"{warning} The editor has the text before; save it to undo this.")
        elif before is None:
            self.warnings.append(f"{warning} The file is new; delete it if you don't want it.")
        else:
            try:
                hunks = await self._view.write(located.uri, now, before)
            except ViewError as error:
                self.warnings.append(f"{warning} The change can't be undone: {error}")
            else:
                ids = ", ".join(hunk.id for hunk in hunks)
                self.warnings.append(f"{warning} Accept {ids} to undo the change.")
        return "This change was written without the user's review. The user was warned."


PASSED = Passed()
UNNAMED = Denied(
    "The user can't review a file of this name: it is too long, or has invisible characters."
)
FOREIGN = Denied("This copy belongs to another session. Use the file itself.")


def _use(located: Located, path: Path) -> str:
    """Return the sentence that names the copy of a file."""
    return f"Read and edit {located.name} as {path}: this copy has its present text."


def absolute_path(folder: object, named: str) -> Path:
    """Return the path that a tool names, without `..`; `folder` is where the agent works."""
    return Path(os.path.normpath(Path(str(folder or "/"), named)))
