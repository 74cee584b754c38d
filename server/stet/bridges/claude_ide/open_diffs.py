"""The diffs that one session of Claude Code asks the user to review: each becomes hunks.

Claude waits for the answer to `openDiff`, with a dialogue of its own in the terminal. It writes the
text of the answer to the disk. An error as the answer leaves the decision to that dialogue.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stet.bridges.claude_ide.tool_arguments import ToolRefused
from stet.bridges.session_view import SessionView, ViewError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import LIVE, OPEN, Hunk, HunkState
from stet.text.escape import escape_line
from stet.text.render import counted
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.names import PathRefused
from stet.workspace.paths import Located
from stet.workspace.snapshot import NotShown
from stet.workspace.workspace import Workspace

FILE_SAVED, DIFF_REJECTED = "FILE_SAVED", "DIFF_REJECTED"
_BOM = "\ufeff"
_OUTSIDE = "Stet reviews files of the workspace only."


@dataclass(eq=False)
class _OpenDiff:
    """A diff whose answer Claude waits for.

    Attributes:
        turn: The turn of its hunks.
        closed: Set when Claude has closed it.
    """

    turn: str
    closed: asyncio.Event = field(default_factory=asyncio.Event)


class OpenDiffs:
    """The diffs of one session; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        view: SessionView,
        *,
        show_message: Callable[[str], None],
        warn: Callable[[str], None],
    ) -> None:
        """Create the diffs of a session; none is open.

        Args:
            workspace: The files.
            ledger: The proposals.
            view: What the session has proposed.
            show_message: Shows the user a message.
            warn: Shows the user a warning.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._view = view
        self._show_message = show_message
        self._warn = warn
        self._open: dict[str, _OpenDiff] = {}
        self._decided: list[str] = []
        self._proposing = asyncio.Lock()

    async def review(self, path: str, new: str, tab: str) -> list[str]:
        """Propose a text for a file; return the user's decision as soon as there is one.

        Args:
            path: The absolute path of the file.
            new: The text that Claude would write.
            tab: The name by which Claude closes the diff.

        Returns:
            `FILE_SAVED` and the text that Claude is to write, or `DIFF_REJECTED` and the tab.

        Raises:
            ToolRefused: If there are no hunks to decide, or Claude has closed the diff.
        """
        located = await self._locate(path)
        self.close(tab)
        try:
            hunks = await self._propose(located, new)
        except ViewError as error:
            name = escape_line(located.name)
            self._warn(
                f"Stet: Claude's edit of {name} can't be reviewed here: {escape_line(str(error))} "
                "Decide in Claude's terminal."
            )
            raise ToolRefused(str(error)) from error
        if not hunks:
            return await self._without_hunks(located, new)
        self._show_message(f"Stet: claude proposed {counted(len(hunks), 'hunk')} to review.")
        decided = await self._wait(tab, hunks)
        if not any(hunk.state is HunkState.ACCEPTED for hunk in decided):
            return [DIFF_REJECTED, tab]
        return [FILE_SAVED, await self._merged(located, new)]

    def close(self, tab: str) -> bool:
        """Withdraw the hunks of a diff; return whether it was open."""
        if (opened := self._open.pop(tab, None)) is None:
            return False
        opened.closed.set()
        for hunk in self._hunks_of(opened.turn):
            if hunk.state in OPEN:
                self._ledger.withdraw(hunk.id)
        return True

    def close_all(self) -> int:
        """Withdraw the hunks of all diffs; return how many were open."""
        return sum([self.close(tab) for tab in list(self._open)])

    def take_decided(self) -> list[Hunk]:
        """Return the hunks that were decided since the last call."""
        decided, self._decided = self._decided, []
        return [self._ledger.hunk(hunk_id) for hunk_id in decided]

    async def _propose(self, located: Located, new: str) -> tuple[Hunk, ...]:
        """Return the hunks of Claude's change, as a turn of its own.

        Raises:
            ViewError: If a rule refuses, or the user has changed the same lines.
        """
        async with self._proposing:
            await self._view.begin_turn()
            before = await asyncio.to_thread(self._read_disk, located)
            if refusal := await self._view.refusal(located.uri, is_new=before is None):
                raise ViewError(refusal)
            return await self._view.write(located.uri, before, new.removeprefix(_BOM))

    async def _without_hunks(self, located: Located, new: str) -> list[str]:
        """Return the answer to a change that the editor's text already has.

        Raises:
            ToolRefused: If the editor's text has other changes, too, which the user has not saved.
        """
        if await self._merged(located, new) == new:
            return [FILE_SAVED, new]
        raise ToolRefused("The editor has this change already, with others that are not saved.")

    async def _wait(self, tab: str, hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
        """Return the hunks of a diff as soon as all are decided.

        Raises:
            ToolRefused: If Claude closes the diff.
        """
        opened = self._open[tab] = _OpenDiff(hunks[0].turn)
        changed = asyncio.Event()

        def note(_uri: str) -> None:
            changed.set()

        def has_live() -> bool:
            return any(hunk.state in LIVE for hunk in self._hunks_of(opened.turn))

        self._ledger.subscribe(note)
        try:
            while has_live() and not opened.closed.is_set():
                changed.clear()
                await changed.wait()
        finally:
            self._ledger.unsubscribe(note)
            if self._open.get(tab) is opened and has_live():  # the server ends
                self.close(tab)
        if opened.closed.is_set():
            raise ToolRefused("The diff was closed.")
        del self._open[tab]
        decided = self._hunks_of(opened.turn)
        self._decided += [hunk.id for hunk in decided]
        return decided

    def _hunks_of(self, turn: str) -> tuple[Hunk, ...]:
        return tuple(hunk for hunk in self._view.hunks if hunk.turn == turn)

    async def _merged(self, located: Located, new: str) -> str:
        """Return the present text of a file, in the form in which Claude sends texts.

        Raises:
            ToolRefused: If the file has no text that may be shown.
        """
        snapshot = self._workspace.snapshot()
        try:
            text = (await asyncio.to_thread(snapshot.show, located.uri)).text
        except NotShown as refused:
            raise ToolRefused(str(refused)) from refused
        if "\r" not in new:  # Claude sends LF, and writes the line ends of the file
            text = text.replace("\r\n", "\n")
        return _BOM + text if new.startswith(_BOM) and not text.startswith(_BOM) else text

    async def _locate(self, path: str) -> Located:
        """Return the file of the workspace that a path means, also by links.

        Raises:
            ToolRefused: If it is no file of the workspace.
        """
        named = Path(path)
        if not named.is_absolute() or "\0" in path:
            raise ToolRefused(_OUTSIDE)
        snapshot = self._workspace.snapshot()
        real = await asyncio.to_thread(snapshot.system.real_path, named)
        # Behind a link, `..` is another folder than the name shows.
        for one in (real,) if ".." in named.parts else (named, real):
            try:
                located = snapshot.locate(str(one))
            except PathRefused:
                continue
            if self._view.is_ours(located.uri):
                return located
        raise ToolRefused(_OUTSIDE)

    def _read_disk(self, located: Located) -> str | None:
        """Return what Claude has read, or None for no file. For a worker thread.

        Raises:
            ViewError: If the file can't be read.
        """
        if located.path is None:
            return None
        try:
            data = self._workspace.snapshot().system.read_bytes(located.path, MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ViewError(f"it can't be read: {error.strerror}.") from error
        if len(data) > MAX_FILE_BYTES:
            raise ViewError("it is too large.")
        return decode(data)
