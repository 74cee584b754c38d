"""Finding comments in a text of any language."""
