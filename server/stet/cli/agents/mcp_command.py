"""`stet mcp`: an MCP server for any agent, on stdin and stdout."""

import asyncio
import os
from pathlib import Path

from stet.cli.terminal import CliError
from stet.system.runtime_folder import runtime_path

EXTRA = "`stet mcp` needs the extra `agents`: pip install 'stet-lsp[agents]'"


def serve(root: Path | None, server: int) -> int:
    """Serve until stdin ends; return the exit code.

    Args:
        root: The folder of the workspace; None for the current folder.
        server: The process id of the server to use; 0 for the newest that has the folder open.

    Raises:
        CliError: If no editor has the folder open, or the extra is not installed.
    """
    from stet.bridges.mcp.editor_link import EditorLink, LinkError

    folder = str((root or Path()).resolve())
    link = EditorLink(runtime_path(os.environ), folder, server)
    try:
        link.find()
    except LinkError as error:
        raise CliError(str(error)) from error
    try:
        from stet.bridges.mcp.mcp_server import McpServer
    except ModuleNotFoundError as error:
        if error.name not in {"mcp", "mcp_types"}:
            raise
        raise CliError(EXTRA) from error
    asyncio.run(McpServer(link).run())
    return 0
