"""The model that comes with Stet: its weights, the child process that runs it, the `Model` of it."""
