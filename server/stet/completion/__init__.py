"""Inline completion: the text after the cursor, from a model that fills in the middle."""
