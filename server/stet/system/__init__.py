"""The only door to disk, processes and the clock."""
