"""The mode `rewrite`: selected lines in, their new text out, without tools."""
