"""The only access to disk, processes and the clock."""
