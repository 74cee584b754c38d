"""Search by words and by meaning: chunks, the index, ranking and results."""
