"""The world: open documents laid over the disk, the user's focus, what may be read and sent."""
