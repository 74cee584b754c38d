"""What programs of the user may ask a running server over its control socket.

The commands of review are those of the editor, with the same arguments and answers. Methods that
begin with `control.` have no equal among the commands.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from stet.control.control_server import Method, MethodRefused
from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import InvalidParams, report_as
from stet.lsp.other_editors import COLLECT_SECONDS, pending_report
from stet.lsp.presentation.hunk_selection import find_hunk
from stet.lsp.presentation.serialize import hunk_to_json
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import path_of
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.bridges.hooks.hook_sessions import HookSessions
    from stet.bridges.isolation.isolated_sessions import IsolatedSessions
    from stet.bridges.mcp.mcp_session import McpSessions

COMMANDS = (
    "stet.status",
    "stet.proposals",
    "stet.accept",
    "stet.reject",
    "stet.undo",
    "stet.restore",
)
"""The commands that a program may run."""
DECISIONS = frozenset(COMMANDS) - {"stet.status", "stet.proposals"}
"""Those by which a user decides: not for a program whose changes are reviewed."""
MAX_WAIT_SECONDS = 3600
RunCommand = Callable[[str, tuple[object, ...]], Awaitable[object]]


class ControlMethods:
    """The methods of one server; used on the event loop only."""

    def __init__(  # noqa: PLR0913 - the parts that its methods need
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        run_command: RunCommand,
        *,
        editor: str,
        is_asked_by: Callable[[int], None],
        hooks: "Callable[[], Awaitable[HookSessions]]",
        mcp: "Callable[[], Awaitable[McpSessions]]",
        isolated: "Callable[[], Awaitable[IsolatedSessions]]",
    ) -> None:
        """Create the methods.

        Args:
            workspace: The open documents.
            ledger: The proposals.
            run_command: Runs a command by name, as if the editor had sent the arguments.
            editor: The name of the editor.
            is_asked_by: Called with the process id of another server that asks for the hunks.
            hooks: Returns the sessions of other agents that call hooks.
            mcp: Returns the sessions of MCP clients.
            isolated: Returns the sessions of isolated programs.
        """
        self._editor = editor
        self._is_asked_by = is_asked_by
        self._hooks = hooks
        self._mcp = mcp
        self._isolated = isolated
        self._workspace = workspace
        self._ledger = ledger
        self._run_command = run_command

    @property
    def table(self) -> Mapping[str, Method]:
        """The methods by name."""
        methods: dict[str, Callable[[tuple[object, ...]], Awaitable[object]]] = {
            "control.hasOpen": self._has_open,
            "control.hook": self._hook,
            "control.isolate": self._isolate,
            "control.isolateEnd": self._isolate_end,
            "control.isolatedHook": self._isolated_hook,
            "control.pending": self._pending,
            "control.text": self._text,
            "control.tool": self._tool,
            "control.wait": self._wait,
        }
        for name in COMMANDS:
            methods[name] = partial(self._run_command, name)
        return {name: partial(_refusing, method) for name, method in methods.items()}

    async def _has_open(self, params: tuple[object, ...]) -> bool:
        """Return whether the editor has `path` open, or a file in the folder `path`."""
        with CommandArguments("control.hasOpen", params) as arguments:
            path = arguments.required("path")
        opened = self._workspace.snapshot().documents.values()
        open_paths = (path_of(document.uri) for document in opened)
        return any(one is not None and one.is_relative_to(path) for one in open_paths)

    async def _text(self, params: tuple[object, ...]) -> dict[str, object]:
        """Return the current `text` of a document, unsaved text included, and the `encoding`."""
        with CommandArguments("control.text", params) as arguments:
            uri = arguments.required("uri")
        snapshot = self._workspace.snapshot().asked_about(uri)
        try:
            document = await asyncio.to_thread(snapshot.document_with_blocks, uri)
        except NotShown:
            text = None
        else:
            text = document.text
        return {"text": text, "encoding": self._workspace.encoding.value}

    async def _hook(self, params: tuple[object, ...]) -> object:
        """Return what an `agent` is to be answered to the `event` of one of its hooks."""
        with CommandArguments("control.hook", params) as arguments:
            agent, event = arguments.required("agent"), arguments.mapping("event")
        sessions = await self._hooks()  # imports in a thread what the next line needs
        from stet.bridges.hooks.hook_sessions import InvalidEvent

        with report_as(InvalidParams, InvalidEvent):
            return await sessions.handle(agent, event)

    async def _isolate(self, params: tuple[object, ...]) -> object:
        """Return the layers of the workspace for a `program` that the `process` starts."""
        with CommandArguments("control.isolate", params) as arguments:
            program, process = arguments.required("program"), arguments.number("process")
            if not process:
                raise arguments.missing("control.isolate needs the process", "process")
        sessions = await self._isolated()  # imports in a thread what the next line needs
        from stet.bridges.isolation.isolated_sessions import RunRefused

        with report_as(InvalidParams, RunRefused):
            return await sessions.start(program, process)

    async def _isolate_end(self, params: tuple[object, ...]) -> object:
        """Propose what the program of a `session` has changed; return a summary."""
        with CommandArguments("control.isolateEnd", params) as arguments:
            name = arguments.required("session")
        sessions = await self._isolated()
        from stet.bridges.isolation.isolated_sessions import RunRefused

        with report_as(InvalidParams, RunRefused):
            return await sessions.end(name)

    async def _isolated_hook(self, params: tuple[object, ...]) -> object:
        """Return what the hook of an isolated `agent` does at an `event` in a `session`."""
        with CommandArguments("control.isolatedHook", params) as arguments:
            name, agent = arguments.required("session"), arguments.required("agent")
            event = arguments.mapping("event") or {}
        sessions = await self._isolated()
        from stet.bridges.isolation.isolated_sessions import RunRefused

        with report_as(InvalidParams, RunRefused):
            return await sessions.handle(name, agent, event)

    async def _tool(self, params: tuple[object, ...]) -> object:
        """Return the result of a `tool` with `arguments` that the `client` of a `session` calls."""
        with CommandArguments("control.tool", params) as arguments:
            session, client = arguments.required("session"), arguments.text("client") or ""
            tool, given = arguments.required("tool"), arguments.mapping("arguments") or {}
        sessions = await self._mcp()  # imports in a thread what the next line needs
        from stet.bridges.mcp.mcp_session import McpRefused

        with report_as(InvalidParams, McpRefused):
            return await sessions.call(session, client, tool, given)

    async def _pending(self, params: tuple[object, ...]) -> dict[str, object]:
        """Return the pending hunks to the server `process` of another editor.

        The answer waits until the hunks are not those of the answer that the server has `seen`.
        """
        with CommandArguments("control.pending", params) as arguments:
            process, seen = arguments.whole("process"), arguments.text("seen") or ""
        if process:
            self._is_asked_by(process)
        changed = asyncio.Event()

        def note(_uri: str) -> None:
            changed.set()

        self._ledger.subscribe(note)
        try:
            while True:
                changed.clear()
                answer = pending_report(self._ledger.hunks(), self._editor)
                if answer["seen"] != seen:
                    return answer
                await changed.wait()
                await asyncio.sleep(COLLECT_SECONDS)
        finally:
            self._ledger.unsubscribe(note)

    async def _wait(self, params: tuple[object, ...]) -> list[dict[str, object]]:
        """Return `hunks` as `stet.proposals` does, as soon as few of them are in one of `states`.

        `left` is the most that may be, 0 by default. After `seconds` the hunks are returned as they
        are.
        """
        with CommandArguments("control.wait", params) as arguments:
            ids = arguments.texts("hunks")
            names = arguments.texts("states")
            seconds = arguments.number("seconds") or MAX_WAIT_SECONDS
            left = arguments.whole("left") or 0
        with report_as(InvalidParams, ValueError):
            states = {HunkState(one) for one in names}
        hunks = [find_hunk(self._ledger, hunk_id) for hunk_id in ids]
        changed = asyncio.Event()

        def note(_uri: str) -> None:
            changed.set()

        self._ledger.subscribe(note)
        try:
            async with asyncio.timeout(min(seconds, MAX_WAIT_SECONDS)):
                while sum(self._ledger.hunk(hunk.id).state in states for hunk in hunks) > left:
                    changed.clear()
                    await changed.wait()
        except TimeoutError:
            pass  # the caller sees the states
        finally:
            self._ledger.unsubscribe(note)
        now = (self._ledger.hunk(hunk.id) for hunk in hunks)
        return [hunk_to_json(hunk, self._workspace, self._ledger) for hunk in now]


async def _refusing(method: Method, params: tuple[object, ...]) -> Any:
    """Run a method; an error for the editor becomes a refusal.

    Raises:
        MethodRefused: If the method refuses.
    """
    try:
        return await method(params)
    except JsonRpcException as error:
        raise MethodRefused(str(error.message), error.code) from error
