"""The chat document: Markdown in which the user and the agent take turns."""
