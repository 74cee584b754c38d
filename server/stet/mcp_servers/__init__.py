"""The MCP servers of the user's settings, whose tools Stet's own agent may use.

A server is a program that the user has chosen, but what it sends is text by strangers: every
message is checked, every size has a limit. Nothing here is imported before the first turn that may
use such a tool.
"""
