"""What the user sees: diagnostics, actions, hover, progress, messages, pages of our own."""
