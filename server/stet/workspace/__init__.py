"""The workspace: open documents over the disk, the user's focus, and the privacy rules."""
