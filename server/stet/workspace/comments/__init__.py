"""Search for comments in a text of any language."""
