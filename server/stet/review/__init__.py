"""Proposals: what the agent wants, kept in place until the user decides."""
