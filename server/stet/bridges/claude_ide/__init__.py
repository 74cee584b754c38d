"""Claude Code's IDE protocol: MCP over a websocket that Claude Code finds by a lock file.

The protocol is not documented; what Claude Code does was measured with the real program
(`tests/agents/test_claude_ide.py`). It is served only where the setting `agents.claudeIde` is on.
"""
