"""Notes as Obsidian has them: front matter, properties, tags and blocks."""
