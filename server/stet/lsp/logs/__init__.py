"""The log: where it goes, and what may stand in it."""
