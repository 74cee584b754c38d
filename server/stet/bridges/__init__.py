"""Bridges to other agents: what they are told of the editor."""
