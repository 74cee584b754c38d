"""Places of hunks: anchors, tracked per document."""
