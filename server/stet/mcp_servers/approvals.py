"""Which tools of MCP servers the user has allowed, in a chat or always.

An approval counts for one list of tools: after any change of the list the user is asked again.
Permanent approvals are in a file of the state folder, which is read at each use, so that the user
can remove it.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stet.mcp_servers.tool_list import ListedTool
from stet.system.system import System

FILE = "mcp-approvals.json"
"""The name of the file in the state folder."""
MAX_BYTES = 2**18
"""The largest size of the file; a larger one counts as empty."""
MAX_CHATS = 100
"""The most chats and servers whose approvals are remembered."""


@dataclass(slots=True)
class _Approved:
    """The allowed tools of one server.

    Attributes:
        pin: The hash of the list for which they are allowed.
        tools: The names of the tools.
    """

    pin: str
    tools: set[str] = field(default_factory=set)

    def includes(self, tool: ListedTool) -> bool:
        return self.pin == tool.pin and tool.name in self.tools


@dataclass(frozen=True, slots=True)
class ApprovalState:
    """What the user has allowed of a tool.

    Attributes:
        is_allowed: Whether the tool may be used without a question.
        is_changed: Whether the user has allowed tools of another list of this server.
    """

    is_allowed: bool
    is_changed: bool


class McpApprovals:
    """The approvals of one Stet; used on the event loop only."""

    def __init__(self, system: System) -> None:
        """Read nothing yet; `system` has the state folder."""
        self._system = system
        self._in_chats: dict[tuple[str, str], _Approved] = {}

    async def state(self, chat: str, tool: ListedTool) -> ApprovalState:
        """Return what the user has allowed of a tool in a chat."""
        always = (await asyncio.to_thread(self._read)).get(tool.server)
        found = [one for one in (self._in_chats.get((chat, tool.server)), always) if one]
        return ApprovalState(
            any(one.includes(tool) for one in found), any(one.pin != tool.pin for one in found)
        )

    def allow_in_chat(self, chat: str, tool: ListedTool) -> None:
        """Allow a tool in a chat until the end of this server."""
        key = chat, tool.server
        one = self._in_chats.pop(key, None)
        self._in_chats[key] = one = one if one and one.pin == tool.pin else _Approved(tool.pin)
        one.tools.add(tool.name)
        if len(self._in_chats) > MAX_CHATS:
            del self._in_chats[next(iter(self._in_chats))]

    async def allow_always(self, tool: ListedTool) -> None:
        """Allow a tool in all chats.

        Raises:
            OSError: If the approval can't be stored.
        """
        await asyncio.to_thread(self._add, tool)

    def _add(self, tool: ListedTool) -> None:
        known = self._read()
        one = known.get(tool.server)
        if one is None or one.pin != tool.pin:
            one = known[tool.server] = _Approved(tool.pin)
        one.tools.add(tool.name)
        servers = {
            name: {"pin": each.pin, "tools": sorted(each.tools)} for name, each in known.items()
        }
        self._system.write_generated(FILE, json.dumps({"servers": servers}, indent=1) + "\n")

    def _read(self) -> dict[str, _Approved]:
        """Return the permanent approvals by server; none if the file is missing or damaged."""
        try:
            text = self._system.read_bytes(self._system.state_folder() / FILE, MAX_BYTES + 1)
            stored = json.loads(text) if len(text) <= MAX_BYTES else {}
        except (OSError, ValueError, RecursionError):
            return {}
        servers = stored.get("servers") if isinstance(stored, dict) else None
        if not isinstance(servers, dict):
            return {}
        return {name: one for name, fields in servers.items() if (one := _parse(fields))}


def _parse(fields: object) -> _Approved | None:
    if not isinstance(fields, Mapping):
        return None
    pin: Any = fields.get("pin")
    tools: Any = fields.get("tools")
    if not isinstance(pin, str) or not isinstance(tools, list):
        return None
    return _Approved(pin, {name for name in tools if isinstance(name, str)})
