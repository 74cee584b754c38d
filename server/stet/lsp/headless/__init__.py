"""The client without an editor, for the shell."""
