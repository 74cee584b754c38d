"""An MCP server by the official SDK, as a process: `python -m tests.support.mcp_sdk_server`."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("shop", instructions="Sells fish.")


@server.tool()
def price(fish: str, kilograms: float = 1.0) -> dict[str, float]:
    """Return the price of a fish in euros."""
    return {"euros": len(fish) * kilograms}


if __name__ == "__main__":
    server.run()
