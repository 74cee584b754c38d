"""Resolution of a model's instruction or quote into an edit of the text."""
