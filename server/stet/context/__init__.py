"""What the model sees of the editor."""
