"""Proposals of the agent: from the draft to the user's decision."""
