"""One live context part in the session of a running OpenCode server."""
