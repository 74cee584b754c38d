"""The context that a model is sent about the editor."""
