"""Links between files: find them, resolve them, rewrite them when a file moves."""
