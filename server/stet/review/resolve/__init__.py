"""From an instruction or a quote of the model to an edit of the text."""
