"""What an agent reads and writes by requests to Stet: the session view, and hunks."""

import asyncio
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from acp.exceptions import RequestError
from acp.schema import ReadTextFileRequest, WriteTextFileRequest

from stet.agent.turn import Mode
from stet.bridges.line_changes import with_line_ends_of
from stet.bridges.session_view import SessionView, ViewError
from stet.review.proposal import Hunk
from stet.text.lines import split_lines
from stet.tools.tool_errors import FailedEdit
from stet.workspace.names import PathRefused
from stet.workspace.paths import Located
from stet.workspace.workspace import Workspace

MAX_TEXT = 2_000_000
"""The most characters that an agent may write into a file: the limit of what Stet edits."""
MAX_FAILED = 100
"""The most failed edits of a turn that are reported."""
_BOM = "\ufeff"
_NOT_FOUND = -32002


class AgentFiles:
    """The files of one session of an agent; used on the event loop only.

    Attributes:
        read_names: The names of the files that were read in the turn, in order.
        failed: The edits of the turn that were refused or failed.
    """

    def __init__(
        self,
        view: SessionView,
        workspace: Workspace,
        *,
        missing_is_empty: bool,
        record: Callable[[str, int], None],
    ) -> None:
        """Create the files; nothing is read yet.

        Args:
            view: What the session sees.
            workspace: The files.
            missing_is_empty: Whether a file that does not exist is answered as an empty file.
            record: Records that a number of characters of a named file are sent to the agent.
        """
        self.read_names: list[str] = []
        self.failed: list[FailedEdit] = []
        self._view = view
        self._workspace = workspace
        self._missing_is_empty = missing_is_empty
        self._record = record
        self._mode = Mode.ASK
        self._bases: dict[str, str] = {}
        """By URI, the text that the agent has last read or written in this turn."""

    def begin_turn(self, mode: Mode) -> None:
        """Begin a turn; with the mode `ask` nothing can be written."""
        self._mode = mode
        self._bases.clear()
        self.read_names.clear()
        self.failed.clear()

    async def read(self, request: ReadTextFileRequest) -> dict[str, str]:
        """Answer a request to read a file, or some of its lines.

        Raises:
            RequestError: If the agent may not read it, or it does not exist.
        """
        located = await self._located(request.path)
        try:
            view = await self._view.read(located.uri)
        except ViewError as error:
            raise RequestError(-32603, str(error)) from error
        if view is None:
            raise RequestError(-32603, f"{located.name} is too large, or not a text file.")
        if view.text is None:
            if self._missing_is_empty:
                return {"content": ""}
            raise RequestError(_NOT_FOUND, f"There is no file {located.name}.")
        self._bases[located.uri] = view.text
        text = await asyncio.to_thread(_lines_of, view.text, request.line, request.limit)
        if located.name not in self.read_names:
            self.read_names.append(located.name)
        self._record(located.name, len(text))
        return {"content": text.removeprefix(_BOM)}

    async def write(self, request: WriteTextFileRequest) -> None:
        """Propose what the agent writes.

        Raises:
            RequestError: If a rule refuses, or the user has changed the same lines: they wait in
                conflict, and an answer without an error has no place for the user's lines.
        """
        located = await self._located(request.path)
        try:
            hunks = await self._propose(located, request.content)
        except ViewError as error:
            if len(self.failed) < MAX_FAILED:
                self.failed.append(FailedEdit(located.name, "", str(error)))
            raise RequestError(-32603, str(error)) from error
        if conflicts := await self._view.describe_conflicts(hunks):
            raise RequestError(-32603, conflicts)

    async def _propose(self, located: Located, content: str) -> tuple[Hunk, ...]:
        """Propose what the agent writes; return the hunks.

        Raises:
            ViewError: If a rule refuses.
        """
        if self._mode is not Mode.AGENT:
            raise ViewError("The user has only asked a question: don't change files.")
        if len(content) > MAX_TEXT:
            raise ViewError(f"The new text of {located.name} is too long to be reviewed.")
        view = await self._view.read(located.uri)
        if view is None:
            raise ViewError(f"{located.name} is too large, or not a text file.")
        is_new = view.text is None
        if refusal := await self._view.refusal(located.uri, is_new=is_new):
            raise ViewError(refusal)
        before, text = view.text, content.removeprefix(_BOM)
        if before is not None:
            text = with_line_ends_of(before, text)
            text = _BOM + text if before.startswith(_BOM) else text
            before = self._bases.get(located.uri, before)
        hunks = await self._view.write(located.uri, before, text)
        # What the user types is not in the agent's text, which is the base of its next edit.
        self._bases[located.uri] = text
        return hunks

    async def _located(self, path: str) -> Located:
        """Return the file of the workspace that a path means, also by links.

        Raises:
            RequestError: If the path is outside of the workspace.
        """
        located = self._locate_name(path)
        if located is None and Path(path).is_absolute():
            system = self._workspace.snapshot().system
            real = await asyncio.to_thread(system.real_path, Path(path))
            located = self._locate_name(str(real))
        if located is None:
            raise RequestError(
                -32602,
                "Stet reads and writes files of the workspace only: this path is outside of it.",
            )
        return located

    def _locate_name(self, name: str) -> Located | None:
        if not Path(name).is_absolute():
            return None
        try:
            located = self._workspace.snapshot().locate(name)
        except PathRefused:
            return None
        return located if self._view.is_ours(located.uri) else None


def _lines_of(text: str, line: int | None, limit: int | None) -> str:
    """Return some lines of a text: from a line (1-based), at most `limit`."""
    if line is None and limit is None:
        return text
    first = max((line or 1) - 1, 0)
    end = None if limit is None else first + limit
    return "".join(islice(split_lines(text), first, end))
