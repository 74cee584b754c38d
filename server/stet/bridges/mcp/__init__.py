"""Stet as an MCP server: the tools by which any agent reads live text and proposes edits.

`stet mcp` is a process of the agent (`mcp_server.py`, `mcp_bridge.py`). It asks the server of the
editor over the control socket, where each such process is a session (`mcp_session.py`).
"""
