"""One file for each section of the context."""
