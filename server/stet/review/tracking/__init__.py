"""Where hunks stand: anchors, one track of them for each document."""
