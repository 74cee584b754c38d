"""The embedded model: its weights, the child process that runs it, and its `Model` adapter."""
