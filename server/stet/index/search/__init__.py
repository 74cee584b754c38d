"""The search index: what of the workspace answers a question, by words and by meaning."""
