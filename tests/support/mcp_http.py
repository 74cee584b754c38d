"""`python -m tests.support.mcp_http RUNTIME FOLDER`: the MCP server of `stet mcp` over HTTP.

The conformance tests know this transport only. The port is printed.
"""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn

from stet.bridges.mcp.editor_link import EditorLink
from stet.bridges.mcp.mcp_server import McpServer


async def serve(runtime: Path, folder: str) -> None:
    """Serve on a free port of the loopback interface until the process is ended."""
    app = McpServer(EditorLink(runtime, folder)).create().streamable_http_app()
    listening = socket.create_server(("127.0.0.1", 0))
    _ = sys.stdout.write(f"{listening.getsockname()[1]}\n")
    _ = sys.stdout.flush()
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve([listening])


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), sys.argv[2]))
