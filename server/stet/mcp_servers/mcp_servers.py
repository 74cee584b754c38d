"""All MCP servers of the settings: started when a turn may use them, asked, ended."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stet.mcp_servers.approvals import McpApprovals
from stet.mcp_servers.mcp_connection import START_SECONDS, McpConnection, McpFailure, SpawnTask
from stet.mcp_servers.mcp_results import McpResult, read_result
from stet.mcp_servers.tool_list import ListedTool, ToolList, check_tools, server_name_problem
from stet.settings.values import McpServerSettings
from stet.workspace.workspace import Workspace

LIST_SECONDS = 10.0
"""The most seconds that a turn waits for all servers; a server that starts slower goes on."""
CALL_SECONDS = 120.0
"""The time limit of one call."""
MAX_PAGES = 20
"""The most pages of a list of tools."""


class ConfiguredMcpServer:
    """One server of the settings; used on the event loop only.

    Attributes:
        settings: The settings with which it runs.
        list: The tools that it has listed last.
        state: `off`, `starting`, `ready` or `failed`.
    """

    def __init__(self, settings: McpServerSettings, workspace: Workspace, spawn: SpawnTask) -> None:
        """Start nothing yet."""
        self.settings = settings
        self.list = ToolList()
        self.state = "off"
        self._workspace = workspace
        self._spawn = spawn
        self._connection: McpConnection | None = None
        self._listing: asyncio.Task[McpFailure | None] | None = None

    def begin(self) -> None:
        """Start the server if it does not run, and ask for its tools."""
        if self._listing is None or self._listing.done():
            name = f"tools of the MCP server {self.settings.name}"
            self._listing = self._spawn(self._update_list(), name)

    async def wait(self, seconds: float) -> ToolList:
        """Return the tools that it lists now; `begin` has been called.

        Raises:
            McpFailure: If it fails, or takes longer.
        """
        listing = self._listing
        assert listing is not None, "begin has been called"
        await asyncio.wait({listing}, timeout=seconds)
        if not listing.done() or listing.cancelled():
            raise McpFailure(
                f"The MCP server {self.settings.name!r} is still starting. Its tools are offered "
                "with a later question."
            )
        if (failure := listing.result()) is not None:
            raise failure
        return self.list

    def is_listed(self, tool: ListedTool) -> bool:
        """Return whether a tool belongs to the latest list."""
        return tool in self.list.tools

    async def call(self, tool: ListedTool, arguments: Mapping[str, Any]) -> McpResult:
        """Call a tool, if the list of tools is still the one that it belongs to.

        Raises:
            McpFailure: If the server fails, or its tools have changed.
        """
        connection = self._connection
        if connection is None or not connection.is_running or connection.is_stale:
            self.begin()
            await self.wait(START_SECONDS)
            connection = self._connection
        if connection is None or not self.is_listed(tool):
            raise McpFailure(
                f"The MCP server {tool.server!r} has changed its tools, so {tool.full_name!r} was "
                "not run. Its tools are offered again with the next question."
            )
        params = {"name": tool.name, "arguments": arguments}
        answer = await connection.request("tools/call", params, CALL_SECONDS)
        return await asyncio.to_thread(read_result, answer)

    async def close(self) -> None:
        """End the server."""
        if self._listing is not None:
            self._listing.cancel()
        connection, self._connection = self._connection, None
        self.state = "off"
        if connection is not None:
            await connection.close()

    async def _update_list(self) -> McpFailure | None:
        """Connect if needed, and ask for the tools; return the failure, if there is one."""
        try:
            connection = self._connection
            if connection is None or not connection.is_running:
                self.state = "starting"
                connection = await self._connect()
            connection.is_stale = False
            items = await self._list_items(connection)
        except McpFailure as failure:
            self.state = "failed"
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()
            return failure
        self.list = await asyncio.to_thread(check_tools, self.settings, items)
        self.state = "ready"
        return None

    async def _connect(self) -> McpConnection:
        if self._connection is not None:
            await self._connection.close()
        roots = self._workspace.snapshot().roots
        folder = roots[0].path if roots else Path.home()
        system = self._workspace.snapshot().system
        self._connection = await McpConnection.start(self.settings, folder, system, self._spawn)
        await self._connection.initialize()
        return self._connection

    async def _list_items(self, connection: McpConnection) -> list[object]:
        """Return all pages of the list of tools, as the server sent them.

        Raises:
            McpFailure: If the server fails, or the list is not of the protocol.
        """
        items: list[object] = []
        params: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            page = await connection.request("tools/list", params, START_SECONDS)
            tools, cursor = page.get("tools"), page.get("nextCursor")
            if not isinstance(tools, list):
                raise McpFailure(
                    f"The MCP server {self.settings.name!r} sent a list of tools that is not of the "
                    "protocol."
                )
            items += tools
            if not isinstance(cursor, str) or not cursor:
                break
            params = {"cursor": cursor}
        return items


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of a turn.

    Attributes:
        tools: The tools, in the order of the settings and of each list.
        notes: Sentences for the user about servers and tools that can't be used.
    """

    tools: tuple[ListedTool, ...] = ()
    notes: tuple[str, ...] = ()


class McpServers:
    """All servers of one Stet; used on the event loop only.

    Attributes:
        approvals: The tools that the user has allowed.
    """

    def __init__(self, workspace: Workspace, spawn: SpawnTask) -> None:
        """Start nothing yet.

        Args:
            workspace: The settings, and the folder in which the programs run.
            spawn: Starts a task.
        """
        self.approvals = McpApprovals(workspace.snapshot().system)
        self._workspace = workspace
        self._spawn = spawn
        self._servers: dict[str, ConfiguredMcpServer] = {}

    async def list_tools(self, names: Collection[str]) -> OfferedTools:
        """Return the tools of these servers; a server that does not run is started."""
        problems = [server_name_problem(name) for name in names]
        notes = list(filter(None, problems))
        servers = [one for one in await self._configured() if one.settings.name in names]
        for one in servers:
            one.begin()
        loop = asyncio.get_running_loop()
        until = loop.time() + LIST_SECONDS
        tools: list[ListedTool] = []
        for one in servers:
            try:
                listed = await one.wait(max(0.0, until - loop.time()))
            except McpFailure as failure:
                notes.append(str(failure))
            else:
                tools += listed.tools
                notes += listed.problems
        return OfferedTools(tuple(tools), tuple(notes))

    def known_tools(self) -> tuple[ListedTool, ...]:
        """Return the tools of the servers that run; nothing is started."""
        return tuple(tool for one in self._servers.values() for tool in one.list.tools)

    def find(self, tool: ListedTool) -> ConfiguredMcpServer:
        """Return the server of a tool.

        Raises:
            McpFailure: If the settings have it no more.
        """
        if (found := self._servers.get(tool.server)) is None:
            raise McpFailure(f"The user has removed the MCP server {tool.server!r}.")
        return found

    def states(self) -> dict[str, dict[str, object]]:
        """Return the state and the number of tools of each server that was needed, by name."""
        return {
            name: {"state": one.state, "tools": len(one.list.tools)}
            for name, one in self._servers.items()
        }

    async def close(self) -> None:
        """End all servers."""
        servers, self._servers = list(self._servers.values()), {}
        for one in servers:
            await one.close()

    async def _configured(self) -> list[ConfiguredMcpServer]:
        """Return the servers of the settings; those of other settings are ended."""
        wanted = {
            one.name: one
            for one in self._workspace.settings.mcp_servers
            if not server_name_problem(one.name)
        }
        old = [one for name, one in self._servers.items() if wanted.get(name) != one.settings]
        same = {one.settings.name: one for one in self._servers.values() if one not in old}
        self._servers = {
            name: same.get(name) or ConfiguredMcpServer(settings, self._workspace, self._spawn)
            for name, settings in wanted.items()
        }
        for one in old:
            await one.close()
        return list(self._servers.values())
