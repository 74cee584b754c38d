"""The tools of the model, each in a separate file."""
