"""Agents that see their own version of the workspace, and whose changes become hunks."""
