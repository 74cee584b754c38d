"""Bridges to other agents: the editor context that they are sent."""
