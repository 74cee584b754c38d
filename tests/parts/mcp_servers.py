"""Two MCP servers of the protocol's authors: `server-everything` and `server-filesystem` of npm."""

from pathlib import Path

from tests.parts.kept import kept
from tests.parts.npm import node, npm

VERSION = "2026.8.31"
_NAMES = ("server-everything", "server-filesystem")


def mcp_server(name: str) -> list[str]:
    """The program of one of the servers, and its first argument.

    Raises:
        MissingPart: Where there is no Node, or npm can't fetch the packages.
    """
    package = mcp_servers() / "node_modules" / "@modelcontextprotocol" / name
    return [str(node()), str(package / "dist" / "index.js")]


def mcp_servers() -> Path:
    """The folder with both packages.

    Raises:
        MissingPart: Where there is no Node, or npm can't fetch the packages.
    """
    packages = [f"@modelcontextprotocol/{name}@{VERSION}" for name in _NAMES]
    return kept(
        f"mcp-servers-{VERSION}",
        lambda folder: npm(folder, "install", *packages, "--prefix", str(folder)),
    )
