"""The sessions of MCP clients in the server of the editor, and the tools that they call."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stet.bridges.line_changes import with_line_ends_of
from stet.bridges.mcp.mcp_tools import (
    TOOLS,
    DiagnosticsArguments,
    EditArguments,
    FileArguments,
    ListArguments,
    McpArguments,
    ReadArguments,
    SearchArguments,
    WaitArguments,
)
from stet.bridges.session_view import SessionText, SessionView, ViewError
from stet.bridges.session_views import SessionViews
from stet.review.ledger import ReviewLedger
from stet.review.proposal import STET, Hunk, HunkState
from stet.search.word_search import Searcher
from stet.text.lines import split_lines
from stet.text.syntax_check import syntax_problems
from stet.tools.edit_file import EditFile
from stet.tools.edit_file import run as edit_file
from stet.tools.search_workspace import SearchWorkspace
from stet.tools.search_workspace import run as search_workspace
from stet.tools.tool import ToolContext
from stet.tools.tool_errors import ToolError
from stet.workspace.names import PathRefused
from stet.workspace.paths import Located
from stet.workspace.safe_excerpt import redactor_of
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import path_of
from stet.workspace.workspace import Workspace

MAX_LINES, MAX_CHARACTERS = 2000, 200_000
"""The most lines and characters that one call reads."""
MAX_SESSIONS = 64
"""The most sessions; the oldest is forgotten."""
MAX_SELECTION = 10_000
MAX_BASES = 100
"""The most files whose text as read is remembered; a later read or write renews it."""
_RESERVED = frozenset({STET, "imported"})
_SESSION = re.compile(r"[0-9a-f]{8,64}")
_WAITING = frozenset({HunkState.PENDING, HunkState.SENT, HunkState.CONFLICT})


class McpRefused(Exception):
    """A call can't be run; the message is a sentence for the agent."""


class McpSessions:
    """All sessions of one server; used on the event loop only."""

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        views: SessionViews,
        searcher: Searcher,
    ) -> None:
        """Create no session yet.

        Args:
            workspace: The open documents and the files.
            ledger: The proposals.
            views: The views of sessions.
            searcher: Finds passages.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._searcher = searcher
        self._views = views
        self._sessions: dict[str, McpSession] = {}

    async def call(self, session: str, client: str, tool: str, arguments: object) -> object:
        """Run a tool for a session; return its result as JSON.

        Args:
            session: The id of the session.
            client: The name that the client gives itself.
            tool: The name of the tool.
            arguments: Its arguments.

        Raises:
            McpRefused: If the call is refused; the message is for the agent.
        """
        if not _SESSION.fullmatch(session):
            raise McpRefused("a session has an id of hexadecimal digits")
        if tool not in TOOLS:
            raise McpRefused(f"there is no tool {tool!r}; known: {', '.join(TOOLS)}")
        try:
            checked = TOOLS[tool].arguments.model_validate(arguments)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise McpRefused(f"{tool}: {place or 'arguments'}: {first['msg']}") from error
        found = self._sessions.get(session) or await self._begin(session, client)
        try:
            return await found.run(tool, checked)
        except (ViewError, ToolError, NotShown, PathRefused) as error:
            raise McpRefused(str(error)) from error

    async def _begin(self, session: str, client: str) -> "McpSession":
        view = self._views.open(author_of(client), f"mcp-{session}")
        self._sessions[session] = made = McpSession(
            view, self._workspace, self._ledger, self._searcher
        )
        if len(self._sessions) > MAX_SESSIONS:
            oldest = self._sessions.pop(next(iter(self._sessions)))
            self._views.close(oldest.view)
        await view.begin_turn()
        return made


def author_of(client: str) -> str:
    """Return the author of the hunks of a client, from the name that the client gives itself."""
    name = re.sub(r"[^a-z0-9]+", "-", client.lower())[:40].strip("-")
    return "mcp" if not name or name in _RESERVED else name


class McpSession:
    """The tools of one session.

    Attributes:
        view: What the session sees.
    """

    def __init__(
        self,
        view: SessionView,
        workspace: Workspace,
        ledger: ReviewLedger,
        searcher: Searcher,
    ) -> None:
        """Create a session that has read nothing."""
        self.view = view
        self._workspace = workspace
        self._ledger = ledger
        self._searcher = searcher
        self._bases: dict[str, str] = {}  # by URI, what the agent has last read or written

    async def run(self, tool: str, arguments: McpArguments) -> object:
        """Run a tool with valid arguments; return its result.

        Raises:
            ViewError, ToolError, NotShown, PathRefused, McpRefused: If the call is refused.
        """
        runs: Mapping[str, Callable[[Any], Awaitable[object]]] = {
            "read_file": self._read,
            "propose_edit": self._edit,
            "propose_file": self._file,
            "list_proposals": self._list,
            "wait_for_review": self._wait,
            "editor_state": self._state,
            "get_diagnostics": self._diagnostics,
            "search": self._search,
        }
        return await runs[tool](arguments)

    async def _read(self, arguments: ReadArguments) -> object:
        located = self._located(arguments.path)
        shown = await self._text_of(located)
        assert shown.text is not None
        self._remember(located.uri, shown.text)
        text = await self._redacted(shown.text)
        lines = split_lines(text)
        n_lines = len(lines) - (lines[-1] == "")
        last = min(arguments.end_line or n_lines, n_lines, arguments.start_line - 1 + MAX_LINES)
        part = "".join(lines[arguments.start_line - 1 : last])[:MAX_CHARACTERS]
        return {
            "path": located.name,
            "text": part,
            "start_line": arguments.start_line,
            "end_line": last,
            "total_lines": n_lines,
            "is_saved_text": shown.is_live,
        }

    async def _edit(self, arguments: EditArguments) -> object:
        located = self._located(arguments.path)
        before = self._pending_ids()
        call = EditFile(
            file=located.name,
            old_text=arguments.old_text,
            new_text=arguments.new_text,
            replace_all=arguments.replace_all,
            summary=arguments.summary,
        )
        report = await edit_file(call, self._context())
        self._bases.pop(located.uri, None)  # the agent knows the edit, and perhaps nothing else
        return await self._proposed(located, before, report.strip())

    async def _file(self, arguments: FileArguments) -> object:
        located = self._located(arguments.path)
        before = self._pending_ids()
        shown = await self.view.read(located.uri)
        if shown is None:
            raise McpRefused(f"{located.name} is too large, or not a text file.")
        is_new = shown.text is None
        if refusal := await self.view.refusal(located.uri, is_new=is_new):
            raise McpRefused(refusal)
        # What the user has typed since the agent has read the file is merged.
        base = None if shown.text is None else self._bases.get(located.uri, shown.text)
        hunks = await self.view.write(located.uri, base, arguments.content)
        self._remember(located.uri, with_line_ends_of(base or "", arguments.content))
        report = f"{'The new file' if is_new else 'The text of'} {located.name} waits for the user."
        if conflicts := await self.view.describe_conflicts(hunks):
            report = f"{report} {conflicts}"
        return await self._proposed(located, before, report)

    def _remember(self, uri: str, text: str) -> None:
        """Note the text that the agent has read or written."""
        self._bases.pop(uri, None)
        self._bases[uri] = text
        if len(self._bases) > MAX_BASES:
            del self._bases[next(iter(self._bases))]

    async def _proposed(self, located: Located, before: frozenset[str], report: str) -> object:
        """Return the new hunks of a file, and the check of the text with all pending hunks."""
        made = [hunk.id for hunk in self.view.hunks if hunk.id not in before and _is_open(hunk)]
        check = await self._check(located)
        return {"hunks": made, "report": await self._redacted(report), "check": check}

    async def _list(self, arguments: ListArguments) -> object:
        uri = self._located(arguments.path).uri if arguments.path is not None else None
        hunks = [self._ledger.hunk(hunk.id) for hunk in self.view.hunks if uri in (None, hunk.uri)]
        wanted = [one for one in hunks if arguments.state in (None, str(one.state))]
        return {"proposals": [await self._described(hunk) for hunk in wanted]}

    async def _wait(self, arguments: WaitArguments) -> object:
        """Return the hunks as they are; the process of the client waits for changes."""
        hunks = self._named(arguments.hunks)
        return {"proposals": [await self._described(hunk) for hunk in hunks]}

    def _named(self, ids: Sequence[str]) -> list[Hunk]:
        mine = {hunk.id for hunk in self.view.hunks}
        for hunk_id in ids:
            if hunk_id not in mine:
                raise McpRefused(f"you have not proposed {hunk_id!r}; see `list_proposals`")
        return [self._ledger.hunk(hunk_id) for hunk_id in ids]

    async def _state(self, _given: McpArguments) -> object:
        snapshot = self._workspace.snapshot()
        active, open_files = snapshot.activity.active, []
        for uri in snapshot.activity.recent:
            document = await asyncio.to_thread(snapshot.show_or_none, uri)
            if document is not None and document.version is not None:
                open_files.append(snapshot.name_of(uri))
        state: dict[str, object] = {
            "folders": [str(root.path) for root in self._workspace.roots],
            "open_files": open_files,
        }
        document = await asyncio.to_thread(snapshot.show_or_none, active) if active else None
        if active is None or document is None:
            return state
        state["active_file"] = snapshot.name_of(active)
        if (selection := snapshot.activity.selection_of(active)) is not None:
            caret, main = selection.caret, selection.ranges[0]
            state["cursor"] = {"line": caret.line + 1, "column": caret.character + 1}
            if not main.is_empty:
                text = await self._redacted(document.text_in(main))
                state["selection"] = {
                    "start_line": main.start.line + 1,
                    "end_line": main.end.line + 1,
                    "text": text[:MAX_SELECTION],
                }
        return state

    async def _diagnostics(self, arguments: DiagnosticsArguments) -> object:
        if arguments.path is not None:
            located = [self._located(arguments.path)]
        else:
            uris = dict.fromkeys(hunk.uri for hunk in self.view.hunks if _is_open(hunk))
            located = [self._located(str(path_of(uri) or uri)) for uri in uris]
        return {"files": [{"path": one.name, **await self._check(one)} for one in located]}

    async def _check(self, located: Located) -> dict[str, object]:
        """Return the syntax check of a file as the session sees it."""
        shown = await self.view.read(located.uri)
        if shown is None or shown.text is None:
            return {"state": "unchecked", "message": "there is no such text file"}
        found = await asyncio.to_thread(syntax_problems, located.name, shown.text)
        if found is None:
            message = "only the syntax of Python, JSON and TOML is checked"
            return {"state": "unchecked", "message": message}
        problems = [
            {"line": one.line, "column": one.column, "severity": "error", "message": one.message}
            for one in found
        ]
        return {"state": "problems" if problems else "clean", "problems": problems}

    async def _search(self, arguments: SearchArguments) -> object:
        params = SearchWorkspace(query=arguments.query, limit=arguments.limit)
        found = await search_workspace(params, self._context())
        return {"results": await self._redacted(found)}

    async def _described(self, hunk: Hunk) -> dict[str, object]:
        """Return a hunk as JSON, without secrets."""
        snapshot = self._workspace.snapshot()
        described: dict[str, object] = {
            "hunk": hunk.id,
            "path": snapshot.name_of(hunk.uri),
            "kind": str(hunk.kind),
            "state": str(hunk.state),
            "start_line": hunk.range.start.line + 1,
            "end_line": hunk.range.last_line + 1,
            "new_text": await self._redacted(hunk.new),
        }
        if hunk.reason:
            described["reason"] = hunk.reason
        if hunk.state is HunkState.ACCEPTED and hunk.new != hunk.proposed:
            described["amended"] = True
        return described

    def _pending_ids(self) -> frozenset[str]:
        return frozenset(hunk.id for hunk in self.view.hunks)

    def _located(self, path: str) -> Located:
        """Return the file of the workspace that a path names.

        Raises:
            McpRefused: If the path is outside of the workspace.
        """
        located = self._workspace.snapshot().locate(path)
        if not self.view.is_ours(located.uri):
            raise McpRefused(f"{Path(path).name!r} is outside of the workspace.")
        return located

    async def _text_of(self, located: Located) -> SessionText:
        shown = await self.view.read(located.uri)
        if shown is None:
            raise McpRefused(f"{located.name} is too large, or not a text file.")
        if shown.text is None:
            raise McpRefused(f"there is no file {located.name!r}")
        return shown

    async def _redacted(self, text: str) -> str:
        redactor = redactor_of(self._workspace.snapshot())
        if redactor is None:
            return text
        redact = partial(redactor.redact, text)
        return (await asyncio.to_thread(redact)).text

    def _context(self) -> ToolContext:
        proposer = self.view.proposer
        return ToolContext(proposer.reader, proposer, searcher=self._searcher)


def _is_open(hunk: Hunk) -> bool:
    return hunk.state in _WAITING
