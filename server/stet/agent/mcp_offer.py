"""The tools of MCP servers in a turn: which servers are started, and what the model is sent."""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass

from stet.agent.redacting_model import map_json_strings, redact_json
from stet.agent.tool_offer import MAX_SEARCHED, ToolOffer
from stet.agent.turn import Ask, Mode
from stet.context.context_values import escape_tags
from stet.mcp_servers.mcp_connection import SpawnTask
from stet.mcp_servers.mcp_servers import McpServers
from stet.mcp_servers.tool_list import CHOICES, SEPARATOR, ListedTool, texts_in_schema
from stet.privacy.taint import TaintTracker
from stet.settings.values import Settings
from stet.tools.mcp_tool import McpServerTool, create_mcp_tool
from stet.tools.tool import ToolGroup
from stet.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class McpTurn:
    """The tools of servers in one turn.

    Attributes:
        tools: The tools.
        notes: Sentences for the user about what can't be used.
    """

    tools: tuple[McpServerTool, ...] = ()
    notes: tuple[str, ...] = ()


class McpOffer:
    """The servers of one Stet, as the source of tools for its turns."""

    def __init__(self, workspace: Workspace, spawn: SpawnTask) -> None:
        """Start nothing yet; `spawn` starts tasks."""
        self.servers = McpServers(workspace, spawn)
        self._workspace = workspace

    async def prepare(self, ask: Ask, offer: ToolOffer | None, untrusted: TaintTracker) -> McpTurn:
        """Return the tools of a turn; servers that it may use are started.

        Args:
            ask: The question.
            offer: The few tools that a small model is offered, None for all. Tools of servers join
                it when the question names the server.
            untrusted: The texts by others in the chat; the descriptions are added.
        """
        names = servers_for(ask, self._workspace.settings, offer)
        if not names:
            return McpTurn()
        found = await self.servers.list_tools(names)
        if offer is not None:
            offer.add(tool.full_name for tool in found.tools)
        for source, text in await asyncio.to_thread(_descriptions, found.tools):
            untrusted.add(source, text)
        return McpTurn(await asyncio.to_thread(self._create, found.tools), found.notes)

    async def known(self, ask: Ask, offer: ToolOffer | None) -> tuple[McpServerTool, ...]:
        """Return the tools of a turn as far as they are known; nothing is started."""
        names = servers_for(ask, self._workspace.settings, offer)
        tools = [tool for tool in self.servers.known_tools() if tool.server in names]
        return await asyncio.to_thread(self._create, tools)

    def _create(self, tools: Iterable[ListedTool]) -> tuple[McpServerTool, ...]:
        return tuple(
            create_mcp_tool(
                one, self.servers, escape_tags(one.description), self._shown(one.schema)
            )
            for one in tools
        )

    def _shown(self, schema: str) -> str:
        """Return a schema without secrets and without what looks like a section of Stet's."""
        text = map_json_strings(schema, lambda value, _: escape_tags(value))
        if not self._workspace.settings.privacy.redact_secrets:
            return text
        return redact_json(text, self._workspace.redactor)[0]


def _descriptions(tools: Iterable[ListedTool]) -> list[tuple[str, str]]:
    """Return for each tool a name of its description for the user, and all its texts."""
    keys = ("description", *CHOICES)
    return [
        (
            f"the description of {tool.full_name}",
            "\n".join((tool.description, *sorted(texts_in_schema(tool.schema, keys)))),
        )
        for tool in tools
    ]


def servers_for(ask: Ask, settings: Settings, offer: ToolOffer | None) -> tuple[str, ...]:
    """Return the names of the servers that a question may use."""
    disabled = {*settings.agent.disabled_groups, *ask.disabled_groups}
    if ask.mode is not Mode.AGENT or ToolGroup.ADVANCED in disabled:
        return ()
    names = tuple(one.name for one in settings.mcp_servers)
    if offer is None:
        return names
    words = ask.prompt[:MAX_SEARCHED]
    return tuple(
        name
        for name in names
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words, re.IGNORECASE)
        or any(tool.startswith(f"{name}{SEPARATOR}") for tool in (*offer.names, *words.split()))
    )
