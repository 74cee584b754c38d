"""The process `stet mcp`: an MCP server on stdin and stdout, by the official SDK.

It serves both eras of the protocol, those with `initialize` and the stateless one of 2026-07-28.
Each call of a tool is a request to the server of the editor.
"""

import json
import secrets
from collections.abc import Mapping
from math import ceil
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from stet import __version__
from stet.bridges.mcp.editor_link import EditorLink, LinkError
from stet.bridges.mcp.mcp_tools import INSTRUCTIONS, TOOLS, WaitArguments

NAME = "stet"
UNDECIDED = ("pending", "sent", "conflict")
"""The states of a hunk about which the user has not decided."""

Context = ServerRequestContext[Any]


class McpServer:
    """The server of one client.

    Args:
        link: The connection to the server of the editor.
    """

    def __init__(self, link: EditorLink) -> None:
        self._link = link
        self._session = secrets.token_hex(16)

    async def run(self) -> None:
        """Serve until stdin ends."""
        server = self.create()
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    def create(self) -> Server[Any]:
        """Return the server, which may be served over any transport."""
        return Server(
            NAME,
            version=__version__,
            title="Stet",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=types.ToolAnnotations(
                    read_only_hint=tool.is_read_only,
                    destructive_hint=False,
                    idempotent_hint=tool.is_read_only,
                    open_world_hint=False,
                ),
            )
            for name, tool in TOOLS.items()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = dict(params.arguments or {})
        client = context.session.client_params
        call = {
            "session": self._session,
            "client": client.client_info.name if client is not None else "",
            "tool": params.name,
            "arguments": arguments,
        }
        try:
            result = await self._link.request("control.tool", call)
            if params.name == "wait_for_review":
                result = await self._wait(context, arguments, result, call)
        except LinkError as error:
            text = types.TextContent(type="text", text=str(error))
            return types.CallToolResult(content=[text], is_error=True)
        text = types.TextContent(type="text", text=json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[text], structured_content=result)

    async def _wait(
        self, context: Context, arguments: Mapping[str, Any], result: Any, call: Mapping[str, Any]
    ) -> Any:
        """Return the hunks as soon as all are decided; report each decision as progress.

        Raises:
            LinkError: If the server of the editor ends.
        """
        wait = WaitArguments.model_validate(arguments)
        total, left = len(wait.hunks), _n_undecided(result)
        end = self._link.now() + wait.timeout_seconds
        while left and (rest := end - self._link.now()) > 0:
            await context.session.report_progress(
                total - left, total, f"{total - left} of {total} decided"
            )
            request = {
                "hunks": wait.hunks, "states": UNDECIDED, "seconds": ceil(rest), "left": left - 1,
            }  # fmt: skip
            await self._link.request("control.wait", request)
            result = await self._link.request("control.tool", call)
            left = _n_undecided(result)
        return result


def _n_undecided(result: Any) -> int:
    return sum(one["state"] in UNDECIDED for one in result["proposals"])
