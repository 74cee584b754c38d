"""Decisions of the user on their way to the editor: sent, confirmed by the text, or reported as failed."""
