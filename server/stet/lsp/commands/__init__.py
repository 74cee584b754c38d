"""The commands of `workspace/executeCommand`, by subject."""
