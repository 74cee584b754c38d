"""Which edits are allowed: rules, protected files, and the sentences about them."""
