"""What the user sees: diagnostics, hovers, progress, messages and generated documents."""
