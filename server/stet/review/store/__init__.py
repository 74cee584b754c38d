"""What outlives the process: proposals and decisions in SQLite."""
