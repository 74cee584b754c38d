"""The chat document: Markdown in which the user and the agent write in turn."""
