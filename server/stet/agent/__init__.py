"""Sessions, turns and the loop."""
