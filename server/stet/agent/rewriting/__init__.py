"""The mode `rewrite`: a selection in, its new text out, without tools."""
