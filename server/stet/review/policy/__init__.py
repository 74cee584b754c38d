"""The policy check of edits: rules, protected files, and their descriptions for the model."""
