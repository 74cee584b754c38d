"""The editor's context as one part in the session of a running OpenCode server."""
