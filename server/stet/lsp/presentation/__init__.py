"""The output for the user: diagnostics, hovers, progress, messages and generated documents."""
